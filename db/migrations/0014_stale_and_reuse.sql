ALTER TABLE "backtests" ADD COLUMN "inputs" jsonb;--> statement-breakpoint
ALTER TABLE "backtests" ADD COLUMN "fresh" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "backtests" ADD COLUMN "reused_from" uuid;--> statement-breakpoint
CREATE INDEX "backtests_inputs_index" ON "backtests" USING btree ("owner_id",(inputs ->> 'key')) WHERE inputs is not null;--> statement-breakpoint
CREATE INDEX "ingestion_events_revised_index" ON "ingestion_events" USING btree ("symbol","exchange","timeframe","created_at") WHERE type = 'revised';
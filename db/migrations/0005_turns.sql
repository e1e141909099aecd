ALTER TABLE "backtests" ADD COLUMN "turn" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "backtests_turn_index" ON "backtests" USING btree ("turn") WHERE status = 'queued';--> statement-breakpoint
CREATE INDEX "backtests_unended_index" ON "backtests" USING btree ("owner_id","turn") WHERE status in ('queued', 'running');
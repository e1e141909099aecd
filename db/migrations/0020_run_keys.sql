DROP INDEX "backtests_trials_index";--> statement-breakpoint
ALTER TABLE "backtests" ADD COLUMN "run_key" text GENERATED ALWAYS AS (result ->> 'run_key') STORED;--> statement-breakpoint
CREATE INDEX "backtests_trials_index" ON "backtests" USING btree ("owner_id","symbol","exchange","strategy_slug","strategy","run_key") WHERE status = 'completed';
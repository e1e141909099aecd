CREATE TABLE "backtest_logs" (
	"backtest_id" uuid PRIMARY KEY NOT NULL,
	"lines" text[] NOT NULL
);
--> statement-breakpoint
ALTER TABLE "backtest_logs" ADD CONSTRAINT "backtest_logs_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;
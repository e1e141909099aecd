CREATE TABLE "run_members" (
	"backtest_id" uuid PRIMARY KEY NOT NULL,
	"members" json NOT NULL
);
--> statement-breakpoint
ALTER TABLE "run_members" ADD CONSTRAINT "run_members_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;
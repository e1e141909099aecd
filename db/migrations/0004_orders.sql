CREATE TABLE "backtest_orders" (
	"backtest_id" uuid NOT NULL,
	"stretch" integer NOT NULL,
	"data" "bytea" NOT NULL,
	"tags" jsonb,
	CONSTRAINT "backtest_orders_backtest_id_stretch_pk" PRIMARY KEY("backtest_id","stretch")
);
--> statement-breakpoint
ALTER TABLE "backtest_orders" ADD CONSTRAINT "backtest_orders_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;
CREATE TABLE "monte_carlos" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"backtest_id" uuid NOT NULL,
	"method" text NOT NULL,
	"runs" integer NOT NULL,
	"block_days" integer,
	"seed" bigint NOT NULL,
	"ruin_drawdown" double precision NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"progress" real DEFAULT 0 NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"error" jsonb,
	"result" jsonb,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "monte_carlos" ADD CONSTRAINT "monte_carlos_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "monte_carlos" ADD CONSTRAINT "monte_carlos_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "monte_carlos_owner_index" ON "monte_carlos" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "monte_carlos_backtest_index" ON "monte_carlos" USING btree ("backtest_id","id");
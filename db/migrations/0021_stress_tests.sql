CREATE TABLE "stress_tests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"backtest_id" uuid NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"progress" real DEFAULT 0 NOT NULL,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"error" jsonb,
	"result" jsonb,
	"size_bytes" bigint DEFAULT 0 NOT NULL,
	"idempotency_key" text,
	"request_sha256" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "stress_tests" ADD CONSTRAINT "stress_tests_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "stress_tests" ADD CONSTRAINT "stress_tests_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "stress_tests_owner_index" ON "stress_tests" USING btree ("owner_id","id");--> statement-breakpoint
CREATE INDEX "stress_tests_backtest_index" ON "stress_tests" USING btree ("backtest_id","id");--> statement-breakpoint
CREATE INDEX "stress_tests_key_index" ON "stress_tests" USING btree ("owner_id","idempotency_key") WHERE idempotency_key is not null;
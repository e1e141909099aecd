CREATE TABLE "backtest_sizes" (
	"owner_id" text PRIMARY KEY NOT NULL,
	"bytes" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "slugs" (
	"slug" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL
);
--> statement-breakpoint
INSERT INTO "slugs" SELECT "slug", "owner_id" FROM "strategies";
--> statement-breakpoint
ALTER TABLE "backtests" ADD COLUMN "size_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "backtest_sizes" ADD CONSTRAINT "backtest_sizes_owner_id_user_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "backtests_slug_index" ON "backtests" USING btree ("strategy_slug") WHERE runtime is not null;
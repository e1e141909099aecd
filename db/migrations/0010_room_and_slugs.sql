CREATE TABLE "slugs" (
	"slug" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL
);
--> statement-breakpoint
INSERT INTO "slugs" SELECT "slug", "owner_id" FROM "strategies";
--> statement-breakpoint
DROP INDEX "backtests_owner_index";--> statement-breakpoint
ALTER TABLE "backtests" ADD COLUMN "size_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "backtests_slug_index" ON "backtests" USING btree ("strategy_slug") WHERE runtime is not null;--> statement-breakpoint
CREATE INDEX "backtests_owner_index" ON "backtests" USING btree ("owner_id","id","size_bytes");

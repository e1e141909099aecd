ALTER TABLE "backtests" ADD COLUMN "idempotency_key" text;--> statement-breakpoint
ALTER TABLE "backtests" ADD COLUMN "request_sha256" text;--> statement-breakpoint
UPDATE "backtests" SET "idempotency_key" = named."key", "request_sha256" = named."request_sha256" FROM "idempotency_keys" AS named WHERE named."backtest_id" = "backtests"."id";--> statement-breakpoint
DROP TABLE "idempotency_keys";--> statement-breakpoint
CREATE INDEX "backtests_key_index" ON "backtests" USING btree ("owner_id","idempotency_key") WHERE idempotency_key is not null;
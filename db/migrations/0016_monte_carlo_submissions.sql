ALTER TABLE "monte_carlos" ADD COLUMN "size_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "monte_carlos" ADD COLUMN "idempotency_key" text;--> statement-breakpoint
ALTER TABLE "monte_carlos" ADD COLUMN "request_sha256" text;--> statement-breakpoint
CREATE INDEX "monte_carlos_key_index" ON "monte_carlos" USING btree ("owner_id","idempotency_key") WHERE idempotency_key is not null;
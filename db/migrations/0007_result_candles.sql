CREATE TABLE "result_candles" (
	"sha256" text PRIMARY KEY NOT NULL,
	"data" "bytea" NOT NULL
);
--> statement-breakpoint
ALTER TABLE "result_chunks" ADD COLUMN "candles" text;--> statement-breakpoint
ALTER TABLE "result_chunks" ADD CONSTRAINT "result_chunks_candles_result_candles_sha256_fk" FOREIGN KEY ("candles") REFERENCES "public"."result_candles"("sha256") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "result_chunks_candles_index" ON "result_chunks" USING btree ("candles") WHERE candles is not null;
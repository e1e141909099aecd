CREATE TABLE "object_prefixes" (
	"bucket" text PRIMARY KEY NOT NULL,
	"prefix" uuid DEFAULT gen_random_uuid() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "candle_chunks" ADD COLUMN "object" text;--> statement-breakpoint
ALTER TABLE "result_candles" ADD COLUMN "object" text;--> statement-breakpoint
ALTER TABLE "result_chunks" ADD COLUMN "object" text;--> statement-breakpoint
ALTER TABLE "result_chunks" ADD COLUMN "object_place" integer[];--> statement-breakpoint
CREATE INDEX "candle_chunks_object_index" ON "candle_chunks" USING btree ("object") WHERE object is not null;--> statement-breakpoint
CREATE INDEX "result_candles_object_index" ON "result_candles" USING btree ("object") WHERE object is not null;--> statement-breakpoint
CREATE INDEX "result_chunks_object_index" ON "result_chunks" USING btree ("object") WHERE object is not null;
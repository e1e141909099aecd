CREATE TABLE "candle_coverage" (
	"instrument_id" uuid NOT NULL,
	"timeframe" text NOT NULL,
	"start" timestamp (3) with time zone NOT NULL,
	"end" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "candle_coverage_instrument_id_timeframe_start_pk" PRIMARY KEY("instrument_id","timeframe","start")
);
--> statement-breakpoint
ALTER TABLE "candle_coverage" ADD CONSTRAINT "candle_coverage_instrument_id_instruments_id_fk" FOREIGN KEY ("instrument_id") REFERENCES "public"."instruments"("id") ON DELETE cascade ON UPDATE no action;
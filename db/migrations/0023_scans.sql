CREATE TABLE "scan_markets" (
	"optimization_id" uuid NOT NULL,
	"market" integer NOT NULL,
	"symbol" text NOT NULL,
	"exchange" text NOT NULL,
	"start_date" text NOT NULL,
	"end_date" text NOT NULL,
	"data_sha256" text,
	"days" json,
	CONSTRAINT "scan_markets_optimization_id_market_pk" PRIMARY KEY("optimization_id","market")
);
--> statement-breakpoint
ALTER TABLE "optimizations" ADD COLUMN "scan" jsonb;--> statement-breakpoint
ALTER TABLE "scan_markets" ADD CONSTRAINT "scan_markets_optimization_id_optimizations_id_fk" FOREIGN KEY ("optimization_id") REFERENCES "public"."optimizations"("id") ON DELETE cascade ON UPDATE no action;

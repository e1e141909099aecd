CREATE TABLE "result_chunks" (
	"backtest_id" uuid NOT NULL,
	"attempt" smallint NOT NULL,
	"part" text NOT NULL,
	"chunk" integer NOT NULL,
	"rows" integer NOT NULL,
	"first_time" timestamp (3) with time zone NOT NULL,
	"last_time" timestamp (3) with time zone NOT NULL,
	"data" "bytea" NOT NULL,
	"tags" "bytea",
	CONSTRAINT "result_chunks_backtest_id_attempt_part_chunk_pk" PRIMARY KEY("backtest_id","attempt","part","chunk")
);
--> statement-breakpoint
ALTER TABLE "result_chunks" ADD CONSTRAINT "result_chunks_backtest_id_backtests_id_fk" FOREIGN KEY ("backtest_id") REFERENCES "public"."backtests"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
-- The chunks are compressed already. The tables of before are emptied and dropped by db/move_results.ts.
ALTER TABLE "result_chunks" ALTER COLUMN "data" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "result_chunks" ALTER COLUMN "tags" SET STORAGE EXTERNAL;

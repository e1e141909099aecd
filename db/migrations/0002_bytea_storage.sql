-- What these hold is compressed already: trying again costs time and saves nothing.
ALTER TABLE "candle_chunks" ALTER COLUMN "data" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "backtest_equity" ALTER COLUMN "data" SET STORAGE EXTERNAL;

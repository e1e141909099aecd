import type { Backtest } from "../../db/backtests.ts";

/** The settings that decide which candles a run reads. */
export type CandlesRecord = Pick<Backtest, "symbol" | "exchange" | "startDate" | "endDate">;

/** The dates of a backtest, [start, end): 00:00 UTC of each, in milliseconds since 1970. */
export function datesOf(record: CandlesRecord): { start: number; end: number } {
  return { start: Date.parse(`${record.startDate}T00:00:00Z`), end: Date.parse(`${record.endDate}T00:00:00Z`) };
}

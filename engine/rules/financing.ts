import { HOUR_MS, YEAR_MS } from "../durations.ts";
import type { Execution } from "../execution.ts";

const FUNDING_MS = 8 * HOUR_MS;

/** Whether holding a position over time costs or earns anything at all. */
export function hasFinancing(execution: Execution): boolean {
  return execution.borrowRate !== 0 || execution.fundingRate !== 0;
}

/**
 * Money that one trade receives (negative: pays) for having been carried from one candle's open to the next one's.
 *
 * Whatever was held at the previous close is charged on its value at that close, before anything is filled in the new
 * candle: a short the borrow rate for the time between the two opens, however long (weekends count), in years of 365
 * days; and every position the funding rate for each 00:00, 08:00 and 16:00 UTC after the earlier open, up to the later
 * open itself: longs pay a positive rate, shorts receive it.
 *
 * @param quantity Units, signed. @param close Of the earlier candle. @param fromMs, toMs Opens of the two candles.
 */
export function financingOf(
  execution: Execution,
  quantity: number,
  close: number,
  fromMs: number,
  toMs: number,
): number {
  const value = quantity * close;
  const fundings = Math.floor(toMs / FUNDING_MS) - Math.floor(fromMs / FUNDING_MS);
  const borrow = quantity < 0 ? value * execution.borrowRate * (toMs - fromMs) / YEAR_MS : 0;
  return borrow - value * execution.fundingRate * fundings;
}

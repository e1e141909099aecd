import { HOUR_MS, YEAR_MS } from "../time/durations.ts";

/** Settings of execution.ts by these names: fractions per year of 365 days, and per 8 hours. */
interface FinancingSettings {
  readonly borrowRate: number;
  readonly marginRate: number;
  readonly cashRate: number;
  readonly fundingRate: number;
}

const FUNDING_MS = 8 * HOUR_MS;

/** True if time costs or earns anything. */
export function hasFinancing({ borrowRate, fundingRate, marginRate, cashRate }: FinancingSettings): boolean {
  return borrowRate !== 0 || fundingRate !== 0 || marginRate !== 0 || cashRate !== 0;
}

/**
 * Money that one trade receives (negative: pays) for the time between two candles' opens.
 *
 * It is charged on the value at the earlier close, before any fill of the later candle. A short pays the borrow rate for
 * the time between the opens, weekends included, in years of 365 days. Every position has the funding rate for each 00:00,
 * 08:00 and 16:00 UTC after the earlier open, up to and including the later one: longs pay a positive rate to shorts.
 *
 * @param quantity Units, signed. @param close Close of the earlier candle. @param fromMs, toMs Opens of the two candles.
 */
export function financingOf(
  execution: FinancingSettings,
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

/** Money that long positions pay between two candles' opens for the cash below 0 that they have borrowed. */
export function marginInterestOf(
  { marginRate }: FinancingSettings,
  cash: number,
  fromMs: number,
  toMs: number,
): number {
  return cash < 0 ? cash * marginRate * (toMs - fromMs) / YEAR_MS : 0;
}

/**
 * Money that cash earns between two candles' opens. The proceeds of short sales, at their value at the earlier close,
 * secure the borrowed units and earn nothing.
 */
export function cashInterestOf(
  { cashRate }: FinancingSettings,
  cash: number,
  shortValue: number,
  fromMs: number,
  toMs: number,
): number {
  const own = cash - shortValue;
  return own > 0 ? own * cashRate * (toMs - fromMs) / YEAR_MS : 0;
}

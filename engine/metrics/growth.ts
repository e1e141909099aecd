import { candleClose, DAY_MS } from "../time/durations.ts";
import type { DailyColumns } from "./daily.ts";
import type { DrawdownMetrics } from "./drawdown.ts";
import type { MetricsInput } from "./input.ts";
import { type Measured, ratio } from "./measured.ts";
import { NEGATIVE_EQUITY, NO_DRAWDOWN } from "./reasons.ts";

export interface GrowthMetrics {
  readonly duration_days: number;
  readonly total_return: number;
  readonly cagr: Measured;
  readonly annual_return: Measured;
  readonly buy_hold_return: number;
  readonly calmar: Measured;
  readonly recovery_factor: Measured;
}

/** Days in a calendar year, leap years averaged. */
const YEAR_DAYS = 365.25;

/** Measures the growth of equity, also against its worst fall. */
export function growthMetrics(
  input: MetricsInput,
  daily: DailyColumns,
  { max_drawdown: fall }: Pick<DrawdownMetrics, "max_drawdown">,
): GrowthMetrics {
  const growth = cagr(input);
  const total = totalReturn(input);
  return {
    duration_days: durationDays(input),
    total_return: total,
    cagr: growth,
    annual_return: annualReturn(input, daily),
    buy_hold_return: buyHoldReturn(input),
    calmar: typeof growth === "number" ? ratio(growth, fall, NO_DRAWDOWN) : growth,
    recovery_factor: ratio(total, fall, NO_DRAWDOWN),
  };
}

/** Days from the first candle's open to the last candle's close. */
function durationDays(input: MetricsInput): number {
  const { time, timeframeMs } = input;
  return (candleClose(time[time.length - 1]!, timeframeMs) - time[0]!) / DAY_MS;
}

/** Final equity / initial balance - 1. */
function totalReturn(input: MetricsInput): number {
  return input.equity[input.equity.length - 1]! / input.initialBalance - 1;
}

/** Last close / first close - 1: the return of holding the instrument over the range, before costs. */
function buyHoldReturn(input: MetricsInput): number {
  return input.close[input.close.length - 1]! / input.close[0]! - 1;
}

/** Compound annual growth rate by the calendar: (1 + total return)^(365.25 / duration in days) - 1. */
function cagr(input: MetricsInput): Measured {
  return compound(input, YEAR_DAYS / durationDays(input));
}

/** Geometric mean of the daily returns, annualised: (1 + total return)^(periodsPerYear / days) - 1. */
function annualReturn(input: MetricsInput, daily: DailyColumns): Measured {
  return compound(input, input.periodsPerYear / daily.days);
}

function compound(input: MetricsInput, years: number): Measured {
  const growth = 1 + totalReturn(input);
  return growth < 0 ? { reason: NEGATIVE_EQUITY } : growth ** years - 1;
}

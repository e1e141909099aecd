import { type DailyInput, sampleDaily } from "./daily.ts";

export const RETURN_PERIODS = ["daily", "monthly", "yearly"] as const;
export type ReturnPeriod = (typeof RETURN_PERIODS)[number];

/** A row for each day, month or year with candles, oldest first. */
interface PeriodReturns {
  /** 00:00 UTC of the period's first date, in milliseconds since 1970. */
  readonly time: Float64Array;
  /** Fraction: equity / equity at the end of the period before - 1, the first against the initial balance. */
  readonly return: Float64Array;
  /** Money at the end of the period. */
  readonly equity: Float64Array;
}

/**
 * The returns of a run by trading day, month or year. They compound to the run's total return, and end with the period in
 * which equity reaches zero.
 */
export function periodReturns(input: DailyInput, period: ReturnPeriod): PeriodReturns {
  const { dates, ends } = sampleDaily(input);
  const time = new Float64Array(dates.length);
  const returns = new Float64Array(dates.length);
  const marks = new Float64Array(dates.length);
  let count = 0;
  let before = input.initialBalance;
  for (let day = 0; day < dates.length; day++) {
    const start = startOf(dates[day]!, period);
    if (day + 1 < dates.length && startOf(dates[day + 1]!, period) === start) continue;
    const mark = input.equity[ends[day]! - 1]!;
    time[count] = start;
    marks[count] = mark;
    returns[count] = mark / before - 1;
    before = mark;
    count++;
  }
  return { time: time.subarray(0, count), return: returns.subarray(0, count), equity: marks.subarray(0, count) };
}

function startOf(date: number, period: ReturnPeriod): number {
  if (period === "daily") return date;
  const day = new Date(date);
  return Date.UTC(day.getUTCFullYear(), period === "monthly" ? day.getUTCMonth() : 0);
}

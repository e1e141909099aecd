import { DAY_MS } from "../durations.ts";
import type { AssetClass } from "../execution.ts";
import type { MetricsInput } from "./input.ts";

/**
 * One run sampled by trading day. Days without a candle have no row. Where the caller does not tell the days (`tradingDays`),
 * they are those of UTC, and trade that reaches into a weekend belongs to the nearest weekday (`endOfDay`).
 *
 * `returns` holds a fraction a day: equity / equity of the day before - 1, the first against the initial balance. It ends
 * with the day on which equity reaches zero, so it may be shorter than `days`. `closeReturns` holds the instrument's own
 * returns from the second day: `closeReturns[k]` belongs to `returns[k + 1]`. `dates` and `equity` belong to `returns`: the
 * day's date as 00:00 UTC of it, in milliseconds since 1970, and its last mark.
 */
export interface DailyColumns {
  readonly days: number;
  readonly returns: Float64Array;
  readonly closeReturns: Float64Array;
  readonly dates: Float64Array;
  readonly equity: Float64Array;
}

const [SUNDAY, FRIDAY] = [0, 5];

/**
 * The end of the day that a moment belongs to; both in milliseconds since 1970 (UTC).
 *
 * Instruments traded on weekdays have weekdays only, so that a year has as many days as execution.ts counts: forex starts
 * its Monday on Sunday evening (UTC), and New York's late Friday is a Saturday.
 *
 * @param assetClass Null: every day counts by itself.
 */
function endOfDay(timeMs: number, assetClass: AssetClass | null): number {
  const day = Math.floor(timeMs / DAY_MS);
  // 1970-01-01 was a Thursday.
  const weekday = (((day + 4) % 7) + 7) % 7;
  const isJoined = assetClass === "forex"
    ? weekday === FRIDAY || weekday === SUNDAY
    : assetClass === "stock" && weekday === FRIDAY;
  return (day + (isJoined ? 2 : 1)) * DAY_MS;
}

/** The part of a run that its days are sampled from. */
export type DailyInput = Pick<
  MetricsInput,
  "time" | "equity" | "close" | "assetClass" | "tradingDays" | "initialBalance"
>;

/** Samples equity and close at the last candle of each day. */
export function sampleDaily(input: DailyInput): DailyColumns {
  const { time, equity, close, assetClass = null, tradingDays = null } = input;
  const count = time.length;
  const spanDays = tradingDays?.ends.length ?? Math.floor((time[count - 1]! - time[0]!) / DAY_MS) + 2;
  const returns = new Float64Array(Math.min(count, spanDays));
  const closeReturns = new Float64Array(returns.length);
  const dates = new Float64Array(returns.length);
  const marks = new Float64Array(returns.length);
  let days = 0;
  let alive = 0;
  let equityBefore = input.initialBalance;
  let closeBefore = NaN;
  for (let first = 0, length = 0; first < count; first += length, days++) {
    length = tradingDays === null
      ? countCandles(time, first, endOfDay(time[first]!, assetClass), length)
      : Math.max(1, Math.min(count, tradingDays.ends[days] ?? 0) - first);
    const last = first + length - 1;
    if (equityBefore > 0) {
      returns[alive] = equity[last]! / equityBefore - 1;
      dates[alive] = tradingDays === null ? middleDate(time[first]!, time[last]!) : tradingDays.dates[days]!;
      marks[alive] = equity[last]!;
      alive++;
    }
    if (days > 0) closeReturns[days - 1] = close[last]! / closeBefore - 1;
    equityBefore = equity[last]!;
    closeBefore = close[last]!;
  }
  return {
    days,
    returns: returns.subarray(0, alive),
    closeReturns: closeReturns.subarray(0, Math.max(0, alive - 1)),
    dates: dates.subarray(0, alive),
    equity: marks.subarray(0, alive),
  };
}

/** Candles of the day that begins at `first` and ends before `dayEnd`; most days have as many as the one before. */
function countCandles(time: Float64Array, first: number, dayEnd: number, before: number): number {
  const expected = first + before;
  if (before > 0 && expected < time.length && time[expected - 1]! < dayEnd && time[expected]! >= dayEnd) return before;
  let end = first + 1;
  while (end < time.length && time[end]! < dayEnd) end++;
  return end - first;
}

/** The date of a day by the middle of its candles. */
function middleDate(firstMs: number, lastMs: number): number {
  return Math.floor((firstMs + lastMs) / 2 / DAY_MS) * DAY_MS;
}

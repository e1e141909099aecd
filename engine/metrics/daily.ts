import { DAY_MS } from "../time/durations.ts";
import type { AssetClass } from "../time/asset_classes.ts";
import type { MetricsInput, RangeDays } from "./input.ts";

/**
 * One run sampled by trading day. Days without a candle have no row. Where the caller does not tell the days (`tradingDays`),
 * they are those of UTC, and trade that reaches into a weekend belongs to the nearest weekday (`endOfDay`).
 *
 * `returns` holds a fraction a day: equity / equity of the day before - 1, the first against the initial balance. It ends
 * with the day on which equity reaches zero, so it may be shorter than `days`. `closeReturns` holds the instrument's own
 * returns from the second day: `closeReturns[k]` belongs to `returns[k + 1]`. `dates` and `ends` belong to `returns`: the
 * day's date as 00:00 UTC of it, in milliseconds since 1970, and the index after its last candle.
 */
export interface DailyColumns extends RangeDays {
  readonly days: number;
  readonly returns: Float64Array;
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

/** The part of a run that its days are found in. */
export type RangeInput = Pick<MetricsInput, "time" | "close" | "assetClass" | "tradingDays">;

/** Finds the days of a range with candles. */
export function findDays({ time, close, assetClass = null, tradingDays = null }: RangeInput): RangeDays {
  const count = time.length;
  const spanDays = tradingDays?.ends.length ?? Math.floor((time[count - 1]! - time[0]!) / DAY_MS) + 2;
  const ends = new Int32Array(Math.min(count, spanDays));
  const dates = new Float64Array(ends.length);
  const closeReturns = new Float64Array(ends.length);
  let days = 0;
  for (let first = 0, length = 0; first < count; first += length, days++) {
    length = tradingDays === null
      ? countCandles(time, first, endOfDay(time[first]!, assetClass), length)
      : Math.max(1, Math.min(count, tradingDays.ends[days] ?? 0) - first);
    const last = first + length - 1;
    ends[days] = last + 1;
    dates[days] = tradingDays === null ? middleDate(time[first]!, time[last]!) : tradingDays.dates[days]!;
    if (days > 0) closeReturns[days - 1] = close[last]! / close[first - 1]! - 1;
  }
  return {
    ends: ends.subarray(0, days),
    dates: dates.subarray(0, days),
    closeReturns: closeReturns.subarray(0, Math.max(0, days - 1)),
  };
}

/** The part of a run that its days are sampled from. */
export type DailyInput = RangeInput & Pick<MetricsInput, "equity" | "rangeDays" | "initialBalance">;

/** Samples equity at the last candle of each day. */
export function sampleDaily(input: DailyInput): DailyColumns {
  const { equity, initialBalance } = input;
  const range = input.rangeDays ?? findDays(input);
  const { ends } = range;
  const days = ends.length;
  const returns = new Float64Array(days);
  let alive = 0;
  for (let before = initialBalance; alive < days && before > 0; alive++) {
    const mark = equity[ends[alive]! - 1]!;
    returns[alive] = mark / before - 1;
    before = mark;
  }
  if (alive === days) return { days, returns, ...range };
  return {
    days,
    returns: returns.subarray(0, alive),
    closeReturns: range.closeReturns.subarray(0, Math.max(0, alive - 1)),
    dates: range.dates.subarray(0, alive),
    ends: ends.subarray(0, alive),
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

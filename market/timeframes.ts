const MINUTE_MS = 60_000;
export const DAY_MS = 1440 * MINUTE_MS;
const WEEK_MS = 7 * DAY_MS;

/** The lengths in milliseconds of the timeframes whose candles are all equally long, shortest first. */
export const TIMEFRAME_MS = {
  "1m": MINUTE_MS,
  "3m": 3 * MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "15m": 15 * MINUTE_MS,
  "30m": 30 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "2h": 120 * MINUTE_MS,
  "4h": 240 * MINUTE_MS,
  "6h": 360 * MINUTE_MS,
  "12h": 720 * MINUTE_MS,
  "1d": DAY_MS,
  "1w": WEEK_MS,
} as const;

/** The supported timeframes. The case counts: `1m` is a minute, `1M` a calendar month. */
export type Timeframe = keyof typeof TIMEFRAME_MS | "1M";

/** The supported timeframes, shortest first. */
export const TIMEFRAME_NAMES = [
  "1m",
  "3m",
  "5m",
  "15m",
  "30m",
  "1h",
  "2h",
  "4h",
  "6h",
  "12h",
  "1d",
  "1w",
  "1M",
] as const satisfies readonly Timeframe[];

// 1970 began on a Thursday, so its first Monday was 5 January.
const FIRST_MONDAY_MS = 4 * DAY_MS;

export function isTimeframe(name: string): name is Timeframe {
  return TIMEFRAME_NAMES.some((known) => known === name);
}

/** The length of every candle of a timeframe in milliseconds; null for months, which differ. */
export function fixedMs(timeframe: Timeframe): number | null {
  return timeframe === "1M" ? null : TIMEFRAME_MS[timeframe];
}

/** The length of the shortest candle of a timeframe in milliseconds: a range has no more candles than fit by it. */
export function shortestMs(timeframe: Timeframe): number {
  return fixedMs(timeframe) ?? 28 * DAY_MS;
}

/** The length of the longest candle of a timeframe in milliseconds. */
export function longestMs(timeframe: Timeframe): number {
  return fixedMs(timeframe) ?? 31 * DAY_MS;
}

/** How many candles of the second timeframe one of the first has at most; 1 where those are longer. */
export function countPerCandle(timeframe: Timeframe, of: Timeframe): number {
  return Math.ceil(longestMs(timeframe) / shortestMs(of));
}

/** True if candles of the first timeframe are longer than those of the second. */
export function isCoarser(timeframe: Timeframe, than: Timeframe): boolean {
  return shortestMs(timeframe) > shortestMs(than);
}

/** True if candles of a timeframe are dated: their timestamp is a trading date at 00:00 UTC. */
export function isDaily(timeframe: Timeframe): boolean {
  return !isCoarser("1d", timeframe);
}

/** The open of the candle that holds a moment; both in milliseconds since 1970 (UTC). Weeks open on Monday. */
export function bucketStart(timeMs: number, timeframe: Timeframe): number {
  if (timeframe === "1M") return Date.parse(monthOf(timeMs));
  const lengthMs = TIMEFRAME_MS[timeframe];
  const origin = timeframe === "1w" ? FIRST_MONDAY_MS : 0;
  return Math.floor((timeMs - origin) / lengthMs) * lengthMs + origin;
}

/** The first open at or after a moment; both in milliseconds since 1970 (UTC). */
export function bucketStartAtOrAfter(timeMs: number, timeframe: Timeframe): number {
  const start = bucketStart(timeMs, timeframe);
  return start === timeMs ? start : candleEnd(start, timeframe);
}

/** The close of the candle that opens at a moment; both in milliseconds since 1970. */
export function candleEnd(openMs: number, timeframe: Timeframe): number {
  return timeframe === "1M" ? monthEnd(monthOf(openMs)) : openMs + TIMEFRAME_MS[timeframe];
}

/** True if the finer timeframe resamples to the coarser one, or equals it. A week may belong to two months. */
export function divides(finer: Timeframe, coarser: Timeframe): boolean {
  if (coarser === "1M") return finer !== "1w";
  return finer !== "1M" && TIMEFRAME_MS[coarser] % TIMEFRAME_MS[finer] === 0;
}

/** The first day of a moment's calendar month (UTC), `YYYY-MM-01`. */
export function monthOf(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, -17)}-01`;
}

/** The start of the month after the given one, in milliseconds since 1970. @param month `YYYY-MM-01` */
export function monthEnd(month: string): number {
  const start = new Date(`${month}T00:00:00Z`);
  return start.setUTCMonth(start.getUTCMonth() + 1);
}

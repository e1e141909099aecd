const MINUTE_MS = 60_000;
export const DAY_MS = 1440 * MINUTE_MS;
const WEEK_MS = 7 * DAY_MS;

/** The supported lengths of a candle in milliseconds, shortest first. */
export const TIMEFRAMES = {
  "1m": MINUTE_MS,
  "5m": 5 * MINUTE_MS,
  "15m": 15 * MINUTE_MS,
  "30m": 30 * MINUTE_MS,
  "1h": 60 * MINUTE_MS,
  "4h": 240 * MINUTE_MS,
  "1d": DAY_MS,
  "1w": WEEK_MS,
} as const;

export type Timeframe = keyof typeof TIMEFRAMES;

/** The names of TIMEFRAMES, shortest first. */
export const TIMEFRAME_NAMES = [
  "1m",
  "5m",
  "15m",
  "30m",
  "1h",
  "4h",
  "1d",
  "1w",
] as const satisfies readonly Timeframe[];

// 1970 began on a Thursday, so its first Monday was 5 January.
const FIRST_MONDAY_MS = 4 * DAY_MS;

export function isTimeframe(name: string): name is Timeframe {
  return Object.hasOwn(TIMEFRAMES, name);
}

/** Whether candles of a timeframe are dated: their timestamp is a trading date at 00:00 UTC. */
export function isDaily(timeframe: Timeframe): boolean {
  return TIMEFRAMES[timeframe] >= DAY_MS;
}

/** The start of a timeframe's first bucket, in milliseconds since 1970: weeks open on Monday 00:00 UTC. */
export function bucketOrigin(timeframe: Timeframe): number {
  return timeframe === "1w" ? FIRST_MONDAY_MS : 0;
}

/** The open of the candle that holds a moment; both in milliseconds since 1970 (UTC). */
export function bucketStart(timeMs: number, timeframe: Timeframe): number {
  const lengthMs = TIMEFRAMES[timeframe];
  const origin = bucketOrigin(timeframe);
  return Math.floor((timeMs - origin) / lengthMs) * lengthMs + origin;
}

/** The first open at or after a moment; both in milliseconds since 1970 (UTC). */
export function bucketStartAtOrAfter(timeMs: number, timeframe: Timeframe): number {
  const start = bucketStart(timeMs, timeframe);
  return start === timeMs ? start : start + TIMEFRAMES[timeframe];
}

/** Whether the finer timeframe resamples to the coarser one, or equals it. */
export function divides(finer: Timeframe, coarser: Timeframe): boolean {
  return TIMEFRAMES[coarser] % TIMEFRAMES[finer] === 0;
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

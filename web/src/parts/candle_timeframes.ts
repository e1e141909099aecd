import type { Instrument } from "../api.ts";

export type Timeframe = Instrument["timeframes"][number];

const MINUTE_MS = 60_000;

/** The lengths of candles in milliseconds, shortest first; of the longest month for `1M`. */
const LENGTHS_MS = {
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
  "1d": 1_440 * MINUTE_MS,
  "1w": 7 * 1_440 * MINUTE_MS,
  "1M": 31 * 1_440 * MINUTE_MS,
} as const satisfies Record<Timeframe, number>;

const isTimeframe = (name: string): name is Timeframe => name in LENGTHS_MS;

/** All timeframes, shortest first. */
export const TIMEFRAMES: readonly Timeframe[] = Object.keys(LENGTHS_MS).filter(isTimeframe);

/** The length of a candle in milliseconds; a month counts as its longest. */
export function lengthMs(timeframe: Timeframe): number {
  return LENGTHS_MS[timeframe];
}

/** The timeframes that stored ones can be shown in, shortest first. */
export function timeframesFrom(stored: readonly Timeframe[]): readonly Timeframe[] {
  return TIMEFRAMES.filter((wanted) => stored.some((held) => held === wanted || makes(held, wanted)));
}

/** True if candles of a timeframe join to longer ones. A week may belong to two months. */
function makes(held: Timeframe, wanted: Timeframe): boolean {
  if (held === "1M") return false;
  if (wanted === "1M") return held !== "1w";
  return lengthMs(wanted) % lengthMs(held) === 0;
}

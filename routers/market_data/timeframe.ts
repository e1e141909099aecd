import { isTimeframe, type Timeframe, TIMEFRAME_NAMES } from "../../market/timeframes.ts";

// The words for timeframes that strategies use, in any case.
const FREQUENCIES: Readonly<Record<string, Timeframe>> = {
  MINUTE: "1m",
  HOURLY: "1h",
  DAILY: "1d",
  WEEKLY: "1w",
  MONTHLY: "1M",
};

/** The names that parseTimeframe() reads. */
export const TIMEFRAME_WORDS: readonly string[] = [...Object.keys(FREQUENCIES), ...TIMEFRAME_NAMES];

/** Reads a timeframe (`1h`) or the word for it (`HOURLY`). @returns undefined for anything else. */
export function parseTimeframe(value: unknown): Timeframe | undefined {
  if (typeof value !== "string") return undefined;
  if (isTimeframe(value)) return value;
  const word = value.toUpperCase();
  return Object.hasOwn(FREQUENCIES, word) ? FREQUENCIES[word] : undefined;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/**
 * The close of the candle that opens at a time; both in milliseconds since 1970.
 *
 * @param timeframeMs Length of the candle; null: a calendar month of UTC.
 */
export function candleClose(openMs: number, timeframeMs: number | null): number {
  if (timeframeMs !== null) return openMs + timeframeMs;
  const open = new Date(openMs);
  return Date.UTC(open.getUTCFullYear(), open.getUTCMonth() + 1);
}

/** A year of 365 days. */
export const YEAR_MS = 365 * DAY_MS;

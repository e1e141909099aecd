/** More candles than any series holds; below 2^26 a product of a period and half a double is exact. */
const PERIOD_MAX = 50_000_000;

/**
 * Refuses a window length that has no meaning, before it becomes a column of NaN that nobody notices.
 *
 * @throws {RangeError} When `period` is not an integer from 1 to 50,000,000.
 */
export function checkPeriod(indicator: string, period: number): void {
  if (Number.isInteger(period) && period >= 1 && period <= PERIOD_MAX) return;
  throw new RangeError(`Cannot compute ${indicator}: the period must be a whole number from 1, not ${period}`);
}

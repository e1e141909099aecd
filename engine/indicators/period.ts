/** No series has more candles. The product of half a double and a period below 2^26 is exact. */
export const PERIOD_MAX = 50_000_000;

/**
 * Refuses a window length without a meaning, which would otherwise give a column of NaN.
 *
 * @throws {RangeError} When `period` is not an integer from 1 to 50,000,000.
 */
export function checkPeriod(indicator: string, period: number): void {
  if (Number.isInteger(period) && period >= 1 && period <= PERIOD_MAX) return;
  throw new RangeError(
    `Cannot compute ${indicator} with a period of ${period}: it must be a whole number from 1 to ${PERIOD_MAX}`,
  );
}

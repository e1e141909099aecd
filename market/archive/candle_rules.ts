/**
 * The fault that keeps five numbers from being a candle, in words, or null for a candle.
 *
 * Prices are above 0 and finite, high is the highest and low the lowest of the four, volume is finite and not negative.
 */
export function findFault(open: number, high: number, low: number, close: number, volume: number): string | null {
  // Every comparison with NaN is false, so NaN does not pass here.
  if (
    low > 0 && high >= open && high >= close && low <= open && low <= close && high < Infinity && volume >= 0 &&
    volume < Infinity
  ) return null;
  const prices = { open, high, low, close };
  for (const [name, value] of Object.entries({ ...prices, volume })) {
    if (!Number.isFinite(value)) return `${name} ${value} is not a finite number`;
  }
  for (const [name, value] of Object.entries(prices)) {
    if (value <= 0) return `${name} ${value} is not above 0`;
  }
  if (volume < 0) return `volume ${volume} is below 0`;
  if (high < low) return `high ${high} is below low ${low}`;
  if (high < open || high < close) return `high ${high} is below ${high < open ? `open ${open}` : `close ${close}`}`;
  return `low ${low} is above ${low > open ? `open ${open}` : `close ${close}`}`;
}

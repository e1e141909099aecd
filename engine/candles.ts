/**
 * Candles as columns of equal length, oldest first.
 *
 * `time` holds the open of each candle in milliseconds since 1970 (UTC) and strictly increases; prices are in the quote
 * currency and volume is in units of the instrument. The engine trusts the columns: their builder checks every row (high is
 * the highest, low the lowest, all finite, volume not negative).
 */
export interface Candles {
  readonly time: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
}

/** Candles from one index up to another, as views of the same memory. */
export function viewCandles({ time, open, high, low, close, volume }: Candles, from: number, until: number): Candles {
  return {
    time: time.subarray(from, until),
    open: open.subarray(from, until),
    high: high.subarray(from, until),
    low: low.subarray(from, until),
    close: close.subarray(from, until),
    volume: volume.subarray(from, until),
  };
}

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

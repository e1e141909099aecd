/**
 * Whether `a` crossed above `b` at candle `i`: below it one candle before, above it now. Lines that only touch do not
 * cross, and NaN crosses nothing. Swap the arguments for a cross below.
 *
 * @see backtesting.py, `lib.crossover`, for the rule.
 */
export function crossesAbove(a: Float64Array, b: Float64Array, i: number): boolean {
  return a[i - 1]! < b[i - 1]! && a[i]! > b[i]!;
}

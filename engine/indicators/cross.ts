/**
 * Whether `a` crossed above `b` at candle `i`: below it one candle before, above it now. Lines that only touch have not
 * crossed; NaN crosses nothing. Exchange the arguments for a cross below.
 *
 * @see backtesting.py, `lib.crossover`, whose rule this is.
 */
export function crossesAbove(a: Float64Array, b: Float64Array, i: number): boolean {
  return a[i - 1]! < b[i - 1]! && a[i]! > b[i]!;
}

/**
 * Whether `a` crossed above `b` at candle `i`: above it now, and below it when they last differed. Lines that meet and part
 * again on the same side do not cross, and NaN crosses nothing. Swap the arguments for a cross below.
 *
 * @param throughTouch False: below it one candle before, so lines that meet exactly on their way do not cross. This is the
 *   rule of backtesting.py, `lib.crossover`.
 */
export function crossesAbove(a: Float64Array, b: Float64Array, i: number, throughTouch: boolean): boolean {
  if (!(a[i]! > b[i]!)) return false;
  let before = i - 1;
  if (throughTouch) { while (before >= 0 && a[before] === b[before]) before--; }
  return before >= 0 && a[before]! < b[before]!;
}

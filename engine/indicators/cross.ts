/**
 * True if `a` crossed above `b` at candle `i`: above it now, and below it when they last differed. Lines that meet and part
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

/**
 * The first candle from `from` on at which one line crosses the other, in either direction; beyond the last one if none does.
 *
 * @param throughTouch As in `crossesAbove`.
 */
function nextCross(a: Float64Array, b: Float64Array, from: number, throughTouch: boolean): number {
  const count = a.length;
  for (let i = from; i < count; i++) {
    if (crossesAbove(a, b, i, throughTouch) || crossesAbove(b, a, i, throughTouch)) return i;
    // Nothing crosses as long as the same line stays above.
    if (a[i]! > b[i]!) { while (i + 1 < count && a[i + 1]! > b[i + 1]!) i++; }
    if (a[i]! < b[i]!) { while (i + 1 < count && a[i + 1]! < b[i + 1]!) i++; }
  }
  return count;
}

/** The crosses of two lines, in order: `candle[n]`, and whether the first line rises above the second there. */
export interface Crosses {
  readonly candle: readonly number[];
  readonly isRise: readonly boolean[];
}

/** Finds all crosses from a candle on. @param throughTouch As in `crossesAbove`. */
export function findCrosses(a: Float64Array, b: Float64Array, from: number, throughTouch: boolean): Crosses {
  const candle: number[] = [];
  const isRise: boolean[] = [];
  for (let i = nextCross(a, b, from, throughTouch); i < a.length; i = nextCross(a, b, i + 1, throughTouch)) {
    candle.push(i);
    isRise.push(a[i]! > b[i]!);
  }
  return { candle, isRise };
}

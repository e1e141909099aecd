const POINTS_MAX = 60;
// A list shows it some 30 pixels high.
const DIGITS = 4;

/**
 * Draws a curve in at most 60 points: the first and the last, and in between the lowest and the highest of stretches of equal length,
 * in the order in which they came.
 *
 * @param equity In money, a value per candle.
 * @returns Fractions of the initial balance, of four digits.
 */
export function drawSparkline(equity: Float64Array, initialBalance: number): number[] {
  const count = equity.length;
  const kept: number[] = [];
  if (count <= POINTS_MAX) kept.push(...equity);
  else {
    kept.push(equity[0]!);
    for (const [low, high] of extremesOf(equity, (POINTS_MAX - 2) / 2)) {
      kept.push(equity[Math.min(low, high)]!, equity[Math.max(low, high)]!);
    }
    kept.push(equity[count - 1]!);
  }
  return kept.map((value) => Number((value / initialBalance).toPrecision(DIGITS)));
}

/** Indexes of the lowest and the highest value in each stretch of equal length, the first of equal ones. */
export function* extremesOf(values: Float64Array, stretches: number): Generator<readonly [low: number, high: number]> {
  const count = values.length;
  for (let s = 0; s < stretches; s++) {
    const end = Math.floor(((s + 1) * count) / stretches);
    let low = Math.floor((s * count) / stretches);
    let high = low;
    let [least, most] = [values[low]!, values[low]!];
    for (let i = low; i < end; i++) {
      const value = values[i]!;
      if (value < least) [least, low] = [value, i];
      if (value > most) [most, high] = [value, i];
    }
    yield [low, high];
  }
}

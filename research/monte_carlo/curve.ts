/** Most points of a curve, beside its first. */
export const CURVE_POINTS_MAX = 100;

/** Where a curve is read: how many trades, days or candles are over. @param length Of the equity. */
export function chooseCurvePositions(length: number): readonly number[] {
  const points = Math.min(CURVE_POINTS_MAX, length);
  return Array.from({ length: points + 1 }, (_, i) => Math.round(i * length / points));
}

/** The equity at the positions of a curve. @param equity After each trade, day or candle. */
export function readCurve(equity: Float64Array, positions: readonly number[], initialBalance: number): Float64Array {
  return Float64Array.from(positions, (position) => position === 0 ? initialBalance : equity[position - 1]!);
}

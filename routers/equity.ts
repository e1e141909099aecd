/** A completed run's curve: a value per candle, time in milliseconds since 1970. */
export interface EquityColumns {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly position: Float64Array;
}

/** A point of the curve as clients read it; `drawdown` is the fraction lost since the highest equity so far. */
export interface EquityPoint {
  readonly timestamp: string;
  readonly equity: number;
  readonly drawdown: number;
  readonly position: number;
}

/**
 * Thins a curve for drawing. The candles are cut into stretches of equal length, and of each the lowest and the highest
 * equity are kept, so that no peak or trough is lost; the first and the last candle are always there.
 *
 * @param initialBalance Counts as the first peak.
 * @param pointsMax At least 2; a curve that is no longer is given whole.
 */
export function samplePoints(columns: EquityColumns, initialBalance: number, pointsMax: number): EquityPoint[] {
  const { time, equity, position } = columns;
  const count = equity.length;
  const chosen = chooseCandles(equity, pointsMax);
  const points: EquityPoint[] = [];
  let peak = initialBalance;
  let next = 0;
  for (let i = 0; i < count && next < chosen.length; i++) {
    peak = Math.max(peak, equity[i]!);
    if (chosen[next] !== i) continue;
    next++;
    points.push({
      timestamp: new Date(time[i]!).toISOString(),
      equity: equity[i]!,
      // As the metric has it, to the last bit.
      drawdown: (peak - equity[i]!) / peak,
      position: position[i]!,
    });
  }
  return points;
}

/** Indexes to keep, rising. */
function chooseCandles(equity: Float64Array, pointsMax: number): number[] {
  const count = equity.length;
  if (count <= pointsMax) return Array.from({ length: count }, (_, i) => i);
  const chosen = new Set([0, count - 1]);
  // Two places are taken by the ends; each stretch takes two more.
  const stretches = Math.floor((pointsMax - 2) / 2);
  for (let s = 0; s < stretches; s++) {
    const end = Math.floor(((s + 1) * count) / stretches);
    let low = Math.floor((s * count) / stretches);
    let high = low;
    for (let i = low; i < end; i++) {
      if (equity[i]! < equity[low]!) low = i;
      if (equity[i]! > equity[high]!) high = i;
    }
    chosen.add(low).add(high);
  }
  return [...chosen].sort((a, b) => a - b);
}

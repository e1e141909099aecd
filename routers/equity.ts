/** A completed run's curve: a value per candle, time in milliseconds since 1970. */
export interface EquityColumns {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly position: Float64Array;
}

/** A curve as clients read it; `drawdown` is the fraction lost since the highest equity so far. */
export interface Curve extends EquityColumns {
  readonly drawdown: Float64Array;
}

/**
 * Thins a curve for drawing. The candles are cut into stretches of equal length, and of each the lowest and the highest
 * equity are kept, so that no peak or trough is lost; the first and the last candle and (from three points on) that of the
 * deepest drawdown are always there.
 *
 * @param initialBalance Counts as the first peak.
 * @param pointsMax At least 2; a curve that is no longer is given whole.
 */
export function sampleCurve(columns: EquityColumns, initialBalance: number, pointsMax: number): Curve {
  const { time, equity, position } = columns;
  const drawdown = drawdownsOf(equity, initialBalance);
  if (equity.length <= pointsMax) return { time, equity, drawdown, position };
  const kept = chooseCandles(equity, drawdown, pointsMax);
  const pick = (values: Float64Array) => Float64Array.from(kept, (i) => values[i]!);
  return { time: pick(time), equity: pick(equity), drawdown: pick(drawdown), position: pick(position) };
}

/** How far each mark lies below the highest so far: as the metrics have it, to the last bit. */
function drawdownsOf(equity: Float64Array, initialBalance: number): Float64Array {
  let peak = initialBalance;
  return equity.map((mark) => {
    peak = Math.max(peak, mark);
    return (peak - mark) / peak;
  });
}

/** Indexes to keep, rising. */
function chooseCandles(equity: Float64Array, drawdown: Float64Array, pointsMax: number): number[] {
  const count = equity.length;
  const chosen = new Set([0, count - 1]);
  if (pointsMax > 2) chosen.add(drawdown.reduce((deepest, depth, i) => depth > drawdown[deepest]! ? i : deepest, 0));
  // Three places are taken by those; each stretch takes two more.
  const stretches = Math.floor((pointsMax - 3) / 2);
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

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
 * Thins a curve for drawing. It cuts the candles into stretches of equal length and keeps the lowest and the highest equity of
 * each, so no peak or trough is lost. It always keeps the first and the last candle and, from three points on, the candle of the
 * deepest drawdown.
 *
 * @param initialBalance Counts as the first peak.
 * @param pointsMax At least 2; a curve of at most so many points is returned whole.
 */
export function sampleCurve(columns: EquityColumns, initialBalance: number, pointsMax: number): Curve {
  const { time, equity, position } = columns;
  const drawdown = drawdownsOf(equity, initialBalance);
  if (equity.length <= pointsMax) return { time, equity, drawdown, position };
  const kept = chooseCandles(equity, drawdown, pointsMax);
  const pick = (values: Float64Array) => Float64Array.from(kept, (i) => values[i]!);
  return { time: pick(time), equity: pick(equity), drawdown: pick(drawdown), position: pick(position) };
}

/** The whole curve, a piece after the other. */
export async function* withDrawdown(
  pieces: AsyncIterable<EquityColumns>,
  initialBalance: number,
): AsyncGenerator<Curve> {
  let peak = initialBalance;
  for await (const columns of pieces) {
    yield { ...columns, drawdown: drawdownsOf(columns.equity, peak) };
    peak = columns.equity.reduce((most, mark) => Math.max(most, mark), peak);
  }
}

/**
 * The drawdown at each mark, bit for bit as the metrics compute it.
 *
 * @param before The highest before the first mark.
 */
function drawdownsOf(equity: Float64Array, before: number): Float64Array {
  let peak = before;
  return equity.map((mark) => {
    peak = Math.max(peak, mark);
    return (peak - mark) / peak;
  });
}

/** The indexes to keep, in rising order. */
function chooseCandles(equity: Float64Array, drawdown: Float64Array, pointsMax: number): number[] {
  const count = equity.length;
  const chosen = new Set([0, count - 1]);
  if (pointsMax > 2) chosen.add(drawdown.reduce((deepest, depth, i) => depth > drawdown[deepest]! ? i : deepest, 0));
  // The candles above take up to three places; each stretch takes two.
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

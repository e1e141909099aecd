import { extremesOf } from "../../db/codec/sparkline.ts";

/** A completed run's curve: a value per candle, time in milliseconds since 1970. */
export interface EquityColumns {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly position: Float64Array;
}

/** A curve as clients read it; `drawdown` is the fraction lost since the highest equity so far. */
interface Curve extends EquityColumns {
  readonly drawdown: Float64Array;
}

/** A stretch of time, milliseconds since 1970: from the first to before the second. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

const ALL: TimeRange = { from: -Infinity, to: Infinity };

/** The part of a curve that lies in a range. */
export function cutCurve(curve: Curve, { from, to }: TimeRange): Curve {
  const begin = countBefore(curve.time, from);
  const end = Math.max(begin, countBefore(curve.time, to));
  return {
    time: curve.time.subarray(begin, end),
    equity: curve.equity.subarray(begin, end),
    drawdown: curve.drawdown.subarray(begin, end),
    position: curve.position.subarray(begin, end),
  };
}

/** How many of the times, in rising order, are before one. */
export function countBefore(time: Float64Array, timeMs: number): number {
  let [low, high] = [0, time.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle]! < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Thins a curve for drawing. It cuts the candles into stretches of equal length and keeps the lowest and the highest equity of
 * each, so no peak or trough is lost. It always keeps the first and the last candle and, from three points on, the candle of the
 * deepest drawdown.
 *
 * @param initialBalance Counts as the first peak.
 * @param pointsMax At least 2; a curve of no more points is returned whole.
 * @param range The part to thin; drawdowns are those of the whole curve.
 */
export function sampleCurve(columns: EquityColumns, initialBalance: number, pointsMax: number, range = ALL): Curve {
  const whole = { ...columns, drawdown: drawdownsOf(columns.equity, initialBalance) };
  const curve = cutCurve(whole, range);
  const { time, equity, drawdown, position } = curve;
  if (equity.length <= pointsMax) return curve;
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

/** The drawdown at each mark, bit for bit as the metrics compute it. @param before The highest before the first mark. */
function drawdownsOf(equity: Float64Array, before: number): Float64Array {
  const drawdowns = new Float64Array(equity.length);
  let peak = before;
  // A loop: a call for each of millions of candles would hold up everybody's requests for a second.
  for (let i = 0; i < equity.length; i++) {
    const mark = equity[i]!;
    peak = Math.max(peak, mark);
    drawdowns[i] = (peak - mark) / peak;
  }
  return drawdowns;
}

/** The indexes to keep, in rising order. */
function chooseCandles(equity: Float64Array, drawdown: Float64Array, pointsMax: number): number[] {
  const count = equity.length;
  const chosen = new Set([0, count - 1]);
  if (pointsMax > 2) chosen.add(deepestOf(drawdown));
  // The candles above take up to three places; each stretch takes two.
  const stretches = Math.floor((pointsMax - 3) / 2);
  for (const [low, high] of extremesOf(equity, stretches)) chosen.add(low).add(high);
  return [...chosen].sort((a, b) => a - b);
}

function deepestOf(drawdown: Float64Array): number {
  let deepest = 0;
  for (let i = 1; i < drawdown.length; i++) if (drawdown[i]! > drawdown[deepest]!) deepest = i;
  return deepest;
}

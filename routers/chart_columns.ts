import type { Candles } from "../engine/candles.ts";
import type { EquityColumns } from "./equity.ts";

type Numbers = number[];
type Prices = (number | null)[];

/** Merged rows of a run, in columns; see runChartSchema. */
export interface ChartColumns {
  readonly candles: number;
  readonly from: number;
  readonly until: number;
  readonly step: number;
  readonly time: Numbers;
  readonly open: Prices;
  readonly high: Prices;
  readonly low: Prices;
  readonly close: Prices;
  readonly volume: Prices;
  readonly equity: Numbers;
  readonly drawdown: Numbers;
  readonly position: Numbers;
  readonly buy_hold: Prices;
}

/** The curve of a run, a row per candle. */
export interface RunRows extends EquityColumns {
  readonly initialBalance: number;
}

/** The columns of a run that has no rows. */
export function emptyChart(candles = 0, from = 0, until = 0, step = 1): ChartColumns {
  return {
    ...{ candles, from, until, step },
    ...{ time: [], open: [], high: [], low: [], close: [], volume: [] },
    ...{ equity: [], drawdown: [], position: [], buy_hold: [] },
  };
}

/** Rows `from` to before `until`, in buckets of `step`. */
export interface Buckets {
  readonly from: number;
  readonly until: number;
  readonly step: number;
}

/** The buckets for a range, about `points` of them. They begin at multiples of their size, so that neighbouring ranges fit together. */
export function chooseBuckets(from: number, until: number, points: number): Buckets {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((until - from) / points)));
  return { from: Math.floor(from / step) * step, until, step };
}

/**
 * Merges rows into buckets: the first open, the highest high, the lowest low, the last close, equity and
 * position, the deepest drawdown, the sum of volumes.
 *
 * @param candles Those of the buckets; a row without a candle of its time has no prices.
 * @param firstClose Close of the run's first candle; NaN where it is not known.
 */
export function mergeRows(
  { time, equity, position, initialBalance }: RunRows,
  candles: Candles,
  firstClose: number,
  { from, until, step }: Buckets,
): ChartColumns {
  const merged = emptyChart(time.length, from, until, step);
  let peak = initialBalance;
  for (let i = 0; i < from; i++) peak = Math.max(peak, equity[i]!);
  let candle = 0;
  for (let start = from; start < until; start += step) {
    const end = Math.min(start + step, until);
    let drawdown = 0;
    for (let i = start; i < end; i++) {
      peak = Math.max(peak, equity[i]!);
      drawdown = Math.max(drawdown, (peak - equity[i]!) / peak);
    }
    while (candle < candles.time.length && candles.time[candle]! < time[start]!) candle++;
    const next = endOfBucket(candles.time, candle, time[end - 1]!);
    merged.time.push(time[start]!);
    merged.equity.push(equity[end - 1]!);
    merged.position.push(position[end - 1]!);
    merged.drawdown.push(drawdown);
    pushPrices(merged, candles, candle, next);
    const close = next > candle ? candles.close[next - 1]! : NaN;
    merged.buy_hold.push(finite(initialBalance * close / firstClose));
    candle = next;
  }
  return merged;
}

/** The index after the last candle that opens at `lastMs` or before. */
function endOfBucket(time: Float64Array, from: number, lastMs: number): number {
  let end = from;
  while (end < time.length && time[end]! <= lastMs) end++;
  return end;
}

function pushPrices(merged: ChartColumns, candles: Candles, from: number, until: number): void {
  let [high, low, volume] = [NaN, NaN, NaN];
  if (from < until) [high, low, volume] = [-Infinity, Infinity, 0];
  for (let i = from; i < until; i++) {
    high = Math.max(high, candles.high[i]!);
    low = Math.min(low, candles.low[i]!);
    volume += candles.volume[i]!;
  }
  merged.open.push(from < until ? finite(candles.open[from]!) : null);
  merged.high.push(finite(high));
  merged.low.push(finite(low));
  merged.close.push(from < until ? finite(candles.close[until - 1]!) : null);
  merged.volume.push(finite(volume));
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

import type { Candles } from "../../engine/candles.ts";
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

/** The columns of a run that has no rows. */
export function emptyChart(): ChartColumns {
  return {
    ...{ candles: 0, from: 0, until: 0, step: 1 },
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

/** The buckets of a run's curve, filled from its pieces in their order, so that one piece is in memory at a time. */
export class CurveBuckets {
  /** Open of the run's first candle; NaN before the first piece. */
  firstTime = NaN;
  /** Opens of each bucket's first and last candle. */
  readonly time: number[] = [];
  readonly lastTime: number[] = [];
  readonly equity: number[] = [];
  readonly drawdown: number[] = [];
  readonly position: number[] = [];
  readonly #buckets: Buckets;
  #peak: number;
  #row = 0;

  /** @param initialBalance Counts as the first peak. */
  constructor(initialBalance: number, buckets: Buckets) {
    this.#peak = initialBalance;
    this.#buckets = buckets;
  }

  /** Adds the next piece. @returns False once all buckets are full. */
  add({ time, equity, position }: EquityColumns): boolean {
    const { from, until, step } = this.#buckets;
    if (this.#row === 0) this.firstTime = time[0] ?? NaN;
    for (let i = 0; i < time.length && this.#row < until; i++, this.#row++) {
      const mark = equity[i]!;
      this.#peak = Math.max(this.#peak, mark);
      if (this.#row < from) continue;
      if ((this.#row - from) % step === 0) {
        this.time.push(time[i]!);
        this.drawdown.push(0);
      }
      const last = this.time.length - 1;
      this.lastTime[last] = time[i]!;
      this.equity[last] = mark;
      this.position[last] = position[i]!;
      this.drawdown[last] = Math.max(this.drawdown[last]!, (this.#peak - mark) / this.#peak);
    }
    return this.#row < until;
  }
}

/** The candles of a curve's buckets: the first open, the highest high, the lowest low, the last close, the sum of volumes. */
export class PriceBuckets {
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
  readonly #curve: CurveBuckets;
  #bucket = 0;

  constructor(curve: CurveBuckets) {
    const column = () => new Float64Array(curve.time.length).fill(NaN);
    [this.open, this.high, this.low, this.close, this.volume] = [column(), column(), column(), column(), column()];
    this.#curve = curve;
  }

  /** Adds the next candles; those outside of the buckets do not count. */
  add({ time, open, high, low, close, volume }: Candles): void {
    const { time: first, lastTime: last } = this.#curve;
    for (let i = 0; i < time.length; i++) {
      while (time[i]! > last[this.#bucket]!) this.#bucket++;
      const bucket = this.#bucket;
      if (bucket === last.length) return;
      if (time[i]! < first[bucket]!) continue;
      const isFirst = Number.isNaN(this.open[bucket]!);
      if (isFirst) this.open[bucket] = open[i]!;
      this.high[bucket] = isFirst ? high[i]! : Math.max(this.high[bucket]!, high[i]!);
      this.low[bucket] = isFirst ? low[i]! : Math.min(this.low[bucket]!, low[i]!);
      this.close[bucket] = close[i]!;
      this.volume[bucket] = isFirst ? volume[i]! : this.volume[bucket]! + volume[i]!;
    }
  }
}

/**
 * Puts a chart together.
 *
 * @param candles Of the whole run.
 * @param hold The initial balance, the benchmark's close of the run's first candle (NaN where it is not known), and its last close in each
 *   bucket.
 */
export function toChart(
  candles: number,
  buckets: Buckets,
  { time, equity, drawdown, position }: CurveBuckets,
  prices: PriceBuckets,
  hold: { readonly balance: number; readonly close: number; readonly closes: Float64Array },
): ChartColumns {
  const { open, high, low, close, volume } = prices;
  return {
    ...{ candles, ...buckets, time, equity, drawdown, position },
    open: finite(open),
    high: finite(high),
    low: finite(low),
    close: finite(close),
    volume: finite(volume),
    buy_hold: finite(hold.closes.map((last) => hold.balance * last / hold.close)),
  };
}

/** The values of a column; null for those that are not known. */
function finite(values: Float64Array): Prices {
  return Array.from(values, (value) => Number.isFinite(value) ? value : null);
}

import type { Candles } from "../../engine/candles.ts";
import { allocateCandles, sliceCandles } from "../archive/candle_columns.ts";
import type { Feed, FeedPart, FeedRequest } from "./feed.ts";
import { monthEnd, monthOf, TIMEFRAME_MS } from "../timeframes.ts";

/** The invented instrument that every service has from its first start. */
export const SAMPLE_INSTRUMENT = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  assetClass: "crypto",
  provider: "sample",
  timeframe: "1m",
  backfillFrom: "2024-01-01",
} as const;

/** Sample candles open in [start, end): 2024, a leap year, has 527,040 minutes. */
export const SAMPLE_RANGE = { start: Date.UTC(2024, 0, 1), end: Date.UTC(2025, 0, 1) } as const;

const MINUTES_A_DAY = 1440;
const SEED = 0x48696e64;
const FIRST_PRICE = 42_000;
const TICK = 0.01;
const VOLUME_STEP = 0.001;

// Per minute: 0.0007 is about 3% a day and 50% a year.
const VOLATILITY = 0.0007;
// The weights of the last move and of the past in the volatility (GARCH(1,1), Bollerslev 1986).
const SHOCK_WEIGHT = 0.02;
const MEMORY_WEIGHT = 0.975;
// The average length of a trend, and its largest drift a minute as a share of the volatility.
const TREND_MINUTES = 4_000;
const TREND_STRENGTH = 0.035;
// Activity by hour of the day, UTC: highest while both Europe and America trade.
// deno-fmt-ignore
const ACTIVITY = [
  0.8, 0.75, 0.7, 0.65, 0.65, 0.7, 0.8, 0.95, 1.05, 1.1, 1.05, 1.0,
  1.05, 1.25, 1.45, 1.5, 1.4, 1.25, 1.1, 1.05, 1.0, 0.95, 0.9, 0.85,
];

/**
 * A feed of one invented instrument, equal on every machine: it uses integer and IEEE arithmetic alone, because Math.log and Math.sin
 * differ between engines.
 */
export const SAMPLE_FEED: Feed = {
  name: "the sample",
  exchange: SAMPLE_INSTRUMENT.exchange,
  settleMs: 0,
  sourceTimeframe: () => SAMPLE_INSTRUMENT.timeframe,
  async *fetch({ timeframe, start, end, signal }: FeedRequest): AsyncGenerator<FeedPart> {
    if (timeframe !== SAMPLE_INSTRUMENT.timeframe) {
      throw new RangeError(
        `Cannot generate ${timeframe} sample candles: they are made as ${SAMPLE_INSTRUMENT.timeframe}`,
      );
    }
    let from = start;
    for (const month of generateSample()) {
      signal?.throwIfAborted();
      const first = month.time[0]!;
      const until = first + month.time.length * TIMEFRAME_MS["1m"];
      if (until <= from || first >= end) continue;
      const [low, high] = [Math.max(from, first), Math.min(end, until)];
      const index = (time: number) => (time - first) / TIMEFRAME_MS["1m"];
      yield { start: from, end: high, candles: sliceCandles(month, index(low), index(high)) };
      from = high;
      // A month is a long computation: let other tasks run between months.
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    if (from < end) yield { start: from, end, candles: allocateCandles(0) };
  },
};

/** The sample's candles, a month at a time. */
export function* generateSample(): Generator<Candles> {
  const market = new SampleMarket();
  for (let time: number = SAMPLE_RANGE.start; time < SAMPLE_RANGE.end;) {
    const until = Math.min(monthEnd(monthOf(time)), SAMPLE_RANGE.end);
    const candles = allocateCandles((until - time) / TIMEFRAME_MS["1m"]);
    for (let i = 0; time < until; i++, time += TIMEFRAME_MS["1m"]) market.write(candles, i, time);
    yield candles;
  }
}

/** Random walk with trends, volatility that comes in clusters, and volume that follows both. */
class SampleMarket {
  readonly #random = new Random(SEED);
  #price = FIRST_PRICE;
  /** Variance of a minute's return, as a multiple of the average. */
  #variance = 1;
  #trend = 0;

  write(candles: Candles, at: number, time: number): void {
    const random = this.#random;
    if (random.uniform() * TREND_MINUTES < 1) {
      // The price tends back to its start, so that a chart of the year stays readable.
      const pull = (FIRST_PRICE - this.#price) / (FIRST_PRICE + this.#price);
      this.#trend = TREND_STRENGTH * (2 * random.uniform() - 1 + pull);
    }
    const minute = Math.floor(time / TIMEFRAME_MS["1m"]) % MINUTES_A_DAY;
    const activity = ACTIVITY[Math.floor(minute / 60)]!;
    const sigma = VOLATILITY * activity * Math.sqrt(this.#variance);
    const shock = random.normal();
    const open = roundTo(this.#price * (1 + 0.05 * sigma * random.normal()), TICK);
    const close = roundTo(open * (1 + sigma * (shock + this.#trend)), TICK);
    candles.time[at] = time;
    candles.open[at] = open;
    candles.close[at] = close;
    candles.high[at] = roundTo(Math.max(open, close) * (1 + 0.7 * sigma * random.uniform()), TICK);
    candles.low[at] = roundTo(Math.min(open, close) * (1 - 0.7 * sigma * random.uniform()), TICK);
    const excitement = 0.4 + Math.abs(shock) + 0.5 * this.#variance;
    candles.volume[at] = roundTo(12 * activity * excitement * (0.3 + random.uniform()), VOLUME_STEP);
    this.#price = close;
    this.#variance = 1 - SHOCK_WEIGHT - MEMORY_WEIGHT + this.#variance * (MEMORY_WEIGHT + SHOCK_WEIGHT * shock * shock);
  }
}

function roundTo(value: number, step: number): number {
  // Dividing by a whole number gives the double nearest to the decimal; multiplying by 0.01 would not.
  const steps = Math.round(1 / step);
  return Math.round(value * steps) / steps;
}

/** Mulberry32, a small generator of 32-bit states (Tommy Ettinger, 2017, public domain). */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Mean 0, variance 1, nearly normal: a sum of four uniforms (variance 4/12) needs no logarithm. */
  normal(): number {
    return (this.uniform() + this.uniform() + this.uniform() + this.uniform() - 2) * Math.sqrt(3);
  }
}

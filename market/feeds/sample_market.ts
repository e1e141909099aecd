import type { Candles } from "../../engine/candles.ts";
import { roundTo, SampleRandom } from "./sample_random.ts";

const TICK = 0.01;
// The weights of the last move and of the past in the volatility of minutes and of days (GARCH(1,1), Bollerslev 1986).
const MINUTE_SHOCK_WEIGHT = 0.02;
const MINUTE_MEMORY_WEIGHT = 0.975;
const DAY_SHOCK_WEIGHT = 0.14;
const DAY_MEMORY_WEIGHT = 0.84;
// News: one minute in JUMP_MINUTES moves JUMP_SIZE times as far.
const JUMP_MINUTES = 1_500;
const JUMP_SIZE = 12;
// And so does one night in a few; its news do not make the days after it as wild.
const SURPRISE_MAX = 6;
const NEWS_NIGHTS = 60;
const NEWS_SIZE = 5;
// The average length of a trend, and its largest drift a minute as a share of the volatility: too weak to be worth a trade.
const TREND_MINUTES = 4_000;
const TREND_STRENGTH = 0.006;

export interface MarketShape {
  readonly seed: number;
  readonly firstPrice: number;
  /** Of a minute: 0.0007 is about 3% a day around the clock and 50% a year. */
  readonly volatility: number;
  /** Of the move between two days. */
  readonly gapVolatility: number;
  /** The average volume of a minute, and its smallest step. */
  readonly volume: number;
  readonly volumeStep: number;
}

/** A random walk whose volatility comes in clusters of minutes and of days, with news, and with volume that follows both. */
export class SampleMarket {
  readonly #shape: MarketShape;
  readonly #random: SampleRandom;
  #price: number;
  /** Variances of a minute's and a day's return, as multiples of the average. */
  #variance = 1;
  #dayVariance = 1;
  #dayOpen: number;
  #trend = 0;

  constructor(shape: MarketShape) {
    this.#shape = shape;
    this.#random = new SampleRandom(shape.seed);
    this.#price = this.#dayOpen = shape.firstPrice;
  }

  /** Ends a day of some minutes: the next one is as wild as this one was, in part, and may open elsewhere. */
  endDay(minutes: number): void {
    const { volatility, gapVolatility } = this.#shape;
    const move = this.#price / this.#dayOpen - 1;
    const surprise = move * move / (volatility * volatility * minutes + gapVolatility * gapVolatility);
    this.#dayVariance = 1 - DAY_SHOCK_WEIGHT - DAY_MEMORY_WEIGHT + DAY_MEMORY_WEIGHT * this.#dayVariance +
      DAY_SHOCK_WEIGHT * Math.min(surprise, SURPRISE_MAX);
    this.#dayOpen = this.#price;
    if (gapVolatility === 0) return;
    const size = this.#random.uniform() * NEWS_NIGHTS < 1 ? NEWS_SIZE : 1;
    this.#price *= 1 + size * gapVolatility * Math.sqrt(this.#dayVariance) * this.#random.normal();
  }

  /** Writes the candle of one minute. @param activity 1 is the average. */
  write(candles: Candles, at: number, time: number, activity: number): void {
    const random = this.#random;
    const { firstPrice, volatility, volume, volumeStep } = this.#shape;
    if (random.uniform() * TREND_MINUTES < 1) {
      // The price tends back to its start, so that a chart of the year stays readable.
      const pull = (firstPrice - this.#price) / (firstPrice + this.#price);
      this.#trend = TREND_STRENGTH * (2 * random.uniform() - 1 + pull);
    }
    const sigma = volatility * activity * Math.sqrt(this.#variance * this.#dayVariance);
    const calm = random.normal();
    const shock = random.uniform() * JUMP_MINUTES < 1 ? calm * JUMP_SIZE : calm;
    const open = roundTo(this.#price * (1 + 0.05 * sigma * random.normal()), TICK);
    const close = roundTo(open * (1 + sigma * (shock + this.#trend)), TICK);
    candles.time[at] = time;
    candles.open[at] = open;
    candles.close[at] = close;
    candles.high[at] = roundTo(Math.max(open, close) * (1 + 0.7 * sigma * random.uniform()), TICK);
    candles.low[at] = roundTo(Math.min(open, close) * (1 - 0.7 * sigma * random.uniform()), TICK);
    const excitement = 0.4 + Math.abs(shock) + 0.5 * this.#variance;
    candles.volume[at] = roundTo(volume * activity * excitement * (0.3 + random.uniform()), volumeStep);
    this.#price = close;
    this.#variance = 1 - MINUTE_SHOCK_WEIGHT - MINUTE_MEMORY_WEIGHT +
      this.#variance * (MINUTE_MEMORY_WEIGHT + MINUTE_SHOCK_WEIGHT * calm * calm);
  }
}

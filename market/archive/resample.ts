import type { Candles } from "../../engine/candles.ts";
import { UTC_DAYS } from "../calendar/exchange_sessions.ts";
import { tradingDaysOf } from "../calendar/trading_days.ts";
import { isDaily, shortestMs, type Timeframe } from "../timeframes.ts";
import { Buckets } from "./buckets.ts";
import { allocateCandles, concatCandles, sliceCandles } from "./candle_columns.ts";

/**
 * Makes coarser candles from finer ones that arrive in parts, oldest first.
 *
 * A bucket without a finer candle stays absent. A candle outside of the session is left out, unless it reaches into the session: hours of
 * the clock begin half an hour before New York opens. A stored day that is no trading day, such as a Sunday of forex, goes to the next one.
 */
export class Resampler {
  readonly #buckets: Buckets;
  readonly #sourceMs: number;
  readonly #isDated: boolean;
  /** The segment of the last candle, and the label of its bucket: NaN outside of the session. */
  #start = NaN;
  #end = NaN;
  #label = NaN;
  /** The unfinished bucket, as a single row. */
  readonly #open = allocateCandles(1);
  #hasOpen = false;
  /** Opens of the first and the last source candle of each finished bucket, and of the open one. */
  readonly #firsts: number[] = [];
  readonly #lasts: number[] = [];
  #first = NaN;
  #last = NaN;

  /** @param source The timeframe of the candles that arrive. */
  constructor(buckets: Buckets, source: Timeframe) {
    this.#buckets = buckets;
    this.#sourceMs = shortestMs(source);
    this.#isDated = isDaily(source);
  }

  /** Takes candles and returns the buckets that they finish; a bucket is finished by the first candle of a later one. */
  push(candles: Candles): Candles {
    const { time, open, high, low, close, volume } = candles;
    const made = allocateCandles(time.length);
    const row = this.#open;
    let count = 0;
    for (let i = 0; i < time.length; i++) {
      if (!(time[i]! >= this.#start && time[i]! < this.#end)) this.#seek(time[i]!);
      const label = this.#label;
      if (this.#hasOpen && row.time[0] === label) {
        if (high[i]! > row.high[0]!) row.high[0] = high[i]!;
        if (low[i]! < row.low[0]!) row.low[0] = low[i]!;
        row.close[0] = close[i]!;
        row.volume[0]! += volume[i]!;
        this.#last = time[i]!;
        continue;
      }
      if (Number.isNaN(label)) continue;
      if (this.#hasOpen) this.#take(made, count++);
      this.#hasOpen = true;
      this.#first = this.#last = time[i]!;
      row.time[0] = label;
      row.open[0] = open[i]!;
      row.high[0] = high[i]!;
      row.low[0] = low[i]!;
      row.close[0] = close[i]!;
      row.volume[0] = volume[i]!;
    }
    return sliceCandles(made, 0, count);
  }

  /** Returns the last bucket, if any. Call it after the last candle. */
  flush(): Candles {
    const made = allocateCandles(this.#hasOpen ? 1 : 0);
    if (this.#hasOpen) this.#take(made, 0);
    this.#hasOpen = false;
    return made;
  }

  /** Opens of the first and of the last source candle of each bucket that was returned since the last call. */
  takeSources(): [first: Float64Array, last: Float64Array] {
    return [Float64Array.from(this.#firsts.splice(0)), Float64Array.from(this.#lasts.splice(0))];
  }

  #seek(time: number): void {
    let { start, end, label } = this.#buckets.segmentAt(time);
    if (label === null && (this.#isDated || time + this.#sourceMs > end)) {
      ({ end, label } = this.#buckets.segmentAt(end));
    } else if (label === null) {
      // The candles that reach into the session need a look of their own.
      end = Math.max(start + 1, end - this.#sourceMs + 1);
    }
    [this.#start, this.#end, this.#label] = [start, end, label ?? NaN];
  }

  #take(target: Candles, at: number): void {
    const row = this.#open;
    this.#firsts.push(this.#first);
    this.#lasts.push(this.#last);
    target.time[at] = row.time[0]!;
    target.open[at] = row.open[0]!;
    target.high[at] = row.high[0]!;
    target.low[at] = row.low[0]!;
    target.close[at] = row.close[0]!;
    target.volume[at] = row.volume[0]!;
  }
}

/** Resamples complete candles at once, in days of UTC. @param source The timeframe of the candles. */
export function resampleAll(candles: Candles, source: Timeframe, timeframe: Timeframe): Candles {
  const resampler = new Resampler(new Buckets(tradingDaysOf(UTC_DAYS), timeframe), source);
  return concatCandles([resampler.push(candles), resampler.flush()]);
}

import type { Candles } from "../../engine/candles.ts";
import { allocateCandles, concatCandles, sliceCandles } from "./candle_columns.ts";
import { bucketOrigin, type Timeframe, TIMEFRAMES } from "../timeframes.ts";

/**
 * Makes coarser candles from finer ones that arrive in parts, oldest first.
 *
 * A bucket without a finer candle stays absent.
 */
export class Resampler {
  readonly #lengthMs: number;
  readonly #originMs: number;
  /** The unfinished bucket, as a single row. */
  readonly #open = allocateCandles(1);
  #hasOpen = false;

  constructor(timeframe: Timeframe) {
    this.#lengthMs = TIMEFRAMES[timeframe];
    this.#originMs = bucketOrigin(timeframe);
  }

  /** Takes candles and returns the buckets that they finish; a bucket is finished by the first candle of a later one. */
  push(candles: Candles): Candles {
    const { time, open, high, low, close, volume } = candles;
    const made = allocateCandles(time.length);
    const row = this.#open;
    let count = 0;
    for (let i = 0; i < time.length; i++) {
      const start = Math.floor((time[i]! - this.#originMs) / this.#lengthMs) * this.#lengthMs + this.#originMs;
      if (this.#hasOpen && row.time[0] === start) {
        if (high[i]! > row.high[0]!) row.high[0] = high[i]!;
        if (low[i]! < row.low[0]!) row.low[0] = low[i]!;
        row.close[0] = close[i]!;
        row.volume[0]! += volume[i]!;
        continue;
      }
      if (this.#hasOpen) this.#take(made, count++);
      this.#hasOpen = true;
      row.time[0] = start;
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

  #take(target: Candles, at: number): void {
    const row = this.#open;
    target.time[at] = row.time[0]!;
    target.open[at] = row.open[0]!;
    target.high[at] = row.high[0]!;
    target.low[at] = row.low[0]!;
    target.close[at] = row.close[0]!;
    target.volume[at] = row.volume[0]!;
  }
}

/** Resamples complete candles at once. */
export function resampleAll(candles: Candles, timeframe: Timeframe): Candles {
  const resampler = new Resampler(timeframe);
  return concatCandles([resampler.push(candles), resampler.flush()]);
}

import type { Candles } from "./candles.ts";
import type { Simulation } from "./simulation.ts";
import { Walk } from "./walk.ts";

/**
 * What happens inside a candle, told by finer candles where there are some (bothTouched `magnify`): each of them is walked
 * in turn by the rules of walk.ts, and what they still leave open falls to the stop. Without them the candle itself is
 * walked.
 */
export class Replay {
  readonly #candles: Candles;
  readonly #finer: Candles | null;
  readonly #timeframeMs: number;
  readonly #walk: Walk;
  /** Candles in which things happened on both sides of the open, and no finer candles told which came first. */
  unreplayedCandles = 0;

  constructor(sim: Simulation, finer: Candles | null, timeframeMs: number) {
    this.#candles = sim.candles;
    this.#finer = finer;
    this.#timeframeMs = timeframeMs;
    this.#walk = new Walk(sim);
  }

  /** Walks candle `i`. */
  candle(i: number): void {
    const { time, open, high, low, close } = this.#candles;
    const walk = this.#walk;
    const finer = this.#finer;
    const until = time[i]! + this.#timeframeMs;
    let k = finer === null ? 0 : firstFrom(finer.time, time[i]!);
    if (finer === null || !(finer.time[k]! < until)) {
      walk.open = open[i]!;
      walk.high = high[i]!;
      walk.low = low[i]!;
      walk.close = close[i]!;
      walk.step(i, true);
      if (walk.isContested) this.unreplayedCandles++;
      return;
    }
    // The first finer candle may be missing; market orders were filled at the open of the whole.
    walk.open = open[i]!;
    for (let isFirst = true; finer.time[k]! < until; isFirst = false, k++) {
      if (!isFirst) walk.open = finer.open[k]!;
      walk.high = Math.max(finer.high[k]!, walk.open);
      walk.low = Math.min(finer.low[k]!, walk.open);
      walk.close = finer.close[k]!;
      walk.step(i, isFirst);
    }
  }
}

/** Index of the first time that is not before `timeMs`; the length when all are. */
function firstFrom(times: Float64Array, timeMs: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

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
    const finer = this.#finer;
    const until = time[i]! + this.#timeframeMs;
    let k = finer === null ? 0 : firstFrom(finer.time, time[i]!);
    if (finer === null || !(finer.time[k]! < until)) {
      this.#walk.step(i, open[i]!, high[i]!, low[i]!, close[i]!, true);
      if (this.#walk.isContested) this.unreplayedCandles++;
      return;
    }
    // The first finer candle may be missing; market orders were filled at the open of the whole.
    let openPrice = open[i]!;
    for (let isFirst = true; finer.time[k]! < until; isFirst = false, k++) {
      if (!isFirst) openPrice = finer.open[k]!;
      const highest = Math.max(finer.high[k]!, openPrice);
      this.#walk.step(i, openPrice, highest, Math.min(finer.low[k]!, openPrice), finer.close[k]!, isFirst);
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

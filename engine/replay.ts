import type { Candles } from "./candles.ts";
import { candleClose } from "./time/durations.ts";
import type { Walk } from "./walk.ts";

/**
 * Walks the inside of a candle through finer candles (bothTouched `magnify`), each by the rules of walk.ts; the stop comes
 * first where they leave the order open. Without finer candles, or where they do not reach exactly as far as the candle,
 * it walks the candle itself.
 */
export class Replay {
  readonly #candles: Candles;
  readonly #finer: Candles | null;
  readonly #timeframeMs: number | null;
  readonly #walk: Walk;
  /** Candles with events on both sides of the open whose order no finer candles show. */
  unreplayedCandles = 0;

  constructor(candles: Candles, finer: Candles | null, timeframeMs: number | null, walk: Walk) {
    this.#candles = candles;
    this.#finer = finer;
    this.#timeframeMs = timeframeMs;
    this.#walk = walk;
  }

  /** Walks candle `i`. */
  candle(i: number): void {
    if (this.#finer === null || !this.#replays(i, this.#finer)) this.#walkWhole(i);
  }

  /** Exits that the open of candle `i` has passed. Finer candles may order them otherwise: then they wait. */
  exitPassed(i: number): void {
    if (this.#finer !== null) return;
    this.#see(i);
    this.#walk.exitPassed(i);
  }

  #see(i: number): void {
    const { open, high, low, close } = this.#candles;
    const walk = this.#walk;
    walk.open = open[i]!;
    walk.high = high[i]!;
    walk.low = low[i]!;
    walk.close = close[i]!;
  }

  #walkWhole(i: number): void {
    const walk = this.#walk;
    this.#see(i);
    walk.step(i, true);
    if (walk.isContested) this.unreplayedCandles++;
  }

  /** Walks the finer candles of candle `i`; false when they do not cover it. */
  #replays(i: number, finer: Candles): boolean {
    const { time, open } = this.#candles;
    const walk = this.#walk;
    const until = candleClose(time[i]!, this.#timeframeMs);
    const first = firstFrom(finer.time, time[i]!);
    if (!this.#isWhole(i, finer, first, until)) return false;
    // The first finer candle may be missing: market orders were filled at the open of the whole candle.
    walk.open = open[i]!;
    for (let k = first; finer.time[k]! < until; k++) {
      if (k > first) walk.open = finer.open[k]!;
      walk.high = Math.max(finer.high[k]!, walk.open);
      walk.low = Math.min(finer.low[k]!, walk.open);
      walk.close = finer.close[k]!;
      walk.step(i, k === first);
    }
    return true;
  }

  /**
   * True if there are finer candles, and they reach exactly as far as candle `i`. If the one with the high or the low is
   * missing, a stop that was reached there would be overlooked.
   */
  #isWhole(i: number, finer: Candles, first: number, until: number): boolean {
    const { open, high, low } = this.#candles;
    let highest = open[i]!;
    let lowest = open[i]!;
    let k = first;
    for (; finer.time[k]! < until; k++) {
      highest = Math.max(highest, finer.high[k]!);
      lowest = Math.min(lowest, finer.low[k]!);
    }
    return k > first && highest === high[i]! && lowest === low[i]!;
  }
}

/** Index of the first time at or after `timeMs`; the length when there is none. */
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

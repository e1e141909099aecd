import type { EquityColumns } from "../../db/codec/result_parts.ts";

/** Several curves at shared times; each curve has a value or null at each. */
interface SharedCurves {
  /** Milliseconds since 1970, rising. */
  readonly time: readonly number[];
  readonly equity: readonly (readonly (number | null)[])[];
  readonly drawdown: readonly (readonly (number | null)[])[];
}

interface Drawn {
  readonly equity: Float64Array;
  readonly drawdown: Float64Array;
}

/**
 * Thins curves to shared times: the common start, and the last candle of each of some stretches of equal duration after it. A stretch
 * without a candle of any curve has no time, so that few candles are shown as they are.
 */
export class CurveGrid {
  readonly #start: number;
  readonly #stretchMs: number;
  /** The last candle of each stretch; -Infinity where there is none. */
  readonly #time: Float64Array;
  readonly #drawn: Drawn[] = [];

  /** @param start The common start, and `end` the last candle of all, milliseconds since 1970. @param points Times at most, 2 at least. */
  constructor({ start, end, points }: { readonly start: number; readonly end: number; readonly points: number }) {
    this.#start = start;
    this.#stretchMs = Math.max(1, (end - start) / (points - 1));
    this.#time = new Float64Array(points).fill(-Infinity);
    this.#time[0] = start;
  }

  /**
   * Draws the next curve: its equity is 1 at its first candle from the start on, and known until its last one. Its drawdown is the deepest
   * of the stretch, against the highest equity since the start.
   *
   * @param pieces The curve, oldest first.
   */
  async draw(pieces: AsyncIterable<EquityColumns>): Promise<void> {
    const points = this.#time.length;
    const equity = new Float64Array(points).fill(NaN);
    const drawdown = new Float64Array(points).fill(NaN);
    let [base, peak, now, place] = [NaN, 1, 1, 0];
    for await (const { time, equity: marks } of pieces) {
      for (let i = 0; i < time.length; i++) {
        const timeMs = time[i]!;
        if (timeMs < this.#start) continue;
        if (Number.isNaN(base)) {
          base = marks[i]!;
          equity[0] = 1;
          drawdown[0] = 0;
        }
        const stretch = timeMs === this.#start ? 0 : this.#stretchOf(timeMs);
        if (stretch > place + 1) {
          // Nothing moves while the curve has no candle.
          equity.fill(now, place + 1, stretch);
          drawdown.fill((peak - now) / peak, place + 1, stretch);
        }
        now = marks[i]! / base;
        peak = Math.max(peak, now);
        const deepest = stretch > place ? 0 : drawdown[place]!;
        place = stretch;
        equity[place] = now;
        drawdown[place] = Math.max(deepest, (peak - now) / peak);
        this.#time[place] = Math.max(this.#time[place]!, timeMs);
      }
    }
    this.#drawn.push({ equity, drawdown });
  }

  /** The curves in the order in which they were drawn. */
  read(): SharedCurves {
    const kept = [...this.#time.keys()].filter((i) => this.#time[i]! > -Infinity);
    const pick = (values: Float64Array) => kept.map((i) => Number.isFinite(values[i]!) ? values[i]! : null);
    return {
      time: kept.map((i) => this.#time[i]!),
      equity: this.#drawn.map(({ equity }) => pick(equity)),
      drawdown: this.#drawn.map(({ drawdown }) => pick(drawdown)),
    };
  }

  #stretchOf(timeMs: number): number {
    return 1 + Math.min(this.#time.length - 2, Math.floor((timeMs - this.#start) / this.#stretchMs));
  }
}

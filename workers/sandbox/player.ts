import type { BufferPool } from "../../engine/buffer_pool.ts";
import type { Candles } from "../../engine/candles.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";

/** A strategy of which each simulation has a new instance, which must not know the last one. */
export abstract class InstanceStrategy<
  Guest extends { readonly warmup: number; readonly hasScore: boolean },
  Player extends { score(i: number): number },
> {
  readonly warmup: number;
  /** Absent: its code says nothing of how good an entry would be. */
  readonly score?: (i: number) => number;
  readonly #makeGuest: () => Guest;
  #first: Guest | null;
  protected player: Player | null = null;

  /**
   * @param makeGuest Makes an instance: one now, and another for each further simulation.
   * @param candlesMin Candles before the first decision, even if the guest's warm-up is shorter.
   * @throws {RunError} When no instance can be made.
   */
  constructor(makeGuest: () => Guest, candlesMin: number) {
    this.#makeGuest = makeGuest;
    this.#first = makeGuest();
    this.warmup = Math.max(1, candlesMin, this.#first.warmup);
    if (this.#first.hasScore) this.score = (i) => this.player?.score(i) ?? NaN;
  }

  /** Has an instance play these candles. @throws {RunError} When it cannot. */
  prepare(candles: Candles, _pool?: BufferPool | null, days: TradingDayColumns | null = null): void {
    const first = this.#first;
    this.#first = null;
    // Release the last instance before making another: its memory may be large.
    this.player = null;
    this.player = this.play(first ?? this.#makeGuest(), candles, days);
  }

  protected abstract play(guest: Guest, candles: Candles, days: TradingDayColumns | null): Player;
}

/** A candle in the messages of failed runs. */
export function nameCandle({ time }: Candles, i: number): string {
  return `candle ${i} (${new Date(time[i]!).toISOString()})`;
}

/**
 * Rows of a column: the number of candles rounded up to four binary digits, at least 1,024.
 *
 * A guest sees the requested size before the first candle. Rounding keeps it from learning when the run ends.
 */
export function roundCapacity(candlesCount: number): number {
  const step = 2 ** Math.max(7, Math.floor(Math.log2(Math.max(candlesCount, 1))) - 3);
  return Math.max(1024, Math.ceil(candlesCount / step) * step);
}

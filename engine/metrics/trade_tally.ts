import { Sum } from "./moments.ts";

/** The sums and extremes of a run's trades, which are added one after the other, in order of entry and then of exit. */
export class TradeTally {
  closed = 0;
  counted = 0;
  ambiguous = 0;
  wins = 0;
  losses = 0;
  maxConsecutiveWins = 0;
  maxConsecutiveLosses = 0;
  /** Candles in which a trade was open at any moment. */
  exposedCandles = 0;
  bestReturn = -Infinity;
  worstReturn = Infinity;
  daysMax = -Infinity;
  readonly won = new Sum();
  readonly lost = new Sum();
  readonly returns = new Sum();
  readonly winReturns = new Sum();
  readonly lossReturns = new Sum();
  readonly days = new Sum();
  readonly #pnl: Float64Array;
  /** Consecutive wins above zero, losses below. */
  #series = 0;
  #lastExposed = -1;

  /** @param trades How many there will be. */
  constructor(trades: number) {
    this.#pnl = new Float64Array(trades);
  }

  /** The money of each closed trade. */
  get pnl(): Float64Array {
    return this.#pnl.subarray(0, this.closed);
  }

  /** Counts a trade, closed or not, with its first and its last candle. */
  count(entryIndex: number, exitIndex: number, isAmbiguous: boolean): void {
    this.counted++;
    if (isAmbiguous) this.ambiguous++;
    const from = Math.max(entryIndex, this.#lastExposed + 1);
    if (exitIndex < from) return;
    this.exposedCandles += exitIndex - from + 1;
    this.#lastExposed = exitIndex;
  }

  /** Adds the result of a closed trade: money, a fraction, days. A pnl of exactly zero is neither a win nor a loss. */
  close(pnl: number, fraction: number, days: number): void {
    this.#pnl[this.closed++] = pnl;
    this.returns.add(fraction);
    this.days.add(days);
    this.bestReturn = Math.max(this.bestReturn, fraction);
    this.worstReturn = Math.min(this.worstReturn, fraction);
    this.daysMax = Math.max(this.daysMax, days);
    if (pnl > 0) {
      this.wins++;
      this.won.add(pnl);
      this.winReturns.add(fraction);
      this.#series = Math.max(this.#series, 0) + 1;
      if (this.#series > this.maxConsecutiveWins) this.maxConsecutiveWins = this.#series;
    } else if (pnl < 0) {
      this.losses++;
      this.lost.add(pnl);
      this.lossReturns.add(fraction);
      this.#series = Math.min(this.#series, 0) - 1;
      if (-this.#series > this.maxConsecutiveLosses) this.maxConsecutiveLosses = -this.#series;
    } else this.#series = 0;
  }
}

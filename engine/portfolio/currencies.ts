import type { RateColumns } from "./portfolio.ts";

/** The rates of currencies as time goes on. */
export class Currencies {
  readonly #columns: readonly RateColumns[];
  /** The newest rate's row, by currency. */
  readonly #rows: Int32Array;

  constructor(columns: readonly RateColumns[]) {
    this.#columns = columns;
    this.#rows = new Int32Array(columns.length);
  }

  /** The newest rate at an instant, which a run has: its rates begin before its markets do. */
  rateAt(currency: number, instant: number): number {
    const { time, rate } = this.#columns[currency]!;
    let row = this.#rows[currency]!;
    while (row > 0 && time[row]! > instant) row--;
    while (row + 1 < time.length && time[row + 1]! <= instant) row++;
    this.#rows[currency] = row;
    return rate[row]!;
  }
}

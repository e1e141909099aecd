import { type BufferPool, takeDoubles, takeIntegers } from "./buffer_pool.ts";
import { ChunkedRows } from "./chunked_rows.ts";

/**
 * Cash and units at the closes of a run, a row wherever either changes. From `from` on, up to the next row's, the equity at each close is
 * `cash + units * close`, to the bit.
 */
export interface Balances {
  /** Rows of the run's equity, ascending; the first is 0. */
  readonly from: Int32Array;
  readonly cash: Float64Array;
  /** Negative when short. */
  readonly units: Float64Array;
}

// The values of a row.
const FROM = 0;
const CASH = 1;
const UNITS = 2;
const WIDTH = 3;

/** Notes the balances of an account as it is marked at one close after the other. */
export class BalanceLog {
  readonly #pool: BufferPool | null;
  readonly #rows: ChunkedRows;
  readonly #isKept: boolean;
  #from = -1;
  #cash = NaN;
  #units = NaN;

  /** @param initialBalance The account's cash before the first candle. @param isKept False: it stays empty. */
  constructor(initialBalance: number, pool: BufferPool | null, isKept: boolean) {
    this.#pool = pool;
    this.#isKept = isKept;
    this.#rows = new ChunkedRows(WIDTH, pool);
    this.mark(0, initialBalance, 0);
  }

  /** Notes the balances at the close of a row; those of the same row replace the earlier ones. */
  mark(from: number, cash: number, units: number): void {
    if (!this.#isKept || (cash === this.#cash && units === this.#units)) return;
    const row = from === this.#from ? this.#rows.count - 1 : this.#rows.append();
    const to = this.#rows.chunkOf(row);
    const at = this.#rows.placeOf(row);
    to[at + FROM] = this.#from = from;
    to[at + CASH] = this.#cash = cash;
    to[at + UNITS] = this.#units = units;
  }

  finish(): Balances {
    const { count } = this.#rows;
    const from = takeIntegers(this.#pool, count);
    const cash = takeDoubles(this.#pool, count);
    const units = takeDoubles(this.#pool, count);
    for (let row = 0; row < count; row++) {
      const values = this.#rows.chunkOf(row);
      const at = this.#rows.placeOf(row);
      from[row] = values[at + FROM]!;
      cash[row] = values[at + CASH]!;
      units[row] = values[at + UNITS]!;
    }
    return { from, cash, units };
  }
}

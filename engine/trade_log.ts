import { type BufferPool, takeBuffer, takeDoubles } from "./buffer_pool.ts";
import { ChunkedColumns, ColumnMemory, placeOf } from "./chunked_columns.ts";
import type { Excursions } from "./excursions.ts";
import type { Fill } from "./fill.ts";
import type { OpenTrade } from "./open_trade.ts";
import { STILL_OPEN, type TradeColumns } from "./trade_columns.ts";

/** One row of the log: a trade, or the part of it that one exit closed. Indexes are candles. */
const newColumns = (memory: ColumnMemory) => ({
  number: memory.integers(),
  order: memory.integers(),
  entryIndex: memory.integers(),
  exitIndex: memory.integers(),
  side: memory.sides(),
  reason: memory.codes(),
  ambiguous: memory.codes(),
  quantity: memory.doubles(),
  entryPrice: memory.doubles(),
  exitPrice: memory.doubles(),
  fees: memory.doubles(),
  pnl: memory.doubles(),
  mae: memory.doubles(),
  mfe: memory.doubles(),
});

type Columns = ReturnType<typeof newColumns>;

/** The trades of a run, in order of their exits until `finish` sorts them. */
export class TradeLog {
  readonly #pool: BufferPool | null;
  readonly #rows: ChunkedColumns<Columns>;
  #isSorted = true;
  #lastNumber = -1;

  constructor(pool: BufferPool | null) {
    this.#pool = pool;
    this.#rows = new ChunkedColumns<Columns>(newColumns, pool);
  }

  get count(): number {
    return this.#rows.count;
  }

  /** Adds the part of a trade that a fill has closed. @param reason Index into EXIT_REASONS, or STILL_OPEN. */
  append(trade: OpenTrade, side: number, fill: Fill, reason: number, { mae, mfe }: Excursions): void {
    const { units, price } = fill;
    const share = units / trade.quantity;
    const fees = trade.fees * share + fill.fee;
    const row = this.#rows.append();
    const to = this.#rows.chunkOf(row);
    const at = placeOf(row);
    if (trade.number < this.#lastNumber) this.#isSorted = false;
    this.#lastNumber = trade.number;
    to.number[at] = trade.number;
    to.order[at] = trade.order;
    to.entryIndex[at] = trade.entryIndex;
    to.exitIndex[at] = fill.index;
    to.side[at] = side;
    to.reason[at] = reason;
    to.ambiguous[at] = trade.isAmbiguous ? 1 : 0;
    to.quantity[at] = units;
    to.entryPrice[at] = trade.price;
    to.exitPrice[at] = price;
    if (reason === STILL_OPEN) to.exitPrice[at] = NaN;
    to.fees[at] = fees;
    to.pnl[at] = side * units * (price - trade.price) - fees + trade.financing * share;
    to.mae[at] = mae;
    to.mfe[at] = mfe;
  }

  /** Adds to the pnl of the last `rows` rows, in proportion to their quantities. */
  credit(rows: number, money: number): void {
    const first = this.count - rows;
    let quantity = 0;
    for (let row = first; row < this.count; row++) quantity += this.#rows.chunkOf(row).quantity[placeOf(row)]!;
    for (let row = first; row < this.count; row++) {
      const to = this.#rows.chunkOf(row);
      const at = placeOf(row);
      to.pnl[at] = to.pnl[at]! + money * to.quantity[at]! / quantity;
    }
  }

  /** Number of candles in which a trade was open at any moment. */
  exposedCandles(): number {
    const order = this.#order();
    let exposed = 0;
    let counted = -1;
    for (let k = 0; k < this.count; k++) {
      const row = order === null ? k : order[k]!;
      const { entryIndex, exitIndex } = this.#rows.chunkOf(row);
      const from = Math.max(entryIndex[placeOf(row)]!, counted + 1);
      const until = exitIndex[placeOf(row)]!;
      if (until < from) continue;
      exposed += until - from + 1;
      counted = until;
    }
    return exposed;
  }

  /**
   * Returns the log as columns: closed trades in order of entry and then of exit, open trades last.
   *
   * @param orderTags Indexed by the orders' numbers: a trade has the tag of the order that opened it.
   */
  finish(time: Float64Array, orderTags: readonly (string | null)[]): TradeColumns {
    const { count } = this;
    const order = this.#order();
    const all = this.#rows.gather();
    const rows = order === null ? all : picked(all, closedBeforeOpen(order, all.reason), this.#pool);
    const { quantity, entryPrice, exitPrice, pnl } = rows;
    const fraction = takeDoubles(this.#pool, count);
    const candles = new Int32Array(takeBuffer(this.#pool, count * Int32Array.BYTES_PER_ELEMENT), 0, count);
    const entryTime = takeDoubles(this.#pool, count);
    const exitTime = takeDoubles(this.#pool, count);
    const tag = new Array<string | null>(count).fill(null);
    for (let k = 0; k < count; k++) {
      const entered = rows.entryIndex[k]!;
      const left = rows.exitIndex[k]!;
      fraction[k] = pnl[k]! / (entryPrice[k]! * quantity[k]!);
      candles[k] = left - entered;
      entryTime[k] = time[entered]!;
      exitTime[k] = rows.reason[k] === STILL_OPEN ? NaN : time[left]!;
      tag[k] = orderTags[rows.order[k]!] ?? null;
    }
    return {
      count,
      side: rows.side,
      quantity,
      entryTime,
      entryPrice,
      exitTime,
      exitPrice,
      fees: rows.fees,
      pnl,
      return: fraction,
      candles,
      mae: rows.mae,
      mfe: rows.mfe,
      exitReason: rows.reason,
      ambiguous: rows.ambiguous,
      tag,
    };
  }

  /** Rows in order of entry, then of exit; null when they already are. */
  #order(): Uint32Array | null {
    if (this.#isSorted) return null;
    const numberOf = (row: number) => this.#rows.chunkOf(row).number[placeOf(row)]!;
    return new Uint32Array(this.count).map((_, row) => row).sort((a, b) => numberOf(a) - numberOf(b) || a - b);
  }
}

function closedBeforeOpen(order: Uint32Array, reasons: Uint8Array): Uint32Array {
  const isOpen = (row: number) => reasons[row] === STILL_OPEN;
  const closed = order.filter((row) => !isOpen(row));
  const all = new Uint32Array(order.length);
  all.set(closed);
  all.set(order.filter(isOpen), closed.length);
  return all;
}

/** Copies of the columns with the rows that `order` names, in that order. */
function picked(from: Columns, order: Uint32Array, pool: BufferPool | null): Columns {
  const to = newColumns(new ColumnMemory(order.length, pool));
  const targets = Object.values(to);
  for (const [c, column] of Object.values(from).entries()) {
    const target = targets[c]!;
    for (let k = 0; k < order.length; k++) target[k] = column[order[k]!]!;
  }
  return to;
}

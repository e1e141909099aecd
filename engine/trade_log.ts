import { FIELD_STRIDE, RowLog } from "./row_log.ts";
import { STILL_OPEN, type TradeColumns } from "./trades.ts";

// Fields of a row.
const NUMBER = 0;
const SIDE = 1;
const QUANTITY = 2;
const ENTRY_INDEX = 3;
const ENTRY_PRICE = 4;
const EXIT_INDEX = 5;
const EXIT_PRICE = 6;
const FEES = 7;
const PNL = 8;
const MAE = 9;
const MFE = 10;
const REASON = 11;
const AMBIGUOUS = 12;
const WIDTH = 13;

/** One row of the log: a trade, or the part of it that one exit closed. Indexes are those of candles. */
export interface TradeRow {
  number: number;
  side: number;
  quantity: number;
  entryIndex: number;
  entryPrice: number;
  exitIndex: number;
  exitPrice: number;
  fees: number;
  pnl: number;
  mae: number;
  mfe: number;
  reason: number;
  ambiguous: number;
  tag: string | null;
}

/** The trades of a run, in order of their exits until `finish` sorts them. */
export class TradeLog {
  readonly #records = new RowLog(WIDTH);
  readonly #tags: (string | null)[] = [];
  #sorted = true;
  #lastNumber = -1;

  get count(): number {
    return this.#records.count;
  }

  append(row: Readonly<TradeRow>): void {
    const records = this.#records;
    const at = records.append();
    const { data } = records;
    if (row.number < this.#lastNumber) this.#sorted = false;
    this.#lastNumber = row.number;
    data[at + NUMBER * FIELD_STRIDE] = row.number;
    data[at + SIDE * FIELD_STRIDE] = row.side;
    data[at + QUANTITY * FIELD_STRIDE] = row.quantity;
    data[at + ENTRY_INDEX * FIELD_STRIDE] = row.entryIndex;
    data[at + ENTRY_PRICE * FIELD_STRIDE] = row.entryPrice;
    data[at + EXIT_INDEX * FIELD_STRIDE] = row.exitIndex;
    data[at + EXIT_PRICE * FIELD_STRIDE] = row.exitPrice;
    data[at + FEES * FIELD_STRIDE] = row.fees;
    data[at + PNL * FIELD_STRIDE] = row.pnl;
    data[at + MAE * FIELD_STRIDE] = row.mae;
    data[at + MFE * FIELD_STRIDE] = row.mfe;
    data[at + REASON * FIELD_STRIDE] = row.reason;
    data[at + AMBIGUOUS * FIELD_STRIDE] = row.ambiguous;
    this.#tags.push(row.tag);
  }

  /** Adds to the pnl of the last `rows` rows, in proportion to their quantities. */
  credit(rows: number, money: number): void {
    const records = this.#records;
    const first = this.count - rows;
    let quantity = 0;
    for (let row = first; row < this.count; row++) quantity += records.get(row, QUANTITY);
    for (let row = first; row < this.count; row++) {
      records.set(row, PNL, records.get(row, PNL) + money * records.get(row, QUANTITY) / quantity);
    }
  }

  /** Candles in which a trade was open at any moment: the union of all stretches from entry to exit. */
  exposedCandles(): number {
    const order = this.#order();
    const entries = this.#records.column(ENTRY_INDEX, order);
    const exits = this.#records.column(EXIT_INDEX, order);
    let exposed = 0;
    let counted = -1;
    for (let k = 0; k < entries.length; k++) {
      const from = Math.max(entries[k]!, counted + 1);
      if (exits[k]! < from) continue;
      exposed += exits[k]! - from + 1;
      counted = exits[k]!;
    }
    return exposed;
  }

  /** The log as columns: closed trades in order of entry and then of exit, open ones (whose reason says so) last. */
  finish(time: Float64Array): TradeColumns {
    const order = this.#order();
    const closedFirst = order === null ? null : closedBeforeOpen(order, this.#records.column(REASON, null));
    const column = (field: number) => this.#records.column(field, closedFirst);
    const { count } = this;
    const entryTime = column(ENTRY_INDEX);
    const exitTime = column(EXIT_INDEX);
    const exitPrice = column(EXIT_PRICE);
    const quantity = column(QUANTITY);
    const entryPrice = column(ENTRY_PRICE);
    const pnl = column(PNL);
    const fraction = new Float64Array(count);
    const candles = new Int32Array(count);
    for (let k = 0; k < count; k++) {
      fraction[k] = pnl[k]! / (entryPrice[k]! * quantity[k]!);
      candles[k] = exitTime[k]! - entryTime[k]!;
      entryTime[k] = time[entryTime[k]!]!;
      exitTime[k] = Number.isNaN(exitPrice[k]!) ? NaN : time[exitTime[k]!]!;
    }
    return {
      count,
      side: new Int8Array(column(SIDE)),
      quantity,
      entryTime,
      entryPrice,
      exitTime,
      exitPrice,
      fees: column(FEES),
      pnl,
      return: fraction,
      candles,
      mae: column(MAE),
      mfe: column(MFE),
      exitReason: this.#records.codes(REASON, closedFirst),
      ambiguous: this.#records.codes(AMBIGUOUS, closedFirst),
      tag: closedFirst === null ? this.#tags : Array.from(closedFirst, (row) => this.#tags[row] ?? null),
    };
  }

  /** Rows in order of entry, equal ones in order of exit; null when they lie so already. */
  #order(): Uint32Array | null {
    if (this.#sorted) return null;
    const numbers = this.#records.column(NUMBER, null);
    return Uint32Array.from(numbers.keys()).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
  }
}

function closedBeforeOpen(order: Uint32Array, reasons: Float64Array): Uint32Array {
  const open = order.filter((row) => reasons[row] === STILL_OPEN);
  const sorted = Uint32Array.from(order.filter((row) => reasons[row] !== STILL_OPEN));
  const all = new Uint32Array(order.length);
  all.set(sorted);
  all.set(open, sorted.length);
  return all;
}

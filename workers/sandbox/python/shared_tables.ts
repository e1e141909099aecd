import { DETAIL_BYTES, FILL_BYTES, ORDER_BYTES, ORDERS_MAX, TAG_BYTES_MAX, TRADE_BYTES } from "../contracts/abi.ts";
import {
  DETAILS_AT,
  FILL_MARKETS_AT,
  FILLS_AT,
  NAMES_AT,
  ORDERS_AT,
  STATE,
  TAGS_AT,
  TRADES_AT,
} from "../contracts/layout.ts";
import { isWhole } from "../script/realm_answers.ts";
import type { Interpreter } from "./interpreter.ts";

/** The words of the state that the host writes, and its doubles. */
const HOST_WORDS = [STATE.workingOrders / 4, STATE.workingRevision / 4 + 1] as const;
const HOST_DOUBLES = [STATE.cash, STATE.quantity, STATE.entryPrice, STATE.initialBalance].map((at) => at / 8);

/** The state and the tables of a decision, which are copied between the host and the interpreter. */
export class SharedTables {
  readonly #python: Interpreter;
  readonly #tables: number;
  readonly #memory: ArrayBuffer;
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;

  /** @param tables The address of the interpreter's. @param memory The host's. */
  constructor(python: Interpreter, tables: number, memory: ArrayBuffer) {
    this.#python = python;
    this.#tables = tables;
    this.#memory = memory;
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
  }

  /** Gives the interpreter the account and the lists, where they have changed. @returns True if the account has. */
  give(): boolean {
    const { words, doubles } = this.#python;
    const [ownWords, ownDoubles] = [this.#tables >> 2, this.#tables >> 3];
    words[ownWords + STATE.rows / 4] = 0;
    const hasNewTrades = words[ownWords + STATE.tradesRevision / 4] !== this.#words[STATE.tradesRevision / 4];
    const hasNewOrders = words[ownWords + STATE.workingRevision / 4] !== this.#words[STATE.workingRevision / 4];
    for (let at = HOST_WORDS[0]; at < HOST_WORDS[1]; at++) words[ownWords + at] = this.#words[at]!;
    const copy = (from: number, bytes: number) => this.#copy(from, bytes);
    if (hasNewTrades) {
      words[ownWords + STATE.tradesIndex / 4] = this.#words[STATE.tradesIndex / 4]!;
      copy(TRADES_AT, this.#words[STATE.tradesCount / 4]! * TRADE_BYTES);
      copy(DETAILS_AT, this.#words[STATE.tradesCount / 4]! * DETAIL_BYTES);
    }
    if (hasNewOrders) copy(NAMES_AT, this.#words[STATE.workingCount / 4]! * 4);
    let hasChanged = false;
    for (const at of HOST_DOUBLES) {
      if (doubles[ownDoubles + at] === this.#doubles[at]) continue;
      doubles[ownDoubles + at] = this.#doubles[at]!;
      hasChanged = true;
    }
    return hasChanged;
  }

  /** Gives the interpreter the first rows of the table of fills. */
  giveFills(count: number): void {
    this.#copy(FILLS_AT, count * FILL_BYTES);
    this.#copy(FILL_MARKETS_AT, count * 4);
  }

  #copy(from: number, bytes: number): void {
    this.#python.heap.set(new Uint8Array(this.#memory, from, bytes), this.#tables + from);
  }

  /** Takes how many lines are logged, and whether the strategy reads more than it was given. */
  takeLog(): void {
    const own = this.#tables >> 2;
    this.#words[STATE.wanted / 4] = this.#python.words[own + STATE.wanted / 4]!;
    this.#words[STATE.logged / 4] = this.#python.words[own + STATE.logged / 4]!;
  }

  /** Takes the rows of the last decision, with their tags. */
  takeOrders(): void {
    const { words, heap } = this.#python;
    const rows = words[(this.#tables >> 2) + STATE.rows / 4]!;
    this.#words[STATE.rows / 4] = rows;
    if (rows === 0 || !isWhole(rows, ORDERS_MAX.limit)) return;
    const take = (from: number, bytes: number) =>
      new Uint8Array(this.#memory, from, bytes).set(heap.subarray(this.#tables + from, this.#tables + from + bytes));
    take(ORDERS_AT, rows * ORDER_BYTES);
    take(TAGS_AT, rows * TAG_BYTES_MAX);
  }
}

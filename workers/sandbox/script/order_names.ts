import { REFUSED } from "../../../engine/strategy.ts";
import { ACTION, ORDER, ORDER_BYTES, ORDERS_MAX } from "../contracts/abi.ts";
import { NAMES_AT, ORDERS_AT, RESULTS_AT, WORKING_AT } from "../contracts/layout.ts";

/** A script's names of its orders: 1, 2, ... by their rows. It gets them before the simulator numbers the orders. */
export class OrderNames {
  readonly #words: Int32Array;
  /** The simulator's number of each name. */
  readonly #numbers: number[] = [REFUSED];
  /** The name of each number; orders of the simulator's own have none. */
  readonly #names: number[] = [];
  /** 1 for each row of the present decision that has a name. */
  readonly #isNamed = new Uint8Array(ORDERS_MAX.limit);

  /** @param memory The state and the tables (layout.ts). */
  constructor(memory: ArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  /** Replaces names by numbers in the first rows of the order table, which are not carried out yet. */
  readTargets(rows: number): void {
    const words = this.#words;
    for (let n = 0; n < rows; n++) {
      const row = ORDERS_AT + n * ORDER_BYTES;
      const action = words[(row + ORDER.action) >>> 2];
      const target = (row + ORDER.target) >>> 2;
      if (action === ACTION.cancel || action === ACTION.replace) {
        words[target] = this.#numbers[words[target]!] ?? REFUSED;
      }
      this.#isNamed[n] = Number(action !== ACTION.cancel && action !== ACTION.cancelAll && action !== ACTION.protect);
    }
  }

  /** Names the orders of these rows, which are carried out. */
  readResults(rows: number): void {
    const numbers = this.#numbers;
    for (let n = 0; n < rows; n++) {
      if (this.#isNamed[n] === 0) continue;
      const number = this.#words[(RESULTS_AT >>> 2) + n]!;
      if (number !== REFUSED) this.#names[number] = numbers.length;
      numbers.push(number);
    }
  }

  /** The name of an order; 0: it has none. */
  readonly nameOf = (number: number): number => this.#names[number] ?? 0;

  /** Writes the names of the first working orders where the realm reads them. */
  writeWorking(count: number): void {
    const words = this.#words;
    for (let n = 0; n < count; n++) {
      words[(NAMES_AT >>> 2) + n] = this.#names[words[(WORKING_AT >>> 2) + n]!] ?? 0;
    }
  }
}

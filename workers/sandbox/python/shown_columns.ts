import { brokenRealm } from "../script/realm_answers.ts";
import { WINDOW_ROWS } from "../contracts/layout.ts";
import type { Interpreter } from "./interpreter.ts";

const MASK = WINDOW_ROWS - 1;
/** Words of a `PyMemoryViewObject`: the address of its first value, its bytes, and where the number of its rows is. */
const VIEW = { buffer: 7, bytes: 9, shape: 14 } as const;

interface ShownColumn {
  /** Places of its first value among the doubles, and of its bytes and rows among the words. */
  readonly first: number;
  readonly bytes: number;
  readonly rows: number;
  /** Rows that the host shows without a window. */
  readonly ahead: ArrayBuffer;
}

/** The columns in an interpreter's memory: views that nobody can write, as long as candles have closed. */
export class ShownColumns {
  readonly capacity: number;
  readonly #python: Interpreter;
  readonly #columns: readonly ShownColumn[];
  readonly #ahead: readonly Float64Array[];
  /** Rows that they have. */
  #shown = 0;

  /**
   * @param views The list of their views.
   * @param capacity Rows that each has room for.
   * @throws {RunError} When the list has others.
   */
  constructor(python: Interpreter, views: number, count: number, capacity: number) {
    this.#python = python;
    this.capacity = capacity;
    this.#columns = Array.from({ length: count }, (_, n) => readView(python, python.listItem(views, n), capacity));
    this.#ahead = this.#columns.map(({ ahead }) => new Float64Array(ahead));
  }

  /** The memory in which the host writes rows that it shows at once. */
  ahead(n: number): ArrayBuffer {
    return this.#columns[n]?.ahead ?? new ArrayBuffer(0);
  }

  /** Lets the columns end with row `i`. @param windows As of scripts: row `i` of column `n` is at (n + 1) * WINDOW_ROWS + i. */
  show(i: number, windows: Float64Array): void {
    const { words, doubles } = this.#python;
    if (this.#shown < i) this.#showAhead(i);
    const [row, count] = [i & MASK, i + 1];
    const columns = this.#columns;
    for (let n = 0; n < columns.length; n++) {
      const { first, bytes, rows } = columns[n]!;
      doubles[first + i] = windows[(n + 1) * WINDOW_ROWS + row]!;
      words[bytes] = 8 * count;
      words[rows] = count;
    }
    this.#shown = count;
  }

  /** Lets the columns end with row `i`, where the host has written it and those before (-1: none). */
  showUntil(i: number): void {
    const count = i + 1;
    if (this.#shown >= count) return;
    this.#showAhead(count);
    const { words } = this.#python;
    for (const { bytes, rows } of this.#columns) {
      words[bytes] = 8 * count;
      words[rows] = count;
    }
    this.#shown = count;
  }

  #showAhead(i: number): void {
    const { doubles } = this.#python;
    this.#columns.forEach(({ first }, n) => {
      doubles.set(this.#ahead[n]!.subarray(this.#shown, i), first + this.#shown);
    });
  }
}

function readView(python: Interpreter, view: number, capacity: number): ShownColumn {
  const { words, heap } = python;
  const at = view >> 2;
  const [buffer = 0, bytes, shape = 0] = [words[at + VIEW.buffer], words[at + VIEW.bytes], words[at + VIEW.shape]];
  const isView = view > 0 && bytes === 0 && words[shape >> 2] === 0 && shape > view && shape < view + 128 &&
    buffer > 0 && buffer % 8 === 0 && buffer + 8 * capacity <= heap.length;
  if (!isView) throw brokenRealm("its columns are none");
  return { first: buffer >> 3, bytes: at + VIEW.bytes, rows: shape >> 2, ahead: new ArrayBuffer(8 * capacity) };
}

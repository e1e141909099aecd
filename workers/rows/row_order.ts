/** Rows in an order of their own, such as a run's trades by their profit. */

/** The keys by which rows are ordered. */
export interface RowKeys {
  /** A key for each row; rows whose key is NaN are left out. */
  readonly keys: Float64Array<ArrayBuffer>;
  readonly isDown: boolean;
}

export interface RowOrder {
  /** The number of each row, from 0. */
  readonly rows: Uint32Array<ArrayBuffer>;
  /** The key of each, in the same order. */
  readonly keys: Float64Array<ArrayBuffer>;
}

/** The rows from one place of an order up to, not including, another, or those whose keys lie in a range (of an order that is not down). */
export type WantedRows =
  | { readonly from: number; readonly until: number }
  | { readonly least: number; readonly most: number; readonly rowsMax: number };

/** A part of an order. */
export interface OrderedRows {
  readonly rows: Uint32Array<ArrayBuffer>;
  /** All rows of the order, or all whose keys lie in the range. */
  readonly count: number;
}

const DIGIT_BITS = 16;
const DIGIT_MAX = 2 ** DIGIT_BITS - 1;
const DIGITS = 4;

/** Orders rows by their keys; equal ones stay in the order of their rows. Digit by digit, since comparing 4 million keys takes 20 s. */
export function orderRows({ keys, isDown }: RowKeys): RowOrder {
  const words = toRisingWords(keys, isDown);
  let rows = new Uint32Array(keys.length);
  let count = 0;
  for (let row = 0; row < keys.length; row++) if (!Number.isNaN(keys[row])) rows[count++] = row;
  rows = rows.slice(0, count);
  let next = new Uint32Array(count);
  for (let digit = 0; digit < DIGITS; digit++) {
    const [word, shift] = [digit >>> 1, (digit & 1) * DIGIT_BITS];
    // Where the rows of each value of the digit begin.
    const places = new Uint32Array(2 ** DIGIT_BITS + 1);
    for (let i = 0; i < count; i++) places[(words[rows[i]! * 2 + word]! >>> shift & DIGIT_MAX) + 1]!++;
    for (let value = 1; value < places.length; value++) places[value]! += places[value - 1]!;
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      next[places[words[row * 2 + word]! >>> shift & DIGIT_MAX]!++] = row;
    }
    [rows, next] = [next, rows];
  }
  return { rows, keys: Float64Array.from(rows, (row) => keys[row]!) };
}

/** The halves of each key, lower first, changed so that they rise as the keys do, or fall. */
function toRisingWords(keys: Float64Array<ArrayBuffer>, isDown: boolean): Uint32Array {
  // Adding 0 makes -0 equal to 0. Every machine that Deno runs on has the lower half first.
  const words = new Uint32Array(keys.map((key) => key + 0).buffer);
  const down = isDown ? 0xffffffff : 0;
  for (let at = 0; at < words.length; at += 2) {
    const high = words[at + 1]!;
    const negative = high >>> 31 === 1 ? 0xffffffff : 0;
    words[at] = words[at]! ^ negative ^ down;
    words[at + 1] = high ^ (negative | 0x80000000) ^ down;
  }
  return words;
}

/** Takes rows out of an order; of a range that has more than `rowsMax`, none. */
export function takeRows({ rows, keys }: RowOrder, wanted: WantedRows): OrderedRows {
  if ("from" in wanted) return { rows: rows.slice(wanted.from, wanted.until), count: rows.length };
  const from = countWhile(keys, (key) => key < wanted.least);
  const until = countWhile(keys, (key) => key <= wanted.most);
  const count = Math.max(0, until - from);
  return { rows: count > wanted.rowsMax ? new Uint32Array() : rows.slice(from, until), count };
}

/** How many of the first keys fulfil a condition that no later one does. */
function countWhile(keys: Float64Array, fits: (key: number) => boolean): number {
  let [low, high] = [0, keys.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (fits(keys[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}

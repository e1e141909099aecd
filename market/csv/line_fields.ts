import { fieldText } from "./fields.ts";

/** The largest number of columns. */
export const FIELDS_MAX = 1_000;

const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;
const QUOTE = 0x22;

/** The fields of one line at a time, as places in its bytes: a file of millions of lines makes no texts. */
export class LineFields {
  readonly starts = new Int32Array(FIELDS_MAX + 1);
  readonly ends = new Int32Array(FIELDS_MAX + 1);
  #bytes: Uint8Array = new Uint8Array(0);

  /** Cuts a line; quotes and blanks around a field are no part of it. @returns The number of fields. */
  cut(bytes: Uint8Array, from: number, until: number, delimiter: number): number {
    this.#bytes = bytes;
    const { starts, ends } = this;
    let count = 0;
    let start = from;
    let isQuoted = false;
    for (let at = from; at <= until; at++) {
      const byte = at === until ? delimiter : bytes[at]!;
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (byte !== delimiter || (isQuoted && at < until)) continue;
      let end = at;
      while (start < end && isBlank(bytes[start]!)) start++;
      while (end > start && isBlank(bytes[end - 1]!)) end--;
      if (end - start >= 2 && bytes[start] === QUOTE && bytes[end - 1] === QUOTE) {
        start++;
        end--;
      }
      if (count < FIELDS_MAX) {
        starts[count] = start;
        ends[count] = end;
      }
      count++;
      start = at + 1;
    }
    return count;
  }

  text(field: number): string {
    return fieldText(this.#bytes, this.starts[field]!, this.ends[field]!);
  }
}

/** True for a blank or the return that ends a line of Windows. */
export function isBlank(byte: number): boolean {
  return byte === SPACE || byte === RETURN || byte === TAB;
}

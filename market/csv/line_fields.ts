import { fieldText } from "./fields.ts";

/** The largest number of columns. */
export const FIELDS_MAX = 1_000;

/** Ends a line. */
export const NEWLINE = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;

/** The fields of one line at a time, as places in its bytes: a file of millions of lines makes no texts. */
export class LineFields {
  readonly starts = new Int32Array(FIELDS_MAX + 1);
  readonly ends = new Int32Array(FIELDS_MAX + 1);
  /** Where the line ends, before its newline. */
  end = 0;
  #bytes: Uint8Array = new Uint8Array(0);

  /**
   * Cuts the line at `from`, with its newline; quotes and blanks around a field are no part of it.
   *
   * @returns The number of fields; 0 for a line of blanks.
   */
  cut(bytes: Uint8Array, from: number, delimiter: number): number {
    this.#bytes = bytes;
    const { starts, ends } = this;
    let count = 0;
    let start = from;
    let isQuoted = false;
    let isEmpty = true;
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      // Most bytes are digits, for which this comparison is enough.
      if (byte > COMMA && byte !== delimiter) continue;
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (byte !== NEWLINE && (byte !== delimiter || isQuoted)) continue;
      let end = at;
      while (start < end && isBlank(bytes[start]!)) start++;
      while (end > start && isBlank(bytes[end - 1]!)) end--;
      isEmpty &&= start === end && (byte === NEWLINE || isBlank(byte));
      if (end - start >= 2 && bytes[start] === QUOTE && bytes[end - 1] === QUOTE) {
        start++;
        end--;
      }
      if (count < FIELDS_MAX) {
        starts[count] = start;
        ends[count] = end;
      }
      count++;
      if (byte === NEWLINE) {
        this.end = at;
        return isEmpty ? 0 : count;
      }
      start = at + 1;
    }
    throw new RangeError(`Cannot cut the line at byte ${from}: it has no newline`);
  }

  text(field: number): string {
    return fieldText(this.#bytes, this.starts[field]!, this.ends[field]!);
  }
}

/** True for a blank or the return that ends a line of Windows. */
function isBlank(byte: number): boolean {
  return byte === SPACE || byte === RETURN || byte === TAB;
}

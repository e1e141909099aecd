import { NUMBER_BYTES_MAX, writeNumber } from "./number_text.ts";

const DIGIT_0 = 0x30;
const COLON = 0x3a;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
// Short answers need a smaller page than `pageBytes`; few rows are longer than this.
const ROW_BYTES_USUAL = 128;
const NUMBERS_PER_ROW = 5;
const WORD_BYTES = 8;
const LABEL_WORDS = 4;
// Years beyond 9999 have three characters more.
const TIME_BYTES_MAX = "+012345-01-01T00:00:00.000Z".length;

const encoder = new TextEncoder();

/** The text around the numbers of a row. */
export interface RowFormat {
  readonly start: string;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly end: string;
}

/** Columns of equal length; times on whole minutes, milliseconds since 1970. */
export interface Rows {
  readonly time: Float64Array;
  readonly open: Float64Array;
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
}

/**
 * An ASCII text of at most 32 characters as doubles: eight bytes are written at once, which makes rows a fifth cheaper than a loop
 * over bytes. No ASCII text is a NaN, so its bytes survive.
 */
interface Label {
  readonly words: Float64Array;
  readonly length: number;
}

interface Page {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same memory. */
  readonly view: DataView<ArrayBuffer>;
  /** The page is full from here on; one more row fits behind it. */
  readonly limit: number;
}

/**
 * Writes candles as text into pages of bytes: numbers as JSON.stringify writes them, times as ISO 8601.
 *
 * It builds no strings, since a year of 1m candles as JSON would take twice as long by way of them.
 */
export class TickWriter {
  readonly #pageBytes: number;
  readonly #start: string;
  readonly #labels: { readonly [part in Exclude<keyof RowFormat, "start">]: Label };
  readonly #rowBytesMax: number;
  readonly #decimals = new Int32Array(NUMBERS_PER_ROW);
  #day = NaN;
  /** The start of the rows of `#day`, up to the hour. */
  #date = makeLabel("");
  #page: Page | undefined;
  #at = 0;

  /** @param pageBytes A page is full when it holds this many bytes; its last row may exceed it. */
  constructor(format: RowFormat, pageBytes: number) {
    this.#pageBytes = pageBytes;
    this.#start = format.start;
    this.#labels = {
      open: makeLabel(`:00.000Z${format.open}`),
      high: makeLabel(format.high),
      low: makeLabel(format.low),
      close: makeLabel(format.close),
      volume: makeLabel(format.volume),
      end: makeLabel(format.end),
    };
    this.#rowBytesMax = Object.values(format).join("").length + TIME_BYTES_MAX + NUMBERS_PER_ROW * NUMBER_BYTES_MAX +
      LABEL_WORDS * WORD_BYTES;
  }

  /** The bytes written since the last call. */
  take(): Uint8Array<ArrayBuffer> {
    const page = this.#page;
    const length = this.#at;
    this.#at = 0;
    if (page === undefined) return new Uint8Array(0);
    // A copy: a cached piece of a few rows must not keep a whole page in memory.
    if (length < page.limit) return page.bytes.slice(0, length);
    this.#page = undefined;
    return page.bytes.subarray(0, length);
  }

  /** Writes rows until they end or the page is full. @returns The index of the next row. */
  writeRows(rows: Rows, from: number): number {
    const { time, open, high, low, close, volume } = rows;
    const { bytes, view, limit } = this.#page ??= this.#makePage(time.length - from);
    // In locals, since V8 would look fields up again for each row.
    const labels = this.#labels;
    const decimals = this.#decimals;
    let at = this.#at;
    let i = from;
    for (; i < time.length && at < limit; i++) {
      at = this.#writeTime(bytes, view, at, time[i]!);
      at = writeNumber(bytes, writeLabel(view, at, labels.open), open[i]!, decimals, 0);
      at = writeNumber(bytes, writeLabel(view, at, labels.high), high[i]!, decimals, 1);
      at = writeNumber(bytes, writeLabel(view, at, labels.low), low[i]!, decimals, 2);
      at = writeNumber(bytes, writeLabel(view, at, labels.close), close[i]!, decimals, 3);
      at = writeNumber(bytes, writeLabel(view, at, labels.volume), volume[i]!, decimals, 4);
      at = writeLabel(view, at, labels.end);
    }
    this.#at = at;
    return i;
  }

  #makePage(rowsLeft: number): Page {
    const limit = Math.min(this.#pageBytes, rowsLeft * ROW_BYTES_USUAL);
    const bytes = new Uint8Array(limit + this.#rowBytesMax);
    return { bytes, view: new DataView(bytes.buffer), limit };
  }

  /** Writes the start of a row and its time up to the minute. */
  #writeTime(bytes: Uint8Array, view: DataView, at: number, timeMs: number): number {
    const day = Math.floor(timeMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#date = makeLabel(this.#start + new Date(day * DAY_MS).toISOString().split("T", 1)[0] + "T");
    }
    at = writeLabel(view, at, this.#date);
    const minutes = ((timeMs - day * DAY_MS) / MINUTE_MS) | 0;
    const hour = (minutes / 60) | 0;
    at = writeTwoDigits(bytes, at, hour);
    bytes[at] = COLON;
    return writeTwoDigits(bytes, at + 1, minutes - hour * 60);
  }
}

function makeLabel(text: string): Label {
  const words = new Float64Array(LABEL_WORDS);
  const bytes = new Uint8Array(words.length * WORD_BYTES);
  encoder.encodeInto(text, bytes);
  const view = new DataView(bytes.buffer);
  return { words: words.map((_, i) => view.getFloat64(i * WORD_BYTES, true)), length: text.length };
}

/** Writes a label, and bytes behind it that the next text overwrites. */
function writeLabel(view: DataView, at: number, { words, length }: Label): number {
  view.setFloat64(at, words[0]!, true);
  view.setFloat64(at + WORD_BYTES, words[1]!, true);
  if (length > 2 * WORD_BYTES) {
    view.setFloat64(at + 2 * WORD_BYTES, words[2]!, true);
    view.setFloat64(at + 3 * WORD_BYTES, words[3]!, true);
  }
  return at + length;
}

function writeTwoDigits(bytes: Uint8Array, at: number, number: number): number {
  const tens = (number / 10) | 0;
  bytes[at] = DIGIT_0 + tens;
  bytes[at + 1] = DIGIT_0 + number - tens * 10;
  return at + 2;
}

import { PADDED } from "./digit_tables.ts";
import { type Page, putNumber } from "./decimal_text.ts";

const COLON = 0x3a;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** No row is longer: six numbers of at most 24 characters and the text between them. */
const ROW_BYTES_MAX = 400;
/** Few rows are longer: a page for as many as there are is all that most short answers need. */
const ROW_BYTES_USUAL = 128;
const LABEL_BYTES_MAX = 32;

const encoder = new TextEncoder();

/**
 * A short text as doubles, so that it is written eight bytes at a time; what is behind its end is overwritten by what comes next. No ASCII
 * text is a NaN, so that its bytes travel through a double unchanged.
 */
interface Label {
  readonly words: readonly [number, number, number, number];
  readonly length: number;
}

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
 * Writes candles as text, in pages.
 *
 * Numbers come out as JSON.stringify writes them and times as ISO 8601, several times as fast as by way of strings.
 */
export class TickWriter {
  readonly #pageBytes: number;
  readonly #labels: { readonly [part in Exclude<keyof RowFormat, "start">]: Label };
  /** How many decimals each column had last. */
  readonly #scales = new Int32Array(5);
  /** The day that was written last, and the beginning of its rows. */
  #day = NaN;
  #date = makeLabel("");
  readonly #start: string;
  /** The page that is written to, full from its limit on. */
  #page: ReturnType<typeof makePage> | undefined;
  #at = 0;

  constructor(format: RowFormat, pageBytes: number) {
    this.#pageBytes = pageBytes;
    const { start, open, high, low, close, volume, end } = format;
    this.#start = start;
    this.#labels = {
      open: makeLabel(`:00.000Z${open}`),
      high: makeLabel(high),
      low: makeLabel(low),
      close: makeLabel(close),
      volume: makeLabel(volume),
      end: makeLabel(end),
    };
  }

  /** What was written; the next rows begin a page again. */
  take(): Uint8Array<ArrayBuffer> {
    const page = this.#page;
    const length = this.#at;
    this.#at = 0;
    if (page === undefined) return new Uint8Array(0);
    // Who keeps a few rows must not keep a whole page with them.
    if (length < page.limit) return page.bytes.slice(0, length);
    this.#page = undefined;
    return page.bytes.subarray(0, length);
  }

  /** Writes rows until there are no more or the page is full; returns the index of the next. */
  writeRows(rows: Rows, from: number): number {
    const { time, open, high, low, close, volume } = rows;
    const page = this.#page ??= makePage(Math.min(this.#pageBytes, (time.length - from) * ROW_BYTES_USUAL));
    const limit = page.limit;
    const view = page.view;
    const scales = this.#scales;
    // In variables of their own, since what lies in objects would be looked up again for each row.
    const { words: [o0, o1, o2], length: openLength } = this.#labels.open;
    const { words: [h0, h1], length: highLength } = this.#labels.high;
    const { words: [l0, l1], length: lowLength } = this.#labels.low;
    const { words: [c0, c1], length: closeLength } = this.#labels.close;
    const { words: [v0, v1], length: volumeLength } = this.#labels.volume;
    const { words: [end], length: endLength } = this.#labels.end;
    let at = this.#at;
    let i = from;
    for (; i < time.length && at < limit; i++) {
      at = this.#putTime(view, at, time[i]!);
      view.setFloat64(at, o0, true);
      view.setFloat64(at + 8, o1, true);
      view.setFloat64(at + 16, o2, true);
      at = putNumber(page, at + openLength, open[i]!, scales, 0);
      view.setFloat64(at, h0, true);
      view.setFloat64(at + 8, h1, true);
      at = putNumber(page, at + highLength, high[i]!, scales, 1);
      view.setFloat64(at, l0, true);
      view.setFloat64(at + 8, l1, true);
      at = putNumber(page, at + lowLength, low[i]!, scales, 2);
      view.setFloat64(at, c0, true);
      view.setFloat64(at + 8, c1, true);
      at = putNumber(page, at + closeLength, close[i]!, scales, 3);
      view.setFloat64(at, v0, true);
      view.setFloat64(at + 8, v1, true);
      at = putNumber(page, at + volumeLength, volume[i]!, scales, 4);
      view.setFloat64(at, end, true);
      at += endLength;
    }
    this.#at = at;
    return i;
  }

  /** A row's beginning and its time as far as the minute. */
  #putTime(view: DataView, at: number, timeMs: number): number {
    const day = Math.floor(timeMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#date = makeLabel(this.#start + new Date(day * DAY_MS).toISOString().slice(0, 11));
    }
    const { words, length } = this.#date;
    view.setFloat64(at, words[0], true);
    view.setFloat64(at + 8, words[1], true);
    view.setFloat64(at + 16, words[2], true);
    view.setFloat64(at + 24, words[3], true);
    at += length;
    const minutes = ((timeMs - day * DAY_MS) / MINUTE_MS) | 0;
    const hour = (minutes / 60) | 0;
    // Four digits hold the hour and the minute; the minute's are moved to behind the colon.
    const digits = PADDED[hour * 100 + minutes - hour * 60]!;
    view.setInt16(at, digits, true);
    view.setUint8(at + 2, COLON);
    view.setInt16(at + 3, digits >> 16, true);
    return at + 5;
  }
}

function makePage(limit: number): Page & { readonly limit: number } {
  const bytes = new Uint8Array(limit + 2 * ROW_BYTES_MAX);
  return { bytes, view: new DataView(bytes.buffer), limit };
}

function makeLabel(text: string): Label {
  const bytes = new Uint8Array(LABEL_BYTES_MAX);
  const length = encoder.encodeInto(text, bytes).written;
  const view = new DataView(bytes.buffer);
  return {
    words: [view.getFloat64(0, true), view.getFloat64(8, true), view.getFloat64(16, true), view.getFloat64(24, true)],
    length,
  };
}

import type { Candles } from "../../engine/candles.ts";
import { allocateCandles, CANDLE_COLUMNS, sliceCandles } from "../archive/candle_columns.ts";
import { findFault } from "../archive/candle_rules.ts";
import { fieldText, parseDecimal, parseLocalTime, parseTime } from "./fields.ts";
import type { Traded } from "../calendar/exchange_sessions.ts";
import { ConventionFinder } from "./conventions.ts";
import { type CsvColumns, CsvError, parseHeader } from "./header.ts";
import { candleEnd, isDaily, monthEnd, monthOf, type Timeframe } from "../timeframes.ts";

/** A line that was left out. */
export interface Rejection {
  /** From 1; the header and empty lines count. */
  readonly line: number;
  readonly reason: string;
}

const REJECTIONS_MAX = 100;
const LINE_BYTES_MAX = 65_536;
const FIELDS_MAX = 1_000;
// A batch has this many candles and then the rest of the month, so that each month's chunk is written once.
const BATCH_CANDLES_MIN = 32_768;
const MONTH_CANDLES_MAX = 31 * 1440;

// No market has older candles: an earlier time is a mistake.
const EARLIEST_MS = Date.UTC(1800, 0, 1);

const UTC_INSTRUMENT: Traded = { assetClass: "crypto", exchange: "" };

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const QUOTE = 0x22;
const COMMA = 0x2c;
const VALUE_NAMES = ["open", "high", "low", "close", "volume"] as const;

/**
 * Reads candles from CSV that arrives in pieces, in memory that does not grow with the file.
 *
 * A file begins with its oldest candle or with its newest; the first two show which. A line is left out and reported if it is no candle,
 * not on a boundary of the timeframe, out of order, or not closed yet. fields.ts describes the formats of times and numbers, conventions.ts
 * how candles may be stamped.
 */
export class CsvReader {
  /** The first 100 lines that were left out. */
  readonly rejected: Rejection[] = [];
  rejectedCount = 0;

  readonly #timeframe: Timeframe;
  readonly #closedUntilMs: number;
  readonly #isDated: boolean;
  readonly #finder: ConventionFinder;
  readonly #rows = allocateCandles(BATCH_CANDLES_MIN + MONTH_CANDLES_MAX);
  #count = 0;
  /** -1 where the newest candle comes first: times are then negated, so that they increase in either case. */
  #direction: 1 | -1 = 1;
  /** A candle at this time or later, times #direction, begins the next batch. */
  #batchEnd = Infinity;
  #columns: CsvColumns | undefined;
  #line = 0;
  /** The open of the last candle, times #direction, its line, and the number of candles so far. */
  #last = -Infinity;
  #lastLine = 0;
  #taken = 0;
  #rest = new Uint8Array(0);
  readonly #starts = new Int32Array(FIELDS_MAX + 1);
  readonly #ends = new Int32Array(FIELDS_MAX + 1);
  readonly #values = new Float64Array(VALUE_NAMES.length);

  /**
   * @param nowMs Milliseconds since 1970; candles that close later are left out.
   * @param instrument Its session tells how its candles may be stamped.
   */
  constructor(timeframe: Timeframe, nowMs: number, instrument: Traded = UTC_INSTRUMENT) {
    this.#timeframe = timeframe;
    this.#closedUntilMs = nowMs;
    this.#isDated = isDaily(timeframe);
    this.#finder = new ConventionFinder(instrument, timeframe);
  }

  /** How the file stamps its candles, in words; null before its first candle. */
  get convention(): string | null {
    return this.#finder.name;
  }

  /**
   * Takes a piece of the file.
   *
   * @returns Complete batches; each is valid until the next one is taken.
   * @throws {CsvError} When the file is no CSV of candles.
   */
  *push(piece: Uint8Array): Generator<Candles> {
    const bytes = this.#rest.length === 0 ? piece : concat(this.#rest, piece);
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(NEWLINE, from);
      if (end < 0) break;
      const time = this.#readLine(bytes, from, end);
      if (time * this.#direction >= this.#batchEnd) yield this.#takeBatch();
      if (!Number.isNaN(time)) this.#keepRow(time);
      from = end + 1;
    }
    if (bytes.length - from > LINE_BYTES_MAX) {
      throw new CsvError(`Cannot read line ${this.#line + 1}: it is longer than ${LINE_BYTES_MAX} bytes`);
    }
    this.#rest = bytes.slice(from);
  }

  /** Takes the end of the file. @throws {CsvError} When the file was empty. */
  *end(): Generator<Candles> {
    if (this.#rest.length > 0) yield* this.push(Uint8Array.of(NEWLINE));
    if (this.#columns === undefined) {
      throw new CsvError("Cannot import an empty file: write a header line and a line for each candle");
    }
    if (this.#count > 0) yield this.#takeBatch();
  }

  #takeBatch(): Candles {
    const batch = sliceCandles(this.#rows, 0, this.#count);
    if (this.#direction < 0) CANDLE_COLUMNS.forEach((name) => batch[name].reverse());
    this.#count = 0;
    this.#batchEnd = Infinity;
    return batch;
  }

  #keepRow(time: number): void {
    const { time: times, open, high, low, close, volume } = this.#rows;
    const values = this.#values;
    const at = this.#count++;
    times[at] = time;
    open[at] = values[0]!;
    high[at] = values[1]!;
    low[at] = values[2]!;
    close[at] = values[3]!;
    volume[at] = values[4]!;
    if (this.#count === BATCH_CANDLES_MIN) this.#batchEnd = this.#monthLimit(time);
  }

  /** The end of a time's month in the direction of the file. */
  #monthLimit(time: number): number {
    const month = monthOf(time);
    // Backwards, the month ends a millisecond before its first moment.
    return this.#direction > 0 ? monthEnd(month) : 1 - Date.parse(month);
  }

  /** The time of the line's candle, whose values are then in #values; NaN for a line without a candle. */
  #readLine(bytes: Uint8Array, from: number, end: number): number {
    this.#line++;
    let until = end;
    while (until > from && isBlank(bytes[until - 1]!)) until--;
    if (until === from) return NaN;
    if (this.#columns === undefined) {
      this.#columns = this.#readHeader(bytes, from, until);
      return NaN;
    }
    const { time: timeField, values, count } = this.#columns;
    const fields = this.#splitFields(bytes, from, until);
    if (fields !== count) return this.#reject(`has ${fields} fields where the header has ${count}`);
    const [starts, ends] = [this.#starts, this.#ends];
    const time = parseTime(bytes, starts[timeField]!, ends[timeField]!);
    if (Number.isNaN(time)) {
      return this.#reject(
        `${this.#quote(bytes, timeField)} is not a time that exists (write 2024-12-31 or 2024-12-31 23:59)`,
      );
    }
    for (let i = 0; i < values.length; i++) {
      const value = parseDecimal(bytes, starts[values[i]!]!, ends[values[i]!]!);
      if (Number.isNaN(value)) {
        return this.#reject(`${VALUE_NAMES[i]} ${this.#quote(bytes, values[i]!)} is not a number (write 1234.5)`);
      }
      this.#values[i] = value;
    }
    const [open, high, low, close, volume] = this.#values;
    const fault = findFault(open!, high!, low!, close!, volume!);
    if (fault !== null) return this.#reject(fault);
    const written = { time, local: this.#isDated ? parseLocalTime(bytes, starts[timeField]!, ends[timeField]!) : time };
    const stamped = this.#finder.read(written);
    return Number.isNaN(stamped) ? this.#reject(this.#finder.explain(written)) : this.#checkTime(stamped);
  }

  #readHeader(bytes: Uint8Array, from: number, until: number): CsvColumns {
    if ((bytes[from] === 0xff && bytes[from + 1] === 0xfe) || (bytes[from] === 0xfe && bytes[from + 1] === 0xff)) {
      throw new CsvError("Cannot read UTF-16: save the file as UTF-8");
    }
    if (bytes[from] === 0x1f && bytes[from + 1] === 0x8b) {
      throw new CsvError("Cannot read a compressed file: unpack it with gunzip first");
    }
    const hasMark = bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf;
    const count = this.#splitFields(bytes, hasMark ? from + 3 : from, until);
    if (count > FIELDS_MAX) throw new CsvError(`Cannot read ${count} columns: use at most ${FIELDS_MAX}`);
    const fields = Array.from({ length: count }, (_, i) => fieldText(bytes, this.#starts[i]!, this.#ends[i]!));
    return parseHeader(fields, fieldText(bytes, from, until));
  }

  #checkTime(time: number): number {
    if (time < EARLIEST_MS) return this.#reject(`${new Date(time).toISOString()} is before 1800`);
    // The second candle shows the direction of the file.
    if (this.#taken === 1 && time < this.#last) this.#reverse();
    if (time * this.#direction <= this.#last) return this.#reject(this.#disorder(time));
    if (candleEnd(time, this.#timeframe) > this.#closedUntilMs) {
      return this.#reject(`${new Date(time).toISOString()} is a candle that has not closed yet`);
    }
    this.#last = time * this.#direction;
    this.#lastLine = this.#line;
    this.#taken++;
    return time;
  }

  #reverse(): void {
    this.#direction = -1;
    this.#last = -this.#last;
  }

  #disorder(time: number): string {
    if (time * this.#direction === this.#last) return `has the same time as line ${this.#lastLine}`;
    if (this.#direction > 0) return `is earlier than line ${this.#lastLine}`;
    return `is later than line ${this.#lastLine}, in a file that begins with the newest`;
  }

  #splitFields(bytes: Uint8Array, from: number, until: number): number {
    let count = 0;
    let start = from;
    let isQuoted = false;
    for (let at = from; at <= until; at++) {
      const byte = at === until ? COMMA : bytes[at]!;
      if (byte === QUOTE) isQuoted = !isQuoted;
      if (byte !== COMMA || (isQuoted && at < until)) continue;
      if (count < FIELDS_MAX) this.#trimField(bytes, count, start, at);
      count++;
      start = at + 1;
    }
    return count;
  }

  #trimField(bytes: Uint8Array, field: number, from: number, until: number): void {
    while (from < until && isBlank(bytes[from]!)) from++;
    while (until > from && isBlank(bytes[until - 1]!)) until--;
    if (until - from >= 2 && bytes[from] === QUOTE && bytes[until - 1] === QUOTE) {
      from++;
      until--;
    }
    this.#starts[field] = from;
    this.#ends[field] = until;
  }

  #quote(bytes: Uint8Array, field: number): string {
    return JSON.stringify(
      fieldText(bytes, this.#starts[field]!, Math.min(this.#ends[field]!, this.#starts[field]! + 60)),
    );
  }

  #reject(reason: string): number {
    this.rejectedCount++;
    if (this.rejected.length < REJECTIONS_MAX) this.rejected.push({ line: this.#line, reason });
    return NaN;
  }
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === RETURN || byte === TAB;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

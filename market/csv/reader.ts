import type { Candles } from "../../engine/candles.ts";
import { allocateCandles, CANDLE_COLUMNS, sliceCandles } from "../archive/candle_columns.ts";
import { findFault } from "../archive/candle_rules.ts";
import type { Traded } from "../calendar/exchange_sessions.ts";
import { ConventionFinder } from "./conventions.ts";
import { CsvError } from "./csv_error.ts";
import type { Dialect, ForcedDialect } from "./dialect.ts";
import { concat } from "./file_text.ts";
import { LineFields, NEWLINE } from "./line_fields.ts";
import { parseDecimal } from "./fields.ts";
import { parseWritten } from "./numbers.ts";
import { recognise } from "./recognise.ts";
import { guessTimeframe, readTimes } from "./sample_times.ts";
import { VALUE_COLUMNS } from "./terms.ts";
import { TimeReader } from "./times.ts";
import { hintExchangeTime } from "./zone_hint.ts";
import { candleEnd, isDaily, monthEnd, monthOf, type Timeframe } from "../timeframes.ts";

/** A line that was left out. */
export interface Rejection {
  /** From 1; the header and empty lines count. */
  readonly line: number;
  readonly reason: string;
}

const REJECTIONS_MAX = 100;
const LINE_BYTES_MAX = 65_536;
// A batch has this many candles and then the rest of the month, so that each month's chunk is written once.
const BATCH_CANDLES_MIN = 65_536;
const MONTH_CANDLES_MAX = 31 * 1440;

// No market has older candles: an earlier time is a mistake.
const EARLIEST_MS = Date.UTC(1800, 0, 1);

const UTC_INSTRUMENT: Traded = { assetClass: "crypto", exchange: "" };

const VOLUME = VALUE_COLUMNS.indexOf("volume");
const DASH = 0x2d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;
// The beginning of a file that shows how it is written; the dates of January may leave open which number is the month.
const SAMPLE_BYTES = [65_536, 524_288, 4_194_304] as const;

/**
 * Reads candles from CSV that arrives in pieces, in memory that does not grow with the file.
 *
 * Its beginning shows how it is written (recognise.ts). A file begins with its oldest candle or with its newest; the first two show which.
 * A line is left out and reported if it is no candle, not on a boundary of the timeframe, out of order, or not closed yet. conventions.ts
 * describes how candles may be stamped.
 */
export class CsvReader {
  /** The first 100 lines that were left out. */
  readonly rejected: Rejection[] = [];
  rejectedCount = 0;
  /** Set where times without a zone may be those of the exchange. */
  zoneHint: string | undefined;

  readonly #instrument: Traded;
  #timeframe: Timeframe | null;
  readonly #closedUntilMs: number;
  #isDated = false;
  #finder: ConventionFinder | undefined;
  #rows = allocateCandles(BATCH_CANDLES_MIN + MONTH_CANDLES_MAX);
  /** The batch before lies here, which may be stored while the next one is read. */
  #otherRows = allocateCandles(BATCH_CANDLES_MIN + MONTH_CANDLES_MAX);
  #count = 0;
  /** -1 where the newest candle comes first: times are then negated, so that they increase in either case. */
  #direction: 1 | -1 = 1;
  /** A candle at this time or later, times #direction, begins the next batch. */
  #batchEnd = Infinity;
  readonly #forced: ForcedDialect;
  #dialect: Dialect | undefined;
  #times: TimeReader | undefined;
  /** The instrument's name in the first candle, where lines have one. */
  #ticker: string | undefined;
  #sampleSize = 0;
  #line = 0;
  /** The open of the last candle, times #direction, its line, and the number of candles so far. */
  #last = -Infinity;
  #lastLine = 0;
  #taken = 0;
  #rest: Uint8Array = new Uint8Array(0);
  readonly #fields = new LineFields();
  readonly #values = new Float64Array(VALUE_COLUMNS.length);

  /**
   * @param timeframe null for that of the file's first lines.
   * @param nowMs Milliseconds since 1970; candles that close later are left out.
   * @param instrument Its session tells how its candles may be stamped.
   * @param forced The reading that a user asks for.
   */
  constructor(timeframe: Timeframe | null, nowMs: number, instrument = UTC_INSTRUMENT, forced: ForcedDialect = {}) {
    this.#forced = forced;
    this.#timeframe = timeframe;
    this.#closedUntilMs = nowMs;
    this.#instrument = instrument;
  }

  /** How the file is written, once all of it was read. */
  get dialect(): Dialect {
    if (this.#dialect === undefined) throw new Error("Cannot know the dialect of a file before it was read");
    return this.#dialect;
  }

  /** The file's timeframe, once its first candle was read. */
  get timeframe(): Timeframe {
    if (this.#timeframe === null) throw new Error("Cannot know the timeframe of a file before it was read");
    return this.#timeframe;
  }

  /** How the file stamps its candles, in words; null before its first candle. */
  get convention(): string | null {
    return this.#finder?.name ?? null;
  }

  /**
   * Takes a piece of the file.
   *
   * @returns Complete batches; each stays valid until the one after the next is asked for.
   * @throws {CsvError} When the file is no CSV of candles.
   */
  *push(piece: Uint8Array): Generator<Candles> {
    if (this.#dialect === undefined) {
      this.#rest = concat([this.#rest, piece]);
      if (this.#recognise(false)) yield* this.#readLines(this.#rest);
      return;
    }
    // Only the line that began in the piece before is copied.
    const end = piece.indexOf(NEWLINE) + 1 || piece.length;
    yield* this.#readLines(concat([this.#rest, piece.subarray(0, end)]));
    if (end < piece.length) yield* this.#readLines(piece.subarray(end));
  }

  /** Takes the end of the file. @throws {CsvError} When the file was empty. */
  *end(): Generator<Candles> {
    if (this.#rest.at(-1) !== NEWLINE) this.#rest = concat([this.#rest, Uint8Array.of(NEWLINE)]);
    if (this.#dialect === undefined) this.#recognise(true);
    yield* this.#readLines(this.#rest);
    if (this.#count > 0) yield this.#takeBatch();
  }

  *#readLines(bytes: Uint8Array): Generator<Candles> {
    const until = bytes.lastIndexOf(NEWLINE) + 1;
    for (let from = 0; from < until; from = this.#fields.end + 1) {
      const time = this.#readLine(bytes, from);
      if (time * this.#direction >= this.#batchEnd) yield this.#takeBatch();
      if (!Number.isNaN(time)) this.#keepRow(time);
    }
    if (bytes.length - until > LINE_BYTES_MAX) throw this.#tooLong(this.#line + 1);
    this.#rest = bytes.slice(until);
  }

  /** Recognises the dialect once the file's beginning is there. @returns True if it is known. */
  #recognise(isEnd: boolean): boolean {
    for (; this.#sampleSize < SAMPLE_BYTES.length; this.#sampleSize++) {
      const size = SAMPLE_BYTES[this.#sampleSize]!;
      if (this.#rest.length < size && !isEnd) return false;
      const sample = this.#rest.subarray(0, this.#rest.subarray(0, size).lastIndexOf(NEWLINE) + 1);
      if (sample.length === 0) throw this.#tooLong(1);
      const isWhole = this.#sampleSize === SAMPLE_BYTES.length - 1 || (isEnd && sample.length === this.#rest.length);
      const dialect = recognise(sample, isWhole, this.#forced);
      if (dialect === null) continue;
      this.#dialect = dialect;
      const { times, isZoneless } = readTimes(sample, dialect);
      const timeframe = this.#timeframe ??= guessTimeframe(times);
      if (timeframe === null) {
        throw new CsvError("Cannot tell the timeframe: name it, such as timeframe=1d", { parameter: "timeframe" });
      }
      this.#isDated = isDaily(timeframe);
      const isGuess = isZoneless && !this.#isDated && this.#forced.timezone === undefined;
      if (isGuess) this.zoneHint = hintExchangeTime(times, this.#instrument);
      this.#finder = new ConventionFinder(this.#instrument, timeframe);
      this.#times = new TimeReader({ ...dialect, hasClock: dialect.columns.clock !== null });
      if (BYTE_ORDER_MARK.every((byte, i) => this.#rest[i] === byte)) this.#rest = this.#rest.subarray(3);
      return true;
    }
    return false;
  }

  #tooLong(line: number): CsvError {
    return new CsvError(`Cannot read line ${line}: it is longer than ${LINE_BYTES_MAX} bytes`);
  }

  #takeBatch(): Candles {
    const batch = sliceCandles(this.#rows, 0, this.#count);
    if (this.#direction < 0) CANDLE_COLUMNS.forEach((name) => batch[name].reverse());
    [this.#rows, this.#otherRows] = [this.#otherRows, this.#rows];
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
  #readLine(bytes: Uint8Array, from: number): number {
    const { headerLines, columns, delimiter, decimalMark } = this.#dialect!;
    const { values, count, ticker } = columns;
    const fields = this.#fields.cut(bytes, from, delimiter);
    if (++this.#line <= headerLines || fields === 0) return NaN;
    if (fields !== count) return this.#reject(() => `has ${fields} fields where the header has ${count}`);
    const time = this.#readTime(bytes);
    if (Number.isNaN(time)) return this.#reject(() => this.#times!.fault);
    for (let i = 0; i < values.length; i++) {
      const value = this.#readValue(bytes, values[i]!, decimalMark, i === VOLUME);
      if (Number.isNaN(value)) {
        const text = JSON.stringify(this.#fields.text(values[i]!).slice(0, 60));
        const example = decimalMark === "point" ? "1234.5" : "1234,5";
        return this.#reject(() => `${VALUE_COLUMNS[i]} ${text} is not a number (write ${example})`);
      }
      this.#values[i] = value;
    }
    const read = this.#values;
    const fault = findFault(read[0]!, read[1]!, read[2]!, read[3]!, read[4]!);
    if (fault !== null) return this.#reject(() => fault);
    if (ticker !== null && !this.#isOfTicker(ticker)) return NaN;
    const written = { time, local: this.#isDated ? this.#times!.local : time };
    const stamped = this.#finder!.read(written);
    return Number.isNaN(stamped) ? this.#reject(() => this.#finder!.explain(written)) : this.#checkTime(stamped, time);
  }

  #readTime(bytes: Uint8Array): number {
    const { time, clock } = this.#dialect!.columns;
    const { starts, ends } = this.#fields;
    if (clock === null) return this.#times!.read(bytes, starts[time]!, ends[time]!, this.#isDated);
    return this.#times!.readText(`${this.#fields.text(time)} ${this.#fields.text(clock)}`);
  }

  /** A volume that is missing, as of forex, is 0. */
  #readValue(bytes: Uint8Array, field: number, mark: Dialect["decimalMark"], isVolume: boolean): number {
    if (field < 0) return 0;
    const [from, until] = [this.#fields.starts[field]!, this.#fields.ends[field]!];
    if (isVolume && (from === until || (until - from === 1 && bytes[from] === DASH))) return 0;
    const value = mark === "point" ? parseDecimal(bytes, from, until) : NaN;
    return Number.isNaN(value) ? parseWritten(this.#fields.text(field), mark) : value;
  }

  /** False for a line of another instrument than the file's first candle. */
  #isOfTicker(field: number): boolean {
    const ticker = this.#fields.text(field);
    this.#ticker ??= ticker;
    if (ticker === this.#ticker) return true;
    this.#reject(() => `is of ${ticker} and the first candle of ${this.#ticker}: import each instrument's lines apart`);
    return false;
  }

  #checkTime(time: number, moment: number): number {
    if (time < EARLIEST_MS) return this.#reject(() => `${new Date(time).toISOString()} is before 1800`);
    // The second candle shows the direction of the file.
    if (this.#taken === 1 && time < this.#last) this.#reverse();
    if (time * this.#direction <= this.#last) return this.#reject(() => this.#disorder(time));
    if (candleEnd(time, this.timeframe) > this.#closedUntilMs) {
      return this.#reject(() => `${new Date(time).toISOString()} is a candle that has not closed yet`);
    }
    this.#last = time * this.#direction;
    this.#lastLine = this.#line;
    this.#taken++;
    this.#times!.previous = moment;
    return time;
  }

  #reverse(): void {
    this.#direction = -1;
    this.#times!.isNewestFirst = true;
    this.#last = -this.#last;
  }

  #disorder(time: number): string {
    if (time * this.#direction === this.#last) return `has the same time as line ${this.#lastLine}`;
    if (this.#direction > 0) return `is earlier than line ${this.#lastLine}`;
    return `is later than line ${this.#lastLine}, in a file that begins with the newest`;
  }

  #reject(reason: () => string): number {
    this.rejectedCount++;
    if (this.rejected.length < REJECTIONS_MAX) this.rejected.push({ line: this.#line, reason: reason() });
    return NaN;
  }
}

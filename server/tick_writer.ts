import { BARE, BARE_LENGTHS, PADDED, POINTED, POINTED_LENGTHS, TRIMMED_LENGTHS } from "./digit_tables.ts";

const POWERS_OF_TEN = Float64Array.from({ length: 16 }, (_, exponent) => Number(`1e${exponent}`));
const SCALE_MAX = 12;
// The tables write up to seven decimals; what has seven may be so small that it is written with an exponent.
const TABLE_DECIMALS = 7;
const TABLE_SCALE_MAX = TABLE_DECIMALS - 1;
// A decimal of at most 15 digits is the only one of its length for its double, so it is the one that JSON.stringify would write.
const DIGITS_15 = 1e15;
const BILLION = 1e9;
const DIGIT_0 = 0x30;
const POINT = 0x2e;
const COLON = 0x3a;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** No row is longer: six numbers of at most 24 characters and the text between them. */
const ROW_BYTES_MAX = 400;

const encoder = new TextEncoder();

/** Text as doubles, which are written eight bytes at a time; the last may write beyond the text, where the next thing goes. */
interface Label {
  // No ASCII text is a NaN, so that its bytes travel through a double unchanged.
  readonly words: Float64Array;
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
 * Writes candles as text into memory that is used again and again.
 *
 * Numbers come out as JSON.stringify writes them and times as ISO 8601, several times as fast as by way of strings.
 */
export class TickWriter {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #view: DataView;
  readonly #limit: number;
  readonly #labels: { readonly [part in Exclude<keyof RowFormat, "start">]: Label };
  /** How many decimals each column had last: the next number most often has as many. */
  readonly #scales = new Int32Array(5);
  /** The day that was written last, and the beginning of its rows. */
  #day = NaN;
  #date = makeLabel("");
  readonly #start: string;
  #at = 0;

  constructor(format: RowFormat, pieceBytes: number) {
    this.#bytes = new Uint8Array(pieceBytes + 2 * ROW_BYTES_MAX);
    this.#view = new DataView(this.#bytes.buffer);
    this.#limit = pieceBytes;
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

  get isFull(): boolean {
    return this.#at >= this.#limit;
  }

  /** What was written, as a copy, and an empty page again. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.slice(0, this.#at);
    this.#at = 0;
    return taken;
  }

  /** Writes a few bytes of text. */
  writeText(text: string): void {
    this.#at += encoder.encodeInto(text, this.#bytes.subarray(this.#at)).written;
  }

  /** Writes rows until there are no more or the page is full; returns the index of the next. */
  writeRows(rows: Rows, from: number): number {
    const { time, open, high, low, close, volume } = rows;
    const labels = this.#labels;
    const limit = this.#limit;
    let at = this.#at;
    let i = from;
    for (; i < time.length && at < limit; i++) {
      at = this.#putStart(at, time[i]!);
      at = this.#putLabel(at, labels.open);
      at = this.#putNumber(at, open[i]!, 0);
      at = this.#putLabel(at, labels.high);
      at = this.#putNumber(at, high[i]!, 1);
      at = this.#putLabel(at, labels.low);
      at = this.#putNumber(at, low[i]!, 2);
      at = this.#putLabel(at, labels.close);
      at = this.#putNumber(at, close[i]!, 3);
      at = this.#putLabel(at, labels.volume);
      at = this.#putNumber(at, volume[i]!, 4);
      at = this.#putLabel(at, labels.end);
    }
    this.#at = at;
    return i;
  }

  #putLabel(at: number, { words, length }: Label): number {
    for (let k = 0; k < words.length; k++) this.#view.setFloat64(at + 8 * k, words[k]!, true);
    return at + length;
  }

  /** A row's beginning and its time as far as the minute. */
  #putStart(at: number, timeMs: number): number {
    const day = Math.floor(timeMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#date = makeLabel(this.#start + new Date(day * DAY_MS).toISOString().slice(0, 11));
    }
    const minutes = ((timeMs - day * DAY_MS) / MINUTE_MS) | 0;
    const hour = (minutes / 60) | 0;
    at = this.#putLabel(at, this.#date);
    // Four digits hold the hour and the minute; the minute's are moved to behind the colon.
    const view = this.#view;
    const digits = PADDED[hour * 100 + minutes - hour * 60]!;
    view.setInt16(at, digits, true);
    view.setUint8(at + 2, COLON);
    view.setInt16(at + 3, digits >> 16, true);
    return at + 5;
  }

  /** A finite number. */
  #putNumber(at: number, value: number, column: number): number {
    const scale = this.#scales[column]!;
    const power = POWERS_OF_TEN[scale]!;
    const scaled = value * power;
    if (scaled >= 0 && scaled < BILLION && scale <= TABLE_SCALE_MAX) {
      const whole = (scaled + 0.5) | 0;
      if (whole / power === value) return this.#putShort(at, value, whole, scale);
    }
    return this.#putAny(at, value, column);
  }

  /** A value that is `whole` / 10^`scale`, of at most nine digits, by table: four digits at a time before the point, three and four behind it. */
  #putShort(at: number, value: number, whole: number, scale: number): number {
    const view = this.#view;
    const integer = value | 0;
    if (integer < 10_000) {
      view.setInt32(at, BARE[integer]!, true);
      at += BARE_LENGTHS[integer]!;
    } else at = this.#putInteger(at, integer);
    const behind = whole - integer * POWERS_OF_TEN[scale]!;
    if (scale <= 3) {
      const three = (behind * POWERS_OF_TEN[3 - scale]!) | 0;
      view.setInt32(at, POINTED[three]!, true);
      return at + POINTED_LENGTHS[three]!;
    }
    const seven = (behind * POWERS_OF_TEN[TABLE_DECIMALS - scale]!) | 0;
    const first = (seven / 10_000) | 0;
    const last = seven - first * 10_000;
    view.setInt32(at, POINTED[first]!, true);
    if (last === 0) return at + POINTED_LENGTHS[first]!;
    view.setInt32(at + 4, PADDED[last]!, true);
    return at + 4 + TRIMMED_LENGTHS[last]!;
  }

  /** A whole number of five to nine digits. */
  #putInteger(at: number, integer: number): number {
    const view = this.#view;
    let high = (integer / 10_000) | 0;
    const low = integer - high * 10_000;
    if (high >= 10_000) {
      const top = (high / 10_000) | 0;
      view.setInt32(at, BARE[top]!, true);
      at += BARE_LENGTHS[top]!;
      high -= top * 10_000;
      view.setInt32(at, PADDED[high]!, true);
      at += 4;
    } else {
      view.setInt32(at, BARE[high]!, true);
      at += BARE_LENGTHS[high]!;
    }
    view.setInt32(at, PADDED[low]!, true);
    return at + 4;
  }

  /** A finite number, and how many decimals it has for the next. */
  #putAny(at: number, value: number, column: number): number {
    if (value >= 1e-6 && value < DIGITS_15) {
      for (let scale = this.#scales[column]!; scale <= SCALE_MAX; scale++) {
        const power = POWERS_OF_TEN[scale]!;
        let whole = Math.round(value * power);
        if (whole >= DIGITS_15) break;
        if (whole / power !== value) continue;
        this.#scales[column] = scale;
        while (scale > 0 && isTenfold(whole)) {
          whole /= 10;
          scale--;
        }
        return this.#putDecimal(at, whole, scale);
      }
    }
    this.#scales[column] = 0;
    return at + encoder.encodeInto(String(value), this.#bytes.subarray(at)).written;
  }

  /** `whole` / 10^`scale`. */
  #putDecimal(at: number, whole: number, scale: number): number {
    const bytes = this.#bytes;
    let digits = 1;
    while (digits < 15 && whole >= POWERS_OF_TEN[digits]!) digits++;
    if (digits <= scale) digits = scale + 1;
    if (scale === 0) {
      putDigits(bytes, at, whole, digits);
      return at + digits;
    }
    // The digits are written one place to the right, and those before the point are moved to theirs.
    const before = digits - scale;
    putDigits(bytes, at + 1, whole, digits);
    for (let k = 0; k < before; k++) bytes[at + k] = bytes[at + k + 1]!;
    bytes[at + before] = POINT;
    return at + digits + 1;
  }
}

function isTenfold(whole: number): boolean {
  if (whole >= BILLION) return whole % 10 === 0;
  const integer = whole | 0;
  return ((integer / 10) | 0) * 10 === integer;
}

/** The last `count` digits of a whole number, with zeros in front. */
function putDigits(bytes: Uint8Array, at: number, whole: number, count: number): void {
  // Integer arithmetic is quick below 2^31, so longer numbers are written in two halves.
  if (whole >= BILLION) {
    const high = Math.floor(whole / BILLION);
    putDigits(bytes, at, high, count - 9);
    putDigits(bytes, at + count - 9, whole - high * BILLION, 9);
    return;
  }
  let rest = whole | 0;
  for (let end = at + count - 1; end >= at; end--) {
    const next = (rest / 10) | 0;
    bytes[end] = DIGIT_0 + rest - next * 10;
    rest = next;
  }
}

function makeLabel(text: string): Label {
  const length = encoder.encode(text).length;
  const words = new Float64Array(Math.ceil(length / 8));
  const view = new DataView(words.buffer);
  encoder.encodeInto(text, new Uint8Array(words.buffer));
  return { words: words.map((_, k) => view.getFloat64(k * 8, true)), length };
}

const POWERS_OF_TEN = Float64Array.from({ length: 16 }, (_, exponent) => Number(`1e${exponent}`));
const SCALE_MAX = 12;
// A decimal of at most 15 digits is the only one of its length for its double, so it is the one that JSON.stringify would write.
const DIGITS_15 = 1e15;
const BILLION = 1e9;
const DIGIT_0 = 0x30;
const POINT = 0x2e;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** No row is longer: six numbers of at most 24 characters and the text between them. */
const ROW_BYTES_MAX = 400;

const encoder = new TextEncoder();

// "00" to "99" as the two bytes that stand for them, so that a division by 100 gives two digits.
const PAIRS = new Uint8Array(200);
for (let i = 0; i < 100; i++) encoder.encodeInto(String(i).padStart(2, "0"), PAIRS.subarray(i * 2));

/** Text as 32-bit words, which are written four bytes at a time; the last may write beyond the text, where the next thing goes. */
interface Label {
  readonly words: Uint32Array;
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
  readonly #labels: { readonly [part in keyof RowFormat]: Label };
  /** How many decimals each column had last: the next number most often has as many. */
  readonly #scales = new Int32Array(5);
  /** The day that was written last, and its date as words. */
  #day = NaN;
  #date = makeLabel("");
  #at = 0;

  constructor(format: RowFormat, pieceBytes: number) {
    this.#bytes = new Uint8Array(pieceBytes + 2 * ROW_BYTES_MAX);
    this.#view = new DataView(this.#bytes.buffer);
    this.#limit = pieceBytes;
    const { start, open, high, low, close, volume, end } = format;
    this.#labels = {
      start: makeLabel(start),
      open: makeLabel(open),
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
      at = this.#putLabel(at, labels.start);
      at = this.#putTime(at, time[i]!);
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
    for (let k = 0; k < words.length; k++) this.#view.setUint32(at + 4 * k, words[k]!);
    return at + length;
  }

  #putTime(at: number, timeMs: number): number {
    const day = Math.floor(timeMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#date = makeLabel(new Date(day * DAY_MS).toISOString().slice(0, 11));
    }
    const bytes = this.#bytes;
    const minutes = ((timeMs - day * DAY_MS) / MINUTE_MS) | 0;
    const hour = (minutes / 60) | 0;
    const minute = minutes - hour * 60;
    at = this.#putLabel(at, this.#date);
    bytes[at] = PAIRS[hour * 2]!;
    bytes[at + 1] = PAIRS[hour * 2 + 1]!;
    bytes[at + 2] = 0x3a;
    bytes[at + 3] = PAIRS[minute * 2]!;
    bytes[at + 4] = PAIRS[minute * 2 + 1]!;
    return this.#putLabel(at + 5, SECONDS);
  }

  /** A finite number. */
  #putNumber(at: number, value: number, column: number): number {
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
      this.#scales[column] = 0;
    } else if (value === 0) return this.#putDecimal(at, 0, 0);
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
  let end = at + count;
  while (end - at >= 2) {
    const next = (rest / 100) | 0;
    const pair = (rest - next * 100) * 2;
    rest = next;
    end -= 2;
    bytes[end] = PAIRS[pair]!;
    bytes[end + 1] = PAIRS[pair + 1]!;
  }
  if (end > at) bytes[at] = DIGIT_0 + rest;
}

function makeLabel(text: string): Label {
  const length = encoder.encode(text).length;
  const view = new DataView(new ArrayBuffer(Math.ceil(length / 4) * 4));
  encoder.encodeInto(text, new Uint8Array(view.buffer));
  const words = Uint32Array.from({ length: view.byteLength / 4 }, (_, k) => view.getUint32(k * 4));
  return { words, length };
}

const SECONDS = makeLabel(":00.000Z");

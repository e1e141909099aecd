const POWERS_OF_TEN = Float64Array.from({ length: 13 }, (_, exponent) => Number(`1e${exponent}`));
// A decimal of at most 15 digits is the only one of its length for its double, so it is the one that JSON.stringify would write.
const DIGITS_15 = 1e15;
const BILLION = 1e9;
const DIGIT_0 = 0x30;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** The longest that a number gets: a sign, 17 digits, a point, an exponent of five. */
const NUMBER_BYTES_MAX = 25;

const encoder = new TextEncoder();

/** Bytes of text, as they are written again and again. */
export function textBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/**
 * Writes text into memory that is used again and again: numbers as JSON.stringify does, several times as fast.
 *
 * The caller asks `isFull` before each row, and a row may not be longer than `rowBytesMax`.
 */
export class ByteWriter {
  readonly #bytes: Uint8Array;
  readonly #limit: number;
  #at = 0;
  /** The day that was written last and its date: rows of one day share it. */
  #day = NaN;
  readonly #date = new Uint8Array(11);

  constructor(bytes: number, rowBytesMax: number) {
    this.#bytes = new Uint8Array(bytes + rowBytesMax);
    this.#limit = bytes;
  }

  get isFull(): boolean {
    return this.#at >= this.#limit;
  }

  /** What was written, as a copy, and an empty page again. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.#at);
    taken.set(this.#bytes.subarray(0, this.#at));
    this.#at = 0;
    return taken;
  }

  write(text: Uint8Array): void {
    const bytes = this.#bytes;
    let at = this.#at;
    // For a few bytes, a loop is quicker than a call of set().
    for (let i = 0; i < text.length; i++) bytes[at++] = text[i]!;
    this.#at = at;
  }

  /** A finite number. */
  writeNumber(value: number): void {
    if (value >= 1e-6 && value < DIGITS_15) {
      for (let scale = 0; scale < POWERS_OF_TEN.length; scale++) {
        const power = POWERS_OF_TEN[scale]!;
        const whole = Math.round(value * power);
        if (whole >= DIGITS_15) break;
        if (whole / power === value) return this.#writeDecimal(whole, scale);
      }
    } else if (value === 0) return this.#writeDecimal(0, 0);
    const { written } = encoder.encodeInto(String(value), this.#bytes.subarray(this.#at, this.#at + NUMBER_BYTES_MAX));
    this.#at += written;
  }

  /** A moment on a whole minute, as `2024-02-29T12:34:00.000Z`. */
  writeMinute(timeMs: number): void {
    const day = Math.floor(timeMs / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      encoder.encodeInto(new Date(day * DAY_MS).toISOString(), this.#date);
    }
    this.write(this.#date);
    const minutes = (timeMs - day * DAY_MS) / MINUTE_MS;
    const hour = Math.floor(minutes / 60);
    this.#writeTwo(hour);
    this.#bytes[this.#at++] = 0x3a;
    this.#writeTwo(minutes - hour * 60);
    this.write(SECONDS);
  }

  #writeTwo(value: number): void {
    const tens = Math.floor(value / 10);
    this.#bytes[this.#at++] = DIGIT_0 + tens;
    this.#bytes[this.#at++] = DIGIT_0 + value - tens * 10;
  }

  /** `whole` / 10^`scale`. */
  #writeDecimal(whole: number, scale: number): void {
    const bytes = this.#bytes;
    let digits = 1;
    while (digits < 15 && whole >= POWERS_OF_TEN_LONG[digits]!) digits++;
    if (digits <= scale) digits = scale + 1;
    const end = this.#at + digits + (scale > 0 ? 1 : 0);
    let at = end;
    let left = scale > 0 ? scale : -1;
    // Integer arithmetic is quick below 2^31, so longer numbers are written in two halves.
    let low = whole < BILLION ? whole : whole % BILLION;
    let high = whole < BILLION ? 0 : Math.floor(whole / BILLION);
    for (let i = 0; i < digits; i++) {
      if (i === 9) {
        low = high;
        high = 0;
      }
      const rest = (low / 10) | 0;
      bytes[--at] = DIGIT_0 + low - rest * 10;
      low = rest;
      if (--left === 0) bytes[--at] = 0x2e;
    }
    this.#at = end;
  }
}

const POWERS_OF_TEN_LONG = Float64Array.from({ length: 16 }, (_, exponent) => Number(`1e${exponent}`));
const SECONDS = encoder.encode(":00.000Z");

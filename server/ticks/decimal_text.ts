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

const encoder = new TextEncoder();

/** Memory that text is written to, and a view of the same. */
export interface Page {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly view: DataView<ArrayBuffer>;
}

/**
 * Writes a finite number as JSON.stringify does, at most 24 bytes, and up to eight bytes of nothing behind it.
 *
 * @param scales How many decimals the column's last number had, which the next most often has as well; kept up to date.
 * @returns Where the text ends.
 */
export function putNumber(page: Page, at: number, value: number, scales: Int32Array, column: number): number {
  const scale = scales[column]!;
  const power = POWERS_OF_TEN[scale]!;
  // What does not fit into 31 bits, or is negative, does not come back by the division.
  const whole = (value * power + 0.5) | 0;
  if (scale > TABLE_SCALE_MAX || whole / power !== value) return putAny(page, at, value, scales, column);
  const view = page.view;
  const integer = value | 0;
  at = putInteger(view, at, integer);
  if (scale > 3) return putLongFraction(view, at, whole - integer * power, scale);
  const thousandths = ((whole - integer * power) * POWERS_OF_TEN[3 - scale]!) | 0;
  view.setInt32(at, POINTED[thousandths]!, true);
  return at + POINTED_LENGTHS[thousandths]!;
}

/** A point and four to six decimals without the zeros at their end: three at once, and then four. */
function putLongFraction(view: DataView, at: number, behind: number, scale: number): number {
  const seven = (behind * POWERS_OF_TEN[TABLE_DECIMALS - scale]!) | 0;
  const first = (seven / 10_000) | 0;
  const last = seven - first * 10_000;
  view.setInt32(at, POINTED[first]!, true);
  if (last === 0) return at + POINTED_LENGTHS[first]!;
  view.setInt32(at + 4, PADDED[last]!, true);
  return at + 4 + TRIMMED_LENGTHS[last]!;
}

/** A whole number below 2^31, four digits at a time. */
function putInteger(view: DataView, at: number, integer: number): number {
  if (integer < 10_000) return putBare(view, at, integer);
  const high = (integer / 10_000) | 0;
  if (high < 10_000) at = putBare(view, at, high);
  else {
    const top = (high / 10_000) | 0;
    at = putBare(view, at, top);
    view.setInt32(at, PADDED[high - top * 10_000]!, true);
    at += 4;
  }
  view.setInt32(at, PADDED[integer - high * 10_000]!, true);
  return at + 4;
}

/** 0 to 9999. */
function putBare(view: DataView, at: number, integer: number): number {
  view.setInt32(at, BARE[integer]!, true);
  return at + BARE_LENGTHS[integer]!;
}

/** Any finite number, and how many decimals it has for the next. */
function putAny({ bytes }: Page, at: number, value: number, scales: Int32Array, column: number): number {
  if (value >= 1e-6 && value < DIGITS_15) {
    for (let scale = scales[column]!; scale <= SCALE_MAX; scale++) {
      const power = POWERS_OF_TEN[scale]!;
      let whole = Math.round(value * power);
      if (whole >= DIGITS_15) break;
      if (whole / power !== value) continue;
      scales[column] = scale;
      while (scale > 0 && isTenfold(whole)) {
        whole /= 10;
        scale--;
      }
      return putDecimal(bytes, at, whole, scale);
    }
  }
  scales[column] = 0;
  return at + encoder.encodeInto(String(value), bytes.subarray(at)).written;
}

/** `whole` / 10^`scale`. */
function putDecimal(bytes: Uint8Array, at: number, whole: number, scale: number): number {
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

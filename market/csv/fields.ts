import { DAY_MS } from "../timeframes.ts";

const DIGIT_0 = 0x30;
const decoder = new TextDecoder();

// A double holds these powers of ten exactly, so a whole number below 2^53 divided by one rounds once: to the nearest double.
const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const EXACT_MAX = 2 ** 53;

// No two parts take the same digits: the time to refuse a long field grows with its length alone.
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** The text of a field. */
export function fieldText(bytes: Uint8Array, from: number, until: number): string {
  return decoder.decode(bytes.subarray(from, until));
}

/** Reads a decimal number to the nearest double; NaN for anything else ("NaN", "0x10" and "" included). */
export function parseDecimal(bytes: Uint8Array, from: number, until: number): number {
  let at = from;
  let mantissa = 0;
  let digit = 0;
  for (; at < until && (digit = bytes[at]! - DIGIT_0) >= 0 && digit <= 9; at++) mantissa = mantissa * 10 + digit;
  if (at === until && at > from && mantissa < EXACT_MAX) return mantissa;
  if (bytes[at] === 0x2e && at > from) {
    const point = at++;
    for (; at < until && (digit = bytes[at]! - DIGIT_0) >= 0 && digit <= 9; at++) mantissa = mantissa * 10 + digit;
    const scale = at - point - 1;
    if (at === until && mantissa < EXACT_MAX && scale < POWERS_OF_TEN.length) return mantissa / POWERS_OF_TEN[scale]!;
  }
  // Signs, exponents and very long numbers are rare.
  const text = fieldText(bytes, from, until);
  // Adding 0 turns -0 into 0, so that equal candles have equal bytes.
  return DECIMAL.test(text) ? Number(text) + 0 : NaN;
}

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;
const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?(?:Z|UTC|([+-])(\d{2}):?(\d{2})?)?)?$/i;

/**
 * Reads a moment in milliseconds since 1970; NaN for anything else.
 *
 * `YYYY-MM-DD`, the same with `T` or a space and `HH:MM`, `HH:MM:SS` or `HH:MM:SS.fff`, and then `Z`, `UTC`, an offset such as +02:00, or
 * nothing for UTC. A whole number is an epoch: 9 or 10 digits in seconds, 11 to 13 in milliseconds, to 16 in microseconds, to 19 in nanoseconds.
 */
export function parseTime(bytes: Uint8Array, from: number, until: number): number {
  const length = until - from;
  // Most files have YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, with or without a Z, or with milliseconds and a Z.
  if (bytes[from + 4] === 0x2d && bytes[from + 7] === 0x2d) {
    const day = dayNumber(number4(bytes, from), number2(bytes, from + 5), number2(bytes, from + 8));
    if (length === 10) return day * DAY_MS;
    const isZoned = bytes[until - 1] === 0x5a;
    const hasMs = length === 24 && isZoned && bytes[from + 19] === 0x2e;
    const plain = length === 19 || (length === 20 && isZoned) || hasMs;
    if (plain && isSeparator(bytes[from + 10]!) && bytes[from + 13] === 0x3a && bytes[from + 16] === 0x3a) {
      const ms = hasMs ? wholeNumber(bytes, from + 20, from + 23) : 0;
      return day * DAY_MS + clock(number2(bytes, from + 11), number2(bytes, from + 14), number2(bytes, from + 17)) + ms;
    }
    return parseRareTime(fieldText(bytes, from, until));
  }
  return parseEpoch(bytes, from, until);
}

/** The units of a time since 1970. */
export const TIME_UNITS = ["s", "ms", "us", "ns"] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

// The digits of a unit beyond those of milliseconds.
const EXTRA_DIGITS: Readonly<Record<TimeUnit, number>> = { s: -3, ms: 0, us: 3, ns: 6 };

/** The unit of a whole number that has these digits, for times from 1973 on; null where none fits. */
export function epochUnit(digits: number): TimeUnit | null {
  if (digits < 9 || digits > 19) return null;
  if (digits <= 10) return "s";
  if (digits <= 13) return "ms";
  return digits <= 16 ? "us" : "ns";
}

/** Reads a whole number of units since 1970 in milliseconds; NaN for anything else. @param unit Default: by its digits. */
export function parseEpoch(bytes: Uint8Array, from: number, until: number, unit = epochUnit(until - from)): number {
  if (unit === null || from === until) return NaN;
  const extra = EXTRA_DIGITS[unit];
  const point = Math.max(from, until - Math.max(extra, 0));
  const whole = wholeNumber(bytes, from, point);
  // Nanoseconds since 1970 have more digits than a double: the milliseconds and the rest are read apart.
  const rest = wholeNumber(bytes, point, until);
  return extra < 0 ? whole * 1000 : whole + rest / POWERS_OF_TEN[extra]!;
}

function wholeNumber(bytes: Uint8Array, from: number, until: number): number {
  let value = 0;
  for (let at = from; at < until; at++) {
    const digit = bytes[at]! - DIGIT_0;
    if (digit < 0 || digit > 9) return NaN;
    value = value * 10 + digit;
  }
  return value;
}

function parseRareTime(text: string): number {
  const found = TIME.exec(text);
  if (found === null) return NaN;
  const part = (index: number) => Number(found[index] ?? 0);
  const fractionMs = Number(`0.${found[7] ?? 0}`) * 1000;
  const [offsetHours, offsetMinutes] = [part(9), part(10)];
  if (offsetHours > 18 || offsetMinutes > 59) return NaN;
  const offsetMs = (offsetHours * 60 + offsetMinutes) * 60_000 * (found[8] === "-" ? -1 : 1);
  return dayNumber(part(1), part(2), part(3)) * DAY_MS + clock(part(4), part(5), part(6)) + fractionMs - offsetMs;
}

/** The milliseconds of a time of day that exists, else NaN. */
export function clock(hours: number, minutes: number, seconds: number): number {
  return hours < 24 && minutes < 60 && seconds < 60 ? ((hours * 60 + minutes) * 60 + seconds) * 1000 : NaN;
}

/** Days since 1970 of an existing date, else NaN (Gregorian; Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"). */
export function dayNumber(year: number, month: number, day: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : DAYS_IN_MONTH[month - 1];
  if (days === undefined || !(day >= 1 && day <= days)) return NaN;
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear -
    719_468;
}

function isSeparator(byte: number): boolean {
  return byte === 0x54 || byte === 0x20;
}

function number2(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - DIGIT_0;
  const ones = bytes[at + 1]! - DIGIT_0;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

function number4(bytes: Uint8Array, at: number): number {
  return number2(bytes, at) * 100 + number2(bytes, at + 2);
}

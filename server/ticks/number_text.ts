const POWERS_OF_TEN = Float64Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);
const DECIMALS_MAX = 8;
// JSON.stringify writes smaller numbers with an exponent.
const SMALLEST_PLAIN = 1e-6;
const DIGIT_0 = 0x30;
const POINT = 0x2e;

/** No finite number is longer as text. */
export const NUMBER_BYTES_MAX = 24;

const encoder = new TextEncoder();

/**
 * Writes a finite number as JSON.stringify does.
 *
 * Most prices and volumes have few decimals, and neighbours have equally many. As integers they are written three times as fast as
 * through a string.
 *
 * @param bytes Has room for NUMBER_BYTES_MAX at `at`.
 * @param decimals The number of decimals of each column's last number; updated here.
 * @returns The index behind the text.
 */
export function writeNumber(
  bytes: Uint8Array<ArrayBuffer>,
  at: number,
  value: number,
  decimals: Int32Array,
  column: number,
): number {
  let scale = decimals[column]!;
  let rest = scaled(value, scale);
  // A negative number, or one with more digits than 31 bits hold, does not survive the round trip either.
  if (rest / POWERS_OF_TEN[scale]! !== value || (value < SMALLEST_PLAIN && value !== 0)) {
    decimals[column] = countDecimals(value);
    return at + encoder.encodeInto(String(value), bytes.subarray(at)).written;
  }
  for (; scale > 0 && isTenfold(rest); scale--) rest = (rest / 10) | 0;
  let digits = scale + 1;
  while (digits < POWERS_OF_TEN.length && rest >= POWERS_OF_TEN[digits]!) digits++;
  if (scale === 0) {
    writeDigits(bytes, at, at + digits, rest);
    return at + digits;
  }
  const point = at + digits - scale;
  rest = writeDigits(bytes, point + 1, point + 1 + scale, rest);
  bytes[point] = POINT;
  writeDigits(bytes, at, point, rest);
  return point + 1 + scale;
}

/** Writes an integer's last digits to `from` until `end`. @returns The digits in front of them, as an integer. */
function writeDigits(bytes: Uint8Array, from: number, end: number, integer: number): number {
  for (let i = end - 1; i >= from; i--) {
    const rest = (integer / 10) | 0;
    bytes[i] = DIGIT_0 + integer - rest * 10;
    integer = rest;
  }
  return integer;
}

/** `value` * 10^`scale`, rounded to an integer of 31 bits. */
function scaled(value: number, scale: number): number {
  return (value * POWERS_OF_TEN[scale]! + 0.5) | 0;
}

function isTenfold(integer: number): boolean {
  return ((integer / 10) | 0) * 10 === integer;
}

/** The fewest decimals that hold the number exactly; 0 where none do. */
function countDecimals(value: number): number {
  for (let scale = 0; scale <= DECIMALS_MAX; scale++) {
    if (scaled(value, scale) / POWERS_OF_TEN[scale]! === value) return scale;
  }
  return 0;
}

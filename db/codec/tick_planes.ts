// Times are on multiples of 10,000 ms, prices of small coins have up to twelve decimals.
const DECIMALS_MIN = -4;
const DECIMALS_MAX = 12;
// Distances of such numbers, doubled for their signs, are whole numbers too.
const WHOLE_MAX = 2 ** 51;
// Parsed from text, since 10 ** n may be inexact.
const POWERS_OF_TEN = Float64Array.from({ length: DECIMALS_MAX + 1 }, (_, exponent) => Number(`1e${exponent}`));

/** How a column of short decimals is written as whole numbers, `value * 10^decimals`. */
export interface Ticks {
  readonly decimals: number;
  /** Where the distances from one number to the next begin; null where the numbers themselves are shorter. */
  readonly first: number | null;
  /** Bytes of each number. */
  readonly planes: number;
  /** Some values are NaN: a byte for each tells which. */
  readonly hasGaps: boolean;
}

const NARROW_PLANES = 3;
// The rows that usually show how many decimals a column has.
const ROWS_TRIED = 64;

/** The whole numbers of the column whose decimals were counted last. */
let scratch = new Float64Array(0);

/**
 * Writes a column of short decimals: the lowest bytes of all rows, then all second bytes and so on; an odd number is below zero.
 *
 * @returns Null if a value would not come back exactly: infinite, -0 or with too many digits.
 */
export function writeTicks(values: Float64Array): { readonly ticks: Ticks; readonly bytes: Uint8Array } | null {
  const rows = values.length;
  const decimals = countDecimals(values);
  if (decimals === null) return null;
  const wholes = scratch.subarray(0, rows);
  const ticks = measure(wholes, decimals);
  const bytes = new Uint8Array((ticks.planes + (ticks.hasGaps ? 1 : 0)) * rows);
  if (ticks.hasGaps) wholes.forEach((whole, i) => bytes[ticks.planes * rows + i] = whole === whole ? 0 : 1);
  if (ticks.planes <= NARROW_PLANES) writeNarrowPlanes(ticks, wholes, bytes);
  else writePlanes(ticks, wholes, bytes);
  return { ticks, bytes };
}

/** The fewest decimals with which a column's values come back exactly, NaN left out; null if there are too many. */
export function countDecimals(values: Float64Array): number | null {
  if (scratch.length < values.length) scratch = new Float64Array(values.length);
  const tried = values.subarray(0, ROWS_TRIED);
  // A value that is exact with some decimals is exact with more: both are of the same number, rounded once.
  for (let decimals = DECIMALS_MIN; decimals <= DECIMALS_MAX; decimals++) {
    if (scale(tried, scratch, decimals) < tried.length) continue;
    if (scale(values, scratch, decimals) === values.length) return decimals;
  }
  return null;
}

/** Scales values to whole numbers, up to the first that is not exact. @returns How many. */
function scale(values: Float64Array, wholes: Float64Array, decimals: number): number {
  const [unit, parts] = scaleOf(decimals);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // Nearly all columns have a unit of 1, and a division takes as long as all the rest.
    const whole = Math.round(unit === 1 ? value * parts : value * parts / unit);
    wholes[i] = whole;
    if ((unit === 1 ? whole / parts : whole / parts * unit) === value && whole <= WHOLE_MAX && whole >= -WHOLE_MAX) {
      if (whole !== 0 || 1 / value > 0) continue;
    }
    if (!Number.isNaN(value)) return i;
  }
  return values.length;
}

function measure(wholes: Float64Array, decimals: number): Ticks {
  const first = findFirst(wholes);
  let gaps = 0;
  let last = first;
  let [least, most, farthest] = [0, 0, 0];
  for (let i = 0; i < wholes.length; i++) {
    const whole = wholes[i]!;
    if (whole !== whole) {
      gaps++;
      continue;
    }
    if (whole < least) least = whole;
    if (whole > most) most = whole;
    const distance = Math.abs(whole - last);
    if (distance > farthest) farthest = distance;
    last = whole;
  }
  const largest = Math.max(-least, most);
  let planes = 1;
  while (2 * Math.min(largest, farthest) >= 256 ** planes) planes++;
  return { decimals, first: farthest < largest ? first : null, planes, hasGaps: gaps > 0 };
}

/** The first value that is a number; 0 where none is. */
function findFirst(wholes: Float64Array): number {
  for (let i = 0; i < wholes.length; i++) if (!Number.isNaN(wholes[i])) return wholes[i]!;
  return 0;
}

function writePlanes({ first, planes }: Ticks, wholes: Float64Array, bytes: Uint8Array): void {
  const rows = wholes.length;
  const isDelta = first !== null;
  let last = first ?? 0;
  for (let i = 0; i < rows; i++) {
    const whole = wholes[i]!;
    if (whole !== whole) continue;
    const distance = isDelta ? whole - last : whole;
    last = whole;
    const code = distance < 0 ? -2 * distance - 1 : 2 * distance;
    for (let plane = 0; plane < planes; plane++) bytes[plane * rows + i] = Math.floor(code / 256 ** plane);
  }
}

/** Like writePlanes, for up to NARROW_PLANES, with the arithmetic of 32-bit integers, which takes a third of the time. */
function writeNarrowPlanes({ first, planes }: Ticks, wholes: Float64Array, bytes: Uint8Array): void {
  const rows = wholes.length;
  const isDelta = first !== null;
  const [second, third] = [rows, 2 * rows];
  let last = first ?? 0;
  for (let i = 0; i < rows; i++) {
    const whole = wholes[i]!;
    if (whole !== whole) continue;
    const distance = (isDelta ? whole - last : whole) | 0;
    last = whole;
    const code = (distance << 1) ^ (distance >> 31);
    bytes[i] = code;
    if (planes > 1) bytes[second + i] = code >> 8;
    if (planes > 2) bytes[third + i] = code >> 16;
  }
}

/** Reads a column that writeTicks() wrote. @param take Gives the next bytes. */
export function readTicks(
  { decimals, first, planes, hasGaps }: Ticks,
  rows: number,
  take: (bytes: number) => Uint8Array,
): Float64Array {
  const bytes = take((planes + (hasGaps ? 1 : 0)) * rows);
  const [unit, parts] = scaleOf(decimals);
  const values = new Float64Array(rows);
  const readDistance = planes <= NARROW_PLANES ? readNarrow : readWide;
  let last = first ?? 0;
  for (let i = 0; i < rows; i++) {
    if (hasGaps && bytes[planes * rows + i] === 1) {
      values[i] = NaN;
      continue;
    }
    const distance = readDistance(bytes, planes, rows, i);
    last = first === null ? distance : last + distance;
    values[i] = last / parts * unit;
  }
  return values;
}

function readWide(bytes: Uint8Array, planes: number, rows: number, i: number): number {
  let code = 0;
  for (let plane = planes - 1; plane >= 0; plane--) code = code * 256 + bytes[plane * rows + i]!;
  return code % 2 === 1 ? -(code + 1) / 2 : code / 2;
}

/** Like readWide, with the arithmetic of 32-bit integers. */
function readNarrow(bytes: Uint8Array, planes: number, rows: number, i: number): number {
  let code = bytes[i]!;
  if (planes > 1) code |= bytes[rows + i]! << 8;
  if (planes > 2) code |= bytes[2 * rows + i]! << 16;
  return (code >>> 1) ^ -(code & 1);
}

/** A value is `whole / parts * unit`; one of the two is 1. */
function scaleOf(decimals: number): [unit: number, parts: number] {
  return decimals < 0 ? [POWERS_OF_TEN[-decimals]!, 1] : [1, POWERS_OF_TEN[decimals]!];
}

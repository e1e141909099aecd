import type { Columns } from "./packed_columns.ts";

// With more pieces of equal cash than this, cash has as many different values as the equity has.
const ROWS_PER_PIECE_MIN = 4;
const NEIGHBOURS_MAX = 3;
// Half the distance between 1 and the next double.
const HALF_ULP_OF_ONE = 2 ** -53;

/**
 * Replaces the equity of a stretch of a curve by the cash behind it, if every value comes back to the bit as `cash + position * close`. Equity has new
 * digits at each candle; cash stays the same between fills, and a close is a short decimal.
 *
 * @param columns `time`, `equity` and `position`, and `close` where it is known.
 * @returns `time`, `position`, `close` and `cash`, or else `time`, `equity` and `position`.
 */
export function packEquity({ close, ...curve }: Columns): Columns {
  const { equity, position, ...others } = curve;
  if (equity === undefined || position === undefined || close === undefined) return curve;
  const cash = findCash(equity, position, close);
  return cash === null ? curve : { ...others, position, close, cash };
}

/** The equity of a stretch that `packEquity` made; undefined if the columns are of something else. */
export function unpackEquity({ equity, cash, position, close }: Columns): Float64Array | undefined {
  if (cash === undefined || position === undefined || close === undefined) return equity;
  const joined = new Float64Array(cash.length);
  for (let i = 0; i < joined.length; i++) joined[i] = cash[i]! + position[i]! * close[i]!;
  return joined;
}

/** Cash, constant over as many rows as possible, with which each equity comes back exactly; null where there is none. */
function findCash(equity: Float64Array, position: Float64Array, close: Float64Array): Float64Array | null {
  const rows = equity.length;
  const cash = new Float64Array(rows);
  let pieces = 0;
  for (let begin = 0; begin < rows;) {
    if (++pieces * ROWS_PER_PIECE_MIN > rows) return null;
    const units = position[begin]!;
    // Each row allows an interval of cash, of which every value rounds to the same equity. The piece ends where they have nothing in common.
    let low = -Infinity;
    let high = Infinity;
    let binade = 0;
    let end = begin;
    for (; end < rows && position[end] === units; end++) {
      const value = equity[end]!;
      const size = Math.abs(value);
      if (!(size >= binade && size < 2 * binade)) binade = binadeOf(size);
      const rest = value - units * close[end]!;
      const slack = (binade + Math.abs(rest)) * HALF_ULP_OF_ONE;
      if (rest - slack > high || rest + slack < low) break;
      if (rest - slack > low) low = rest - slack;
      if (rest + slack < high) high = rest + slack;
    }
    const found = end === begin ? NaN : chooseCash((low + high) / 2, equity, position, close, begin, end);
    if (Number.isNaN(found)) return null;
    cash.fill(found, begin, end);
    begin = end;
  }
  return cash;
}

/** The double nearest to `near` that fits rows `begin` to `end` - 1; NaN if none does. */
function chooseCash(
  near: number,
  equity: Float64Array,
  position: Float64Array,
  close: Float64Array,
  begin: number,
  end: number,
): number {
  const step = 2 * binadeOf(Math.abs(near)) * HALF_ULP_OF_ONE;
  for (let k = 0; k <= 2 * NEIGHBOURS_MAX; k++) {
    const cash = near + (k % 2 === 0 ? k / 2 : -(k + 1) / 2) * step;
    let i = begin;
    while (i < end && Object.is(cash + position[i]! * close[i]!, equity[i])) i++;
    if (i === end) return cash;
  }
  return NaN;
}

/** The greatest power of two that is not above a size. */
function binadeOf(size: number): number {
  if (!(size > 0 && size < Infinity)) return 0;
  const guess = 2 ** Math.floor(Math.log2(size));
  return guess > size ? guess / 2 : guess;
}

import { candleClose } from "../time/durations.ts";
import type { Execution } from "../execution.ts";
import type { PortfolioMarket } from "./portfolio.ts";

/** The rows of a market's candles: its candle `i` closes in row `rowOf(i)`. */
export class CloseRows {
  /** Row of candle 0 where one candle follows the other in every row; NaN where there are gaps. */
  readonly #offset: number;
  readonly #rows: Int32Array | null;
  readonly #firstIndex: number;

  /** @param rows Of the candles from `firstIndex` on; null: they close in consecutive rows, the first of them in `firstRow`. */
  constructor(firstIndex: number, firstRow: number, rows: Int32Array | null) {
    this.#firstIndex = firstIndex;
    this.#offset = firstRow - firstIndex;
    this.#rows = rows;
  }

  rowOf(i: number): number {
    return this.#rows === null ? i + this.#offset : this.#rows[i - this.#firstIndex]!;
  }

  /** True if there may be rows between its candles' without a candle of its own. */
  get hasGaps(): boolean {
    return this.#rows !== null;
  }

  /** The newest candle that has closed in this row or before; the one before `firstIndex` where none has. @param last Its last candle. */
  newestIn(row: number, last: number): number {
    if (this.#rows === null) return Math.min(last, Math.max(this.#firstIndex - 1, row - this.#offset));
    return this.#firstIndex - 1 + countUpTo(this.#rows, row);
  }
}

/** The instants at which candles of a portfolio close, a row each. */
export interface Timeline {
  readonly instant: Float64Array;
  /** The open of a candle that closes in the row; does not decrease. */
  readonly time: Float64Array;
  readonly closes: readonly CloseRows[];
  /** True if every candle begins after the row before the one in which it closes: no candle is under way when another one closes. */
  readonly isAligned: boolean;
}

/** The parts of a simulation besides the request, which several of one request share. */
export interface PortfolioPlan {
  readonly timeline: Timeline;
  /** 1 in the rows in which a portfolio strategy is asked. */
  readonly asks: Uint8Array;
  /** The rules of every market: the default size is its part of equity. */
  readonly execution: Execution;
  /** True if margin calls look at closes only, and not at the worst prices of candles. */
  readonly callsAtCloses: boolean;
}

/**
 * Finds the rows of a portfolio: every instant at which a candle of the range closes.
 *
 * Markets of one exchange have the same instants. So a market is first compared with a stretch of the rows, and merged only
 * where it differs.
 */
export function findTimeline(markets: readonly PortfolioMarket[], timeframeMs: number | null): Timeline {
  const isPlain = timeframeMs !== null && markets.every(({ hours }) => (hours ?? null) === null);
  const keys = markets.map((market) =>
    (isPlain ? market.candles.time : closesOf(market, timeframeMs)).subarray(market.firstIndex)
  );
  let union = keys[0]!.slice();
  // The stretch of each market, and the length of the rows in which it was found: merging changes both.
  const found = keys.map((key) => {
    const first = findStretch(union, key);
    if (first < 0) union = merge(union, key);
    return { first: Math.max(first, 0), rows: first < 0 ? NaN : union.length };
  });
  const closes = keys.map((key, n) => {
    const { first, rows } = found[n]!;
    const firstRow = rows === union.length ? first : findStretch(union, key);
    return new CloseRows(markets[n]!.firstIndex, Math.max(0, firstRow), firstRow < 0 ? rowsOf(union, key) : null);
  });
  if (!isPlain) return { instant: union, time: opensOf(markets, closes, union.length), closes, isAligned: false };
  const isAligned = union.every((time, row) => row === 0 || time - union[row - 1]! >= timeframeMs);
  return { instant: union.map((time) => time + timeframeMs), time: union, closes, isAligned };
}

function closesOf({ candles: { time }, hours = null }: PortfolioMarket, timeframeMs: number | null): Float64Array {
  return hours === null ? time.map((open) => candleClose(open, timeframeMs)) : hours.closes;
}

/** The open of the first listed market's candle in each row. */
function opensOf(markets: readonly PortfolioMarket[], closes: readonly CloseRows[], rows: number): Float64Array {
  const time = new Float64Array(rows);
  for (let n = markets.length - 1; n >= 0; n--) {
    const { candles, firstIndex } = markets[n]!;
    for (let i = firstIndex; i < candles.time.length; i++) time[closes[n]!.rowOf(i)] = candles.time[i]!;
  }
  for (let row = 1; row < rows; row++) time[row] = Math.max(time[row]!, time[row - 1]!);
  return time;
}

/** Where a column begins in another one that holds all of it without a gap; -1 where it does not. */
function findStretch(all: Float64Array, part: Float64Array): number {
  if (part.length === 0) return 0;
  const first = firstFrom(all, part[0]!);
  if (first + part.length > all.length) return -1;
  for (let k = 0; k < part.length; k++) {
    if (all[first + k] !== part[k]) return -1;
  }
  return first;
}

/** Both columns as one, ascending, equal values once. */
function merge(a: Float64Array, b: Float64Array): Float64Array<ArrayBuffer> {
  const merged = new Float64Array(a.length + b.length);
  let count = 0;
  for (let k = 0, n = 0; k < a.length || n < b.length; count++) {
    const left = k < a.length ? a[k]! : Infinity;
    const right = n < b.length ? b[n]! : Infinity;
    merged[count] = Math.min(left, right);
    if (left <= right) k++;
    if (right <= left) n++;
  }
  return merged.slice(0, count);
}

function rowsOf(union: Float64Array, key: Float64Array): Int32Array {
  const rows = new Int32Array(key.length);
  for (let k = 0, row = 0; k < key.length; k++, row++) {
    while (union[row]! < key[k]!) row++;
    rows[k] = row;
  }
  return rows;
}

/** Index of the first value at or above this one; the length where there is none. */
export function firstFrom(values: Float64Array, value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How many of the ascending rows are at or before this one. */
function countUpTo(rows: Int32Array, row: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]! <= row) low = middle + 1;
    else high = middle;
  }
  return low;
}

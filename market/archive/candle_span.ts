import { LRUCache } from "lru-cache";
import type { Candles } from "../../engine/candles.ts";
import {
  allocateCandles,
  CANDLE_COLUMNS,
  copyCandles,
  hashCandles,
  lowerBound,
  sliceCandles,
} from "./candle_columns.ts";
import { isPlanGap, type Piece, type PieceKey } from "./candle_pieces.ts";
import type { CandlesRead } from "./read.ts";
import type { ReadPlan } from "./read_plan.ts";

// A view is six small objects and a checksum that took milliseconds.
const VIEWS_MAX = 1024;

/**
 * Neighbouring pieces of a series, one after the other in shared memory: each range of them, with whatever lookback, is a view.
 *
 * It never changes. Other pieces make another span, into which it copies those that are still valid.
 */
export class CandleSpan {
  readonly pieces: readonly Piece[];
  /** In memory, the views' own left out. */
  readonly bytes: number;
  readonly #candles: Candles;
  readonly #firstSource: Float64Array;
  readonly #lastSource: Float64Array;
  readonly #beforeGap: Float64Array;
  readonly #afterGap: Float64Array;
  readonly #views = new LRUCache<string, CandlesRead>({ max: VIEWS_MAX });

  private constructor(plan: ReadPlan, pieces: readonly Piece[]) {
    const candles = allocateCandles(pieces.reduce((sum, piece) => sum + piece.candles.time.length, 0), true);
    const isMade = plan.source !== plan.timeframe;
    this.#candles = candles;
    this.#firstSource = isMade ? concat(pieces.map((piece) => piece.firstSource)) : candles.time;
    this.#lastSource = isMade ? concat(pieces.map((piece) => piece.lastSource)) : candles.time;
    const borders = findBorderGaps(plan, pieces);
    this.#beforeGap = concat(pieces.flatMap((piece, index) => [borders[index]!.before, piece.beforeGap]));
    this.#afterGap = concat(pieces.flatMap((piece, index) => [borders[index]!.after, piece.afterGap]));
    let at = 0;
    this.pieces = pieces.map((piece) => {
      const end = at + piece.candles.time.length;
      copyCandles(piece.candles, candles, at);
      // The piece's own memory is free from here on.
      const held = { ...piece, candles: sliceCandles(candles, at, end) };
      const sources = {
        firstSource: this.#firstSource.subarray(at, end),
        lastSource: this.#lastSource.subarray(at, end),
      };
      at = end;
      return { ...held, ...sources };
    });
    const { length } = candles.time;
    this.bytes = Float64Array.BYTES_PER_ELEMENT *
      (length * (CANDLE_COLUMNS.length + (isMade ? 2 : 0)) + 4 * this.#beforeGap.length);
  }

  /** Joins pieces that follow each other; null where they cut a bucket, as candles that reach into the next session do. */
  static join(plan: ReadPlan, pieces: readonly Piece[]): CandleSpan | null {
    let last = -Infinity;
    for (const { candles: { time } } of pieces) {
      if (time.length === 0) continue;
      if (time[0]! <= last) return null;
      last = time[time.length - 1]!;
    }
    return new CandleSpan(plan, pieces);
  }

  /** True if the span holds all these pieces, in this order and without others between them. */
  holds(keys: readonly PieceKey[]): boolean {
    const first = this.pieces.findIndex(({ tag }) => tag === keys[0]?.tag);
    return keys.length === 0 || (first >= 0 && keys.every(({ tag }, index) => this.pieces[first + index]?.tag === tag));
  }

  /** The candles of a plan whose pieces it holds, as readPlan() reads them. @returns Null where the plan cuts a bucket. */
  view(plan: ReadPlan): CandlesRead | null {
    const { from, until } = plan;
    const begin = lowerBound(this.#firstSource, from);
    const end = Math.max(begin, lowerBound(this.#firstSource, until));
    if (begin > 0 && this.#lastSource[begin - 1]! >= from) return null;
    if (end > begin && this.#lastSource[end - 1]! >= until) return null;
    const before = lowerBound(this.#candles.time.subarray(begin, end), plan.start);
    const lookback = Math.min(before, plan.lookback);
    const first = begin + before - lookback;
    const key = [first, end, lookback, plan.sourceStart, until].join();
    const held = this.#views.get(key);
    if (held !== undefined) return held;
    const candles = sliceCandles(this.#candles, first, end);
    const gaps = this.#countGaps(plan);
    const view = { candles, lookback, source: plan.source, sha256: hashCandles(candles), gaps };
    this.#views.set(key, view);
    return view;
  }

  #countGaps({ sourceStart, until }: ReadPlan): number {
    return Math.max(0, lowerBound(this.#afterGap, until) - lowerBound(this.#beforeGap, sourceStart));
  }
}

/** The gap before each piece; empty where none is. */
function findBorderGaps(
  plan: ReadPlan,
  pieces: readonly Piece[],
): readonly { readonly before: Float64Array; readonly after: Float64Array }[] {
  let last: number | undefined;
  return pieces.map(({ source }) => {
    const before = last;
    last = source?.last ?? last;
    const isMissing = before !== undefined && source !== null && isPlanGap(plan, before, source.first);
    return {
      before: Float64Array.from(isMissing ? [before] : []),
      after: Float64Array.from(isMissing ? [source.first] : []),
    };
  });
}

function concat(parts: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

import type { ChunkSummary } from "../../db/candle_chunks.ts";
import type { Candles } from "../../engine/candles.ts";
import { isGap } from "../calendar/trading_hours.ts";
import { candleEnd, monthEnd, shortestMs } from "../timeframes.ts";
import { concatCandles, lowerBound, sliceCandles } from "./candle_columns.ts";
import { bucketsOf, daysOf } from "./made_candles.ts";
import { type ReadChunks, readSource, type Repair } from "./read.ts";
import type { ReadPlan } from "./read_plan.ts";
import { Resampler } from "./resample.ts";

/** The candles of a month, cut where buckets are whole, so that they do not depend on the range that was asked for. */
export interface PieceKey {
  /** Equal tags, equal candles. */
  readonly tag: string;
  /** Stored candles that open in [from, until) make the piece. */
  readonly from: number;
  readonly until: number;
  /** The chunks that hold them: a bucket may reach into the next month. */
  readonly chunks: readonly ChunkSummary[];
}

/** A loaded piece. Times are opens in milliseconds since 1970, in ascending order. */
export interface Piece {
  readonly tag: string;
  readonly candles: Candles;
  /** The first and the last stored candle in each candle of the piece. */
  readonly firstSource: Float64Array;
  readonly lastSource: Float64Array;
  /** The stored candles before and after each gap, as isGap() finds them. */
  readonly beforeGap: Float64Array;
  readonly afterGap: Float64Array;
  /** Of all stored candles, those outside of the session included; null for none. */
  readonly source: { readonly first: number; readonly last: number } | null;
}

/** The pieces of series that runs take as they are stored: those of hundreds of instruments are cut for each run. */
const STORED = new WeakMap<readonly ChunkSummary[], readonly PieceKey[]>();

/** Cuts the series of a plan into pieces, a chunk each. */
export function cutPieces(plan: ReadPlan): readonly PieceKey[] {
  const { series, source, timeframe } = plan;
  if (source !== timeframe) return cutSeries(plan);
  const pieces = STORED.get(series) ?? cutSeries(plan);
  STORED.set(series, pieces);
  return pieces;
}

function cutSeries(plan: ReadPlan): PieceKey[] {
  const { series, source, timeframe, instrument } = plan;
  const buckets = source === timeframe ? null : bucketsOf(instrument, source, plan);
  const cuts = series.map(({ month }, index) => {
    const start = Date.parse(`${month}T00:00:00Z`);
    if (index === 0) return -Infinity;
    return buckets === null ? start : Math.min(buckets.ceil(start), monthEnd(month));
  });
  return series.map((chunk, index) => {
    const [from, until] = [cuts[index]!, cuts[index + 1] ?? Infinity];
    const next = series[index + 1];
    const chunks = next !== undefined && next.firstTime.getTime() < until ? [chunk, next] : [chunk];
    const head = chunk.firstTime.getTime() < from ? from : "";
    const tail = chunks.length > 1 ? until : "";
    return { tag: [head, ...chunks.map(({ sha256 }) => sha256), tail].join(), from, until, chunks };
  });
}

/** The pieces that hold the candles of a plan: [first, end) of its list. */
export function findPieces(pieces: readonly PieceKey[], { from, until }: ReadPlan): [first: number, end: number] {
  const first = pieces.findIndex((piece) => piece.until > from);
  const end = pieces.findLastIndex((piece) => piece.from < until) + 1;
  return first < 0 || from >= until ? [0, 0] : [first, Math.max(first, end)];
}

/** Loads neighbouring pieces of a plan's series. @throws As readPlan(). */
export async function loadPieces(
  read: ReadChunks,
  plan: ReadPlan,
  keys: readonly PieceKey[],
  repair?: Repair,
): Promise<Piece[]> {
  const chunks = [...new Set(keys.flatMap((key) => key.chunks))];
  const [from, until] = [keys[0]?.from ?? 0, keys.at(-1)?.until ?? 0];
  const builders = keys.map((key) => new PieceBuilder(plan, key));
  let at = 0;
  for await (const batch of readSource(read, { ...plan, from, until, chunks }, repair)) {
    let rest = batch;
    while (rest.time.length > 0) {
      const builder = builders[at]!;
      const end = lowerBound(rest.time, builder.until);
      builder.push(sliceCandles(rest, 0, end));
      rest = sliceCandles(rest, end);
      if (rest.time.length > 0) at++;
    }
  }
  return builders.map((builder) => builder.finish());
}

class PieceBuilder {
  readonly until: number;
  readonly #plan: ReadPlan;
  readonly #tag: string;
  readonly #resampler: Resampler | null;
  readonly #parts: Candles[] = [];
  readonly #beforeGap: number[] = [];
  readonly #afterGap: number[] = [];
  #first: number | undefined;
  #last = NaN;

  constructor(plan: ReadPlan, { tag, until }: PieceKey) {
    this.until = until;
    this.#plan = plan;
    this.#tag = tag;
    this.#resampler = plan.source === plan.timeframe
      ? null
      : new Resampler(bucketsOf(plan.instrument, plan.source, plan), plan.source);
  }

  push(candles: Candles): void {
    const { time } = candles;
    if (time.length === 0) return;
    this.#first ??= time[0]!;
    const lengthMs = shortestMs(this.#plan.source);
    for (let i = 0, before = this.#last; i < time.length; before = time[i++]!) {
      // NaN before the first candle, which no comparison passes.
      if (!(time[i]! > before + lengthMs) || !isPlanGap(this.#plan, before, time[i]!)) continue;
      this.#beforeGap.push(before);
      this.#afterGap.push(time[i]!);
    }
    this.#last = time[time.length - 1]!;
    this.#parts.push(this.#resampler === null ? candles : this.#resampler.push(candles));
  }

  finish(): Piece {
    if (this.#resampler !== null) this.#parts.push(this.#resampler.flush());
    const candles = concatCandles(this.#parts);
    const [first, last] = this.#resampler?.takeSources() ?? [candles.time, candles.time];
    return {
      tag: this.#tag,
      candles,
      firstSource: first,
      lastSource: last,
      beforeGap: Float64Array.from(this.#beforeGap),
      afterGap: Float64Array.from(this.#afterGap),
      source: this.#first === undefined ? null : { first: this.#first, last: this.#last },
    };
  }
}

/** True if candles of a plan's series are missing between two neighbouring stored ones. */
export function isPlanGap({ instrument, source, hours }: ReadPlan, before: number, after: number): boolean {
  const close = candleEnd(before, source);
  return after > close && isGap(instrument, daysOf(instrument, source, hours), close, after);
}

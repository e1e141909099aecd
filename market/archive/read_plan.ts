import { createHash } from "node:crypto";
import { type ChunkSummary, listChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { listInstrumentCoverage, type Stretch } from "../../db/coverage.ts";
import type { Instrument } from "../../db/instruments.ts";
import { FEED_LABELS } from "../../db/schema.ts";
import { nextTradeTime } from "../calendar/trading_hours.ts";
import { subtractRanges, type TimeRange } from "./time_ranges.ts";
import {
  bucketStart,
  bucketStartAtOrAfter,
  divides,
  isTimeframe,
  type Timeframe,
  TIMEFRAME_NAMES,
  TIMEFRAMES,
} from "../timeframes.ts";

/** A request for candles. */
export interface CandleQuery {
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  /** Candles that open in [start, end), milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** The number of candles before `start` to add, as far as they are stored; default 0. */
  readonly lookback?: number;
  /** Milliseconds since 1970; a candle that closes later is still open. Default: the clock. */
  readonly now?: number;
}

/** The chunks that answer a query, found without reading them. */
export interface ReadPlan {
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  /** The stored timeframe that the answer is made from. */
  readonly source: Timeframe;
  /** Stored candles that open in [from, until) make the answer; both on boundaries of `timeframe`. Empty where from >= until. */
  readonly from: number;
  readonly until: number;
  /** The requested start; `from` is earlier where the query has lookback. */
  readonly start: number;
  readonly lookback: number;
  readonly chunks: readonly ChunkSummary[];
  /**
   * Ranges of `source` whose stored candles may have another adjustment for splits than the rest, oldest first. Lookback starts after
   * the last of them.
   */
  readonly doubtful: readonly TimeRange[];
  /** An upper bound of the answer's candles. */
  readonly candlesMax: number;
}

/** The archive holds only coarser candles than the requested ones. */
export class TimeframeTooFineError extends Error {
  override readonly name = "TimeframeTooFineError";
  constructor(readonly asked: Timeframe, readonly finest: Timeframe, instrument: Instrument) {
    super(
      `Cannot make ${asked} candles of ${instrument.symbol} on ${instrument.exchange}: the finest stored are ${finest}`,
    );
  }
}

/**
 * Finds the chunks that answer a query.
 *
 * The source is the coarsest stored timeframe that divides the requested one, among those that reach furthest into the range without a
 * doubtful candle. A bucket is part of the answer when it has closed and no later candle can belong to it.
 *
 * @throws {TimeframeTooFineError}
 */
export async function planRead(db: Db, query: CandleQuery): Promise<ReadPlan> {
  const { instrument, timeframe, start } = query;
  const held = groupByTimeframe(await listChunks(db, instrument.id));
  const finest = TIMEFRAME_NAMES.find((name) => held.has(name));
  const usable = [...held.keys()].filter((name) => divides(name, timeframe));
  if (finest !== undefined && usable.length === 0) throw new TimeframeTooFineError(timeframe, finest, instrument);
  const known = isFed(instrument) ? await listInstrumentCoverage(db, instrument.id) : [];
  const doubtful = findDoubtful(isAdjusting(instrument) ? held : new Map<Timeframe, ChunkSummary[]>(), known);
  const source = chooseSource(held, usable, doubtful, query) ?? timeframe;
  const all = held.get(source) ?? [];
  const last = all.at(-1);
  const knownOfSource = known.filter((stretch) => stretch.timeframe === source);
  const until = last === undefined ? start : Math.min(
    bucketStartAtOrAfter(query.end, timeframe),
    bucketStart(query.now ?? Date.now(), timeframe),
    bucketStart(knownUntil(instrument, knownOfSource, closeOf(last, source)), timeframe),
  );
  const lookback = query.lookback ?? 0;
  const firstOpen = bucketStartAtOrAfter(start, timeframe);
  const wantedFrom = lookbackStart(all, firstOpen, source, timeframe, lookback);
  const doubts = clip(doubtful.get(source) ?? [], { start: wantedFrom, end: until });
  const sureFrom = Math.max(...doubts.map(({ end }) => end), wantedFrom);
  const from = Math.min(bucketStartAtOrAfter(sureFrom, timeframe), firstOpen);
  const chunks = all.filter((chunk) => chunk.lastTime.getTime() >= from && chunk.firstTime.getTime() < until);
  const rows = chunks.reduce((sum, chunk) => sum + chunk.candles, 0);
  const candlesMax = Math.max(0, Math.min(rows, (until - from) / TIMEFRAMES[timeframe]));
  return { instrument, timeframe, source, from, until, start, lookback, chunks, doubtful: doubts, candlesMax };
}

/** Whether a provider's feed has the candles. An import does not tell when there was no trade, and the sample always trades. */
export function isFed({ provider }: Pick<Instrument, "provider">): boolean {
  return FEED_LABELS.some((label) => label === provider);
}

/** Whether a provider may change the whole history at once, as a split does. */
export function isAdjusting(instrument: Pick<Instrument, "provider" | "assetClass">): boolean {
  return instrument.assetClass === "stock" && isFed(instrument);
}

/** The earliest open of a candle that is not stored yet; every bucket before it is complete. */
function knownUntil(instrument: Instrument, known: readonly Stretch[], lastClose: number): number {
  const askedUntil = known.find(({ start, end }) => start.getTime() <= lastClose && lastClose <= end.getTime());
  return nextTradeTime(instrument.assetClass, askedUntil?.end.getTime() ?? lastClose);
}

/**
 * The ranges of stored candles without coverage. A split clears the coverage of a stock, and candles that were stored before do not go
 * with candles that were fetched since.
 */
function findDoubtful(
  held: ReadonlyMap<Timeframe, readonly ChunkSummary[]>,
  known: readonly (Stretch & { readonly timeframe: string })[],
): Map<Timeframe, TimeRange[]> {
  const doubtful = new Map<Timeframe, TimeRange[]>();
  for (const [timeframe, chunks] of held) {
    const knownOfSeries = known.filter((stretch) => stretch.timeframe === timeframe);
    const extents = chunks.map((chunk) => ({ start: chunk.firstTime.getTime(), end: closeOf(chunk, timeframe) }));
    doubtful.set(timeframe, extents.flatMap((extent) => subtractRanges(extent, knownOfSeries)));
  }
  return doubtful;
}

function clip(ranges: readonly TimeRange[], { start, end }: TimeRange): TimeRange[] {
  return ranges.filter((range) => range.start < end && range.end > start)
    .map((range) => ({ start: Math.max(range.start, start), end: Math.min(range.end, end) }));
}

/**
 * A tag that changes with the answer, made from the chunks' checksums without reading them.
 *
 * @param variant Everything else that the answer depends on: its format, its limit.
 */
export function planTag(plan: ReadPlan, variant: string): string {
  const hash = createHash("sha256");
  hash.update([plan.instrument.id, plan.timeframe, plan.source, plan.from, plan.until, variant].join("\n"));
  for (const chunk of plan.chunks) hash.update(`\n${chunk.month} ${chunk.sha256}`);
  return hash.digest("base64url").slice(0, 27);
}

function groupByTimeframe(chunks: readonly ChunkSummary[]): Map<Timeframe, ChunkSummary[]> {
  const groups = new Map<Timeframe, ChunkSummary[]>();
  for (const chunk of chunks) {
    if (!isTimeframe(chunk.timeframe) || chunk.candles === 0) continue;
    const group = groups.get(chunk.timeframe);
    if (group === undefined) groups.set(chunk.timeframe, [chunk]);
    else group.push(chunk);
  }
  return groups;
}

function closeOf(chunk: ChunkSummary, timeframe: Timeframe): number {
  return chunk.lastTime.getTime() + TIMEFRAMES[timeframe];
}

function chooseSource(
  held: ReadonlyMap<Timeframe, readonly ChunkSummary[]>,
  usable: readonly Timeframe[],
  doubtful: ReadonlyMap<Timeframe, readonly TimeRange[]>,
  { start, end, timeframe }: CandleQuery,
): Timeframe | undefined {
  const all = usable.map((name) => {
    const chunks = held.get(name) ?? [];
    const inside = chunks.filter((chunk) => closeOf(chunk, name) > start && chunk.firstTime.getTime() < end);
    const [first, last] = [inside[0], inside.at(-1)];
    if (first === undefined || last === undefined) return { name, reachMs: 0 };
    return { name, reachMs: Math.min(closeOf(last, name), end) - Math.max(first.firstTime.getTime(), start) };
  });
  // A timeframe without candles in the range is not doubtful, but no source either.
  const sure = all.filter(({ name, reachMs }) => {
    return reachMs > 0 && clip(doubtful.get(name) ?? [], { start, end }).length === 0;
  });
  const reaches = sure.length > 0 ? sure : all;
  const furthestMs = Math.max(...reaches.map(({ reachMs }) => reachMs));
  return reaches
    .filter(({ reachMs }) => reachMs > furthestMs - TIMEFRAMES[timeframe])
    .sort((a, b) => TIMEFRAMES[b.name] - TIMEFRAMES[a.name])[0]?.name;
}

/** A time far enough before `start` that at least `lookback` candles open between, if so many are stored. */
function lookbackStart(
  chunks: readonly ChunkSummary[],
  start: number,
  source: Timeframe,
  timeframe: Timeframe,
  lookback: number,
): number {
  // k stored candles make at least k / perBucket buckets.
  const perBucket = TIMEFRAMES[timeframe] / TIMEFRAMES[source];
  let missing = lookback * perBucket;
  let from = start;
  for (let i = chunks.length - 1; i >= 0 && missing > 0; i--) {
    const chunk = chunks[i]!;
    // The chunk that holds the start does not count: the number of its candles before the start is unknown.
    if (chunk.firstTime.getTime() >= start) continue;
    from = bucketStart(chunk.firstTime.getTime(), timeframe);
    if (chunk.lastTime.getTime() < start) missing -= chunk.candles;
  }
  return from;
}

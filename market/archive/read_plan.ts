import { createHash } from "node:crypto";
import type { ChunkSummary } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import type { Stretch } from "../../db/coverage.ts";
import type { Instrument } from "../../db/instruments.ts";
import { type Hours, sessionOf } from "../calendar/exchange_sessions.ts";
import { bucketsOf, canMake, daysOf, isFed, sourceRange } from "./made_candles.ts";
import { type Holdings, readHoldings } from "./read_holdings.ts";
import { subtractRanges, type TimeRange } from "./time_ranges.ts";
import {
  bucketStart,
  candleEnd,
  DAY_MS,
  divides,
  isDaily,
  isTimeframe,
  longestMs,
  shortestMs,
  type Timeframe,
  TIMEFRAME_MS,
  TIMEFRAME_NAMES,
} from "../timeframes.ts";

/** A request for candles. */
export interface CandleQuery {
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  /** Default: regular. */
  readonly hours?: Hours | undefined;
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
  readonly hours: Hours;
  /** The stored timeframe that the answer is made from. */
  readonly source: Timeframe;
  /** Stored candles that open in [from, until) make the answer; neither cuts a bucket. Empty where from >= until. */
  readonly from: number;
  readonly until: number;
  /** Stored candles before this one are lookback. */
  readonly sourceStart: number;
  /** The requested start; `from` is earlier where the query has lookback. */
  readonly start: number;
  readonly lookback: number;
  readonly chunks: readonly ChunkSummary[];
  /** All chunks of `source`, oldest first. */
  readonly series: readonly ChunkSummary[];
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
  return planFrom(await readHoldings(db, query.instrument), query);
}

/** Like planRead(), from what was read before. @throws {TimeframeTooFineError} */
export function planFrom({ chunks: heldChunks, known }: Holdings, query: CandleQuery): ReadPlan {
  const { instrument, timeframe, start, hours = "regular" } = query;
  const held = groupByTimeframe(heldChunks);
  const finest = TIMEFRAME_NAMES.find((name) => held.has(name));
  const dividing = [...held.keys()].filter((name) => divides(name, timeframe));
  if (finest !== undefined && dividing.length === 0) throw new TimeframeTooFineError(timeframe, finest, instrument);
  const fitting = dividing.filter((name) => canMake(instrument, name, query));
  const doubtful = findDoubtful(isAdjusting(instrument) ? held : new Map<Timeframe, ChunkSummary[]>(), known);
  const source = chooseSource(held, fitting.length > 0 ? fitting : dividing, doubtful, query) ?? timeframe;
  const all = held.get(source) ?? [];
  const last = all.at(-1);
  const range = sourceRange(instrument, source, query);
  const knownOfSource = known.filter((stretch) => stretch.timeframe === source);
  const until = last === undefined ? range.start : Math.min(
    range.end,
    overUntil(query, source, query.now ?? Date.now()),
    source === timeframe
      ? Infinity
      : overUntil(query, source, knownUntil(query, knownOfSource, closeOf(last, source), source)),
  );
  const lookback = query.lookback ?? 0;
  const wantedFrom = lookbackStart(all, range.start, source, query);
  const doubts = clip(doubtful.get(source) ?? [], { start: wantedFrom, end: until });
  const sureFrom = Math.max(...doubts.map(({ end }) => end), wantedFrom);
  const from = Math.min(
    source === timeframe ? sureFrom : bucketsOf(instrument, source, query).ceil(sureFrom),
    range.start,
  );
  const chunks = all.filter((chunk) => chunk.lastTime.getTime() >= from && chunk.firstTime.getTime() < until);
  const rows = chunks.reduce((sum, chunk) => sum + chunk.candles, 0);
  const candlesMax = Math.max(0, Math.min(rows, bucketsMax(until - from, timeframe)));
  return {
    instrument,
    timeframe,
    hours,
    source,
    from,
    until,
    sourceStart: range.start,
    start,
    lookback,
    chunks,
    series: all,
    doubtful: doubts,
    candlesMax,
  };
}

/** A session cuts the last bucket of each day short, so a range has more of them than its length tells. */
function bucketsMax(rangeMs: number, timeframe: Timeframe): number {
  return Math.ceil(rangeMs / shortestMs(timeframe)) + (isDaily(timeframe) ? 2 : Math.ceil(rangeMs / DAY_MS) + 2);
}

/** The time before which stored candles make complete buckets, if the candles are complete up to `time`. */
function overUntil(query: CandleQuery, source: Timeframe, time: number): number {
  const { instrument, timeframe } = query;
  if (source !== timeframe) return bucketsOf(instrument, source, query).floor(time);
  // A file's hours may open at half past, so those that have closed are found by their length.
  return isDaily(source)
    ? bucketStart(time, source)
    : bucketStart(time, "1m") - shortestMs(source) + TIMEFRAME_MS["1m"];
}

/** True if a provider may change the whole history at once, as a split does. */
export function isAdjusting(instrument: Pick<Instrument, "provider" | "assetClass">): boolean {
  return instrument.assetClass === "stock" && isFed(instrument);
}

/** The earliest open of a candle that is not stored yet; every bucket before it is complete. */
function knownUntil(query: CandleQuery, known: readonly Stretch[], lastClose: number, source: Timeframe): number {
  const askedUntil = known.find(({ start, end }) => start.getTime() <= lastClose && lastClose <= end.getTime());
  const time = askedUntil?.end.getTime() ?? lastClose;
  return Math.max(time, daysOf(query.instrument, source, query.hours).dayAtOrAfter(time).open);
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
  const session = JSON.stringify(sessionOf(plan.instrument));
  hash.update(
    [plan.instrument.id, plan.timeframe, plan.hours, session, plan.source, plan.from, plan.until, variant].join("\n"),
  );
  for (const chunk of plan.chunks) hash.update(`\n${chunk.month} ${chunk.sha256}`);
  return hash.digest("base64url").slice(0, 27);
}

/** The groups of lists of chunks that are held: each run over hundreds of instruments plans all of them. */
const GROUPS = new WeakMap<readonly ChunkSummary[], ReadonlyMap<Timeframe, readonly ChunkSummary[]>>();

function groupByTimeframe(chunks: readonly ChunkSummary[]): ReadonlyMap<Timeframe, readonly ChunkSummary[]> {
  const known = GROUPS.get(chunks);
  if (known !== undefined) return known;
  const groups = new Map<Timeframe, ChunkSummary[]>();
  for (const chunk of chunks) {
    if (!isTimeframe(chunk.timeframe) || chunk.candles === 0) continue;
    const group = groups.get(chunk.timeframe);
    if (group === undefined) groups.set(chunk.timeframe, [chunk]);
    else group.push(chunk);
  }
  GROUPS.set(chunks, groups);
  return groups;
}

function closeOf(chunk: ChunkSummary, timeframe: Timeframe): number {
  return candleEnd(chunk.lastTime.getTime(), timeframe);
}

function chooseSource(
  held: ReadonlyMap<Timeframe, readonly ChunkSummary[]>,
  usable: readonly Timeframe[],
  doubtful: ReadonlyMap<Timeframe, readonly TimeRange[]>,
  { start, end, timeframe }: CandleQuery,
): Timeframe | undefined {
  const all = usable.map((name) => {
    const chunks = held.get(name) ?? [];
    const isInside = (chunk: ChunkSummary) => closeOf(chunk, name) > start && chunk.firstTime.getTime() < end;
    const [first, last] = [chunks.find(isInside), chunks.findLast(isInside)];
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
    .filter(({ reachMs }) => reachMs > furthestMs - longestMs(timeframe))
    .sort((a, b) => shortestMs(b.name) - shortestMs(a.name))[0]?.name;
}

/** A time far enough before `start` that at least `query.lookback` candles open between, if the archive has them. */
function lookbackStart(
  chunks: readonly ChunkSummary[],
  start: number,
  source: Timeframe,
  query: CandleQuery,
): number {
  const { instrument, timeframe, hours, lookback = 0 } = query;
  // k stored candles inside the session make at least k / perBucket buckets.
  const perBucket = longestMs(timeframe) / shortestMs(source);
  const isMade = source !== timeframe;
  let missing = lookback * perBucket / (isMade ? daysOf(instrument, source, hours).share : 1);
  let from = start;
  for (let i = chunks.length - 1; i >= 0 && missing > 0; i--) {
    const chunk = chunks[i]!;
    // The chunk that holds the start does not count: the number of its candles before the start is unknown.
    const first = chunk.firstTime.getTime();
    if (first >= start) continue;
    from = isMade ? bucketsOf(instrument, source, query).floor(first) : first;
    if (chunk.lastTime.getTime() < start) missing -= chunk.candles;
  }
  return from;
}

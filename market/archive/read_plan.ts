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

/** Which candles are asked for. */
export interface CandleQuery {
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  /** Candles that open in [start, end), milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** How many candles before `start` are wanted besides, as far as they are held; default 0. */
  readonly lookback?: number;
  /** Milliseconds since 1970: a candle that closes later is still open. Default: the clock. */
  readonly now?: number;
}

/** Where the candles of a query lie, found without reading them. */
export interface ReadPlan {
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  /** The held timeframe that the answer is made from. */
  readonly source: Timeframe;
  /** Held candles that open in [from, until) make the answer; both on boundaries of `timeframe`. Empty where from >= until. */
  readonly from: number;
  readonly until: number;
  /** The asked start, which is after `from` where lookback was asked for. */
  readonly start: number;
  readonly lookback: number;
  readonly chunks: readonly ChunkSummary[];
  /**
   * Stretches of `source` that the query asks for and whose held candles may be of another adjustment than the others, oldest first.
   * What lies before the last of them is not used as lookback.
   */
  readonly doubtful: readonly TimeRange[];
  /** No more candles than this come out. */
  readonly candlesMax: number;
}

/** A finer timeframe was asked for than the archive holds. */
export class TimeframeTooFineError extends Error {
  override readonly name = "TimeframeTooFineError";
  constructor(readonly asked: Timeframe, readonly finest: Timeframe, instrument: Instrument) {
    super(
      `Cannot make ${asked} candles of ${instrument.symbol} on ${instrument.exchange}: the finest held are ${finest}`,
    );
  }
}

/**
 * Finds what answers a query: the chunks of the coarsest held timeframe that the asked one is made of.
 *
 * Where several are held, the coarsest that reaches as far into the range as any without a doubt. A bucket is answered when it is closed
 * and nothing that is not held yet can still belong to it.
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

/** Whether a provider gives its candles: imports do not say where there was no trade, and the sample trades always. */
export function isFed({ provider }: Pick<Instrument, "provider">): boolean {
  return FEED_LABELS.some((label) => label === provider);
}

/** Whether its provider may change all of its history at once, as a split does. */
export function isAdjusting(instrument: Pick<Instrument, "provider" | "assetClass">): boolean {
  return instrument.assetClass === "stock" && isFed(instrument);
}

/** Whatever is not held yet opens no earlier than this, so the buckets before it are complete. */
function knownUntil(instrument: Instrument, known: readonly Stretch[], lastClose: number): number {
  const askedUntil = known.find(({ start, end }) => start.getTime() <= lastClose && lastClose <= end.getTime());
  return nextTradeTime(instrument.assetClass, askedUntil?.end.getTime() ?? lastClose);
}

/**
 * Where candles are held that are not known (any more): a split makes a stock's whole history one that is to be fetched again, and until
 * it is, what is held does not go with what has been fetched since.
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
 * A tag that changes when the answer does, made from the chunks' sums without reading them.
 *
 * @param variant What else the answer depends on: its format, its limit.
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
  // What holds nothing in the range is not in doubt, but no source either.
  const sure = all.filter(({ name, reachMs }) => {
    return reachMs > 0 && clip(doubtful.get(name) ?? [], { start, end }).length === 0;
  });
  const reaches = sure.length > 0 ? sure : all;
  const furthestMs = Math.max(...reaches.map(({ reachMs }) => reachMs));
  return reaches
    .filter(({ reachMs }) => reachMs > furthestMs - TIMEFRAMES[timeframe])
    .sort((a, b) => TIMEFRAMES[b.name] - TIMEFRAMES[a.name])[0]?.name;
}

/** Far enough back that at least `lookback` candles open before `start`, if so many are held. */
function lookbackStart(
  chunks: readonly ChunkSummary[],
  start: number,
  source: Timeframe,
  timeframe: Timeframe,
  lookback: number,
): number {
  // However they lie, k held candles make at least k / perBucket buckets.
  const perBucket = TIMEFRAMES[timeframe] / TIMEFRAMES[source];
  let missing = lookback * perBucket;
  let from = start;
  for (let i = chunks.length - 1; i >= 0 && missing > 0; i--) {
    const chunk = chunks[i]!;
    // The chunk in which the range starts counts for nothing, since it is not known how many of its candles lie before.
    if (chunk.firstTime.getTime() >= start) continue;
    from = bucketStart(chunk.firstTime.getTime(), timeframe);
    if (chunk.lastTime.getTime() < start) missing -= chunk.candles;
  }
  return from;
}

import { type ChunkRow, type ChunkSummary, readChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import type { Candles } from "../../engine/candles.ts";
import { type CandleQuery, planRead, type ReadPlan } from "./read_plan.ts";
import { isGap } from "../calendar/trading_hours.ts";
import { allocateCandles, copyCandles, hashCandles, lowerBound, sliceCandles } from "./candle_columns.ts";
import { DamagedChunkError, openChunk } from "./chunk.ts";
import { Resampler } from "./resample.ts";
import { monthEnd, type Timeframe, TIMEFRAMES } from "../timeframes.ts";

// A quarter of 1m candles or years of daily ones in one query: few round trips, little memory.
const QUERY_CANDLES_MAX = 131_072;
const QUERY_CHUNKS_MAX = 200;

const READ_ATTEMPTS_MAX = 5;

/** Someone wrote to the range while it was read: asking again gives the new candles. */
export class CandlesChangedError extends Error {
  override readonly name = "CandlesChangedError";
}

/** Puts what its provider gives in the place of a damaged chunk; throws where nobody can give it again. */
export type Repair = (error: DamagedChunkError) => Promise<void>;

/** Candles of a range with what a result says about them. */
export interface CandlesRead {
  /** Oldest first; the first `lookback` of them open before the asked start. */
  readonly candles: Candles;
  readonly lookback: number;
  /** The held timeframe from which they were made. */
  readonly source: Timeframe;
  /** Of all the columns' bytes (see hashCandles), hexadecimal. */
  readonly sha256: string;
  /** Stretches without candles between the first and the last of the range (lookback not counted); see isGap. */
  readonly gaps: number;
}

/** How candles are read into columns. */
export interface ReadOptions {
  /** Whether the columns are in one SharedArrayBuffer, which a Web Worker takes without a copy; default: no. */
  readonly shared?: boolean;
  /** Called with each damaged chunk, which is then read again. */
  readonly repair?: Repair | undefined;
}

/**
 * Reads candles into columns.
 *
 * @returns Empty columns where nothing is held.
 * @throws {TimeframeTooFineError} When only coarser timeframes are held.
 * @throws {DamagedChunkError}
 */
export async function readCandles(db: Db, query: CandleQuery & ReadOptions): Promise<CandlesRead> {
  for (let attempt = 1;; attempt++) {
    try {
      return await readPlanned(db, await planRead(db, query), query);
    } catch (error) {
      if (!(error instanceof CandlesChangedError) || attempt === READ_ATTEMPTS_MAX) throw error;
    }
  }
}

async function readPlanned(db: Db, plan: ReadPlan, { shared = false, repair }: ReadOptions): Promise<CandlesRead> {
  const columns = allocateCandles(plan.candlesMax, shared);
  const gaps = new GapCounter(plan);
  let count = 0;
  for await (const batch of resampled(plan, gaps.watch(sourceBatches(chunkBatches(db, plan, repair))))) {
    copyCandles(batch, columns, count);
    count += batch.time.length;
  }
  const before = lowerBound(columns.time.subarray(0, count), plan.start);
  const lookback = Math.min(before, plan.lookback);
  const candles = sliceCandles(columns, before - lookback, count);
  return { candles, lookback, source: plan.source, sha256: hashCandles(candles), gaps: gaps.count };
}

/**
 * The candles of a plan in parts, a chunk at a time, oldest first: memory stays flat however long the range is.
 *
 * Lookback is not trimmed: plan without it.
 *
 * @param repair Called with each damaged chunk, which is then read again.
 * @throws {CandlesChangedError} When a chunk was written after the plan was made, unless it is the same again.
 * @throws {DamagedChunkError}
 */
export function candleBatches(db: Db, plan: ReadPlan, repair?: Repair): AsyncGenerator<Candles> {
  return resampled(plan, sourceBatches(chunkBatches(db, plan, repair)));
}

/** Candles that are read when they are asked for. */
export interface CandleBatch {
  /** The checksum of a whole stored chunk, by which what was made from it can be found again; null for anything else. */
  readonly sha256: string | null;
  read(): Promise<Candles>;
}

/**
 * The candles of a plan in parts as `candleBatches` gives them, but stored chunks that are answered whole are not read before they are
 * asked for: who remembers what he made of one need not ask. And whoever takes them may be slow.
 */
export async function* lazyBatches(db: Db, plan: ReadPlan, repair?: Repair): AsyncGenerator<CandleBatch> {
  const chunks = chunkBatches(db, plan, repair, true);
  if (plan.source !== plan.timeframe) {
    for await (const candles of resampled(plan, sourceBatches(chunks))) {
      yield {
        sha256: null,
        read: () => Promise.resolve(candles),
      };
    }
    return;
  }
  yield* chunks;
}

async function* resampled(plan: ReadPlan, batches: AsyncIterable<Candles>): AsyncGenerator<Candles> {
  if (plan.source === plan.timeframe) {
    yield* batches;
    return;
  }
  const resampler = new Resampler(plan.timeframe);
  for await (const batch of batches) {
    const made = resampler.push(batch);
    if (made.time.length > 0) yield made;
  }
  const last = resampler.flush();
  if (last.time.length > 0) yield last;
}

/** Held candles that open in the plan's [from, until), as they are stored. */
async function* sourceBatches(batches: Iterable<CandleBatch>): AsyncGenerator<Candles> {
  for (const { read } of batches) {
    const candles = await read();
    if (candles.time.length > 0) yield candles;
  }
}

function* chunkBatches(db: Db, plan: ReadPlan, repair?: Repair, isSlow = false): Generator<CandleBatch> {
  const groups = groupChunks(plan.from < plan.until ? plan.chunks : []);
  const newest = groups.at(-1)?.at(-1);
  let early: Promise<ChunkRow[]> | undefined;
  if (isSlow && newest !== undefined && groups.length > 1 && plan.until < monthEnd(newest.month)) {
    // A month that is not over grows while a slow reader takes what comes before it, and would be another one then.
    groups.push(groups.at(-1)!.splice(-1));
    early = readUnchanged(db, plan, [newest]);
    // It is thrown to who reads.
    early.catch(() => {});
  }
  for (const group of groups) {
    let rows = group[0] === newest ? early : undefined;
    for (const [index, chunk] of group.entries()) {
      const read = async () => {
        await early;
        // The first that is asked for brings along those that are asked for next.
        rows ??= readUnchanged(db, plan, group);
        const candles = await openRepaired(db, plan, (await rows)[index]!, repair);
        return sliceCandles(candles, lowerBound(candles.time, plan.from), lowerBound(candles.time, plan.until));
      };
      const isWhole = chunk.firstTime.getTime() >= plan.from && chunk.lastTime.getTime() < plan.until;
      yield { sha256: isWhole ? chunk.sha256 : null, read };
    }
  }
}

async function openRepaired(db: Db, plan: ReadPlan, row: ChunkRow, repair: Repair | undefined): Promise<Candles> {
  try {
    return openChunk(row);
  } catch (error) {
    if (!(error instanceof DamagedChunkError) || repair === undefined) throw error;
    await repair(error);
    const [again] = await readUnchanged(db, plan, [row]);
    return openChunk(again!);
  }
}

/** @throws {CandlesChangedError} When one of the chunks is not the one that was planned with. */
async function readUnchanged(db: Db, plan: ReadPlan, planned: readonly ChunkSummary[]): Promise<ChunkRow[]> {
  const months = planned.map((chunk) => chunk.month);
  const rows = await readChunks(db, { instrumentId: plan.instrument.id, timeframe: plan.source, months });
  for (const [index, { month, sha256 }] of planned.entries()) {
    if (rows[index]?.month === month && rows[index].sha256 === sha256) continue;
    throw new CandlesChangedError(`Cannot go on reading: the candles of ${month} were written meanwhile`);
  }
  return rows;
}

function groupChunks(chunks: readonly ChunkSummary[]): ChunkSummary[][] {
  const groups: ChunkSummary[][] = [];
  let candles = Infinity;
  for (const chunk of chunks) {
    const group = groups.at(-1);
    candles += chunk.candles;
    if (group === undefined || candles > QUERY_CANDLES_MAX || group.length === QUERY_CHUNKS_MAX) {
      groups.push([chunk]);
      candles = chunk.candles;
    } else group.push(chunk);
  }
  return groups;
}

class GapCounter {
  count = 0;
  readonly #plan: ReadPlan;
  readonly #lengthMs: number;

  constructor(plan: ReadPlan) {
    this.#plan = plan;
    this.#lengthMs = TIMEFRAMES[plan.source];
  }

  async *watch(batches: AsyncIterable<Candles>): AsyncGenerator<Candles> {
    const { start, instrument } = this.#plan;
    let close = Infinity;
    for await (const batch of batches) {
      const time = batch.time;
      for (let i = 0; i < time.length; i++) {
        const open = time[i]!;
        if (open > close && isGap(instrument.assetClass, close, open)) this.count++;
        if (open >= start) close = open + this.#lengthMs;
      }
      yield batch;
    }
  }
}

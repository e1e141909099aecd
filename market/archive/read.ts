import { type ChunkRow, type ChunksKey, type ChunkSummary, readChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import type { Candles } from "../../engine/candles.ts";
import type { ReadPlan } from "./read_plan.ts";
import { bucketsOf, daysOf } from "./made_candles.ts";
import { isGap } from "../calendar/trading_hours.ts";
import { allocateCandles, copyCandles, hashCandles, lowerBound, sliceCandles } from "./candle_columns.ts";
import { DamagedChunkError, openChunk } from "./chunk.ts";
import { Resampler } from "./resample.ts";
import { candleEnd, monthEnd, type Timeframe } from "../timeframes.ts";

// One query reads a quarter of 1m candles or years of daily ones: few round trips, little memory.
export const QUERY_CANDLES_MAX = 131_072;
const QUERY_CHUNKS_MAX = 200;

const READ_ATTEMPTS_MAX = 5;

/** Another process wrote to the range during a read: a new plan reads the new candles. */
class CandlesChangedError extends Error {
  override readonly name = "CandlesChangedError";
}

/** Tries again, with a new plan, where the candles changed during the read. */
export async function retryOnChange<Answer>(planAndRead: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1;; attempt++) {
    try {
      return await planAndRead();
    } catch (error) {
      if (!(error instanceof CandlesChangedError) || attempt === READ_ATTEMPTS_MAX) throw error;
    }
  }
}

/** Fetches a damaged chunk again; throws where no provider has its candles. */
export type Repair = (error: DamagedChunkError) => Promise<void>;

/** Candles of a range, with the facts that a result reports about them. */
export interface CandlesRead {
  /** Oldest first; the first `lookback` of them open before the requested start. */
  readonly candles: Candles;
  readonly lookback: number;
  /** The stored timeframe from which the candles were made. */
  readonly source: Timeframe;
  /** Of the bytes of all columns (see hashCandles), hexadecimal. */
  readonly sha256: string;
  /** Periods without candles between the first and the last candle of the range, without lookback; see isGap. */
  readonly gaps: number;
}

/**
 * Reads the candles of a plan into columns; empty columns where the archive holds none.
 *
 * @param options `shared` puts the columns into one SharedArrayBuffer, which a Web Worker takes without a copy. `repair` is called with
 *   each damaged chunk, which is then read again.
 * @throws {CandlesChangedError} When a chunk was written after the plan was made, unless its bytes are the same.
 * @throws {DamagedChunkError} When a chunk is damaged and `repair` is absent.
 */
export async function readPlan(
  db: Db,
  plan: ReadPlan,
  { shared = false, repair }: { readonly shared?: boolean; readonly repair?: Repair | undefined } = {},
): Promise<CandlesRead> {
  const columns = allocateCandles(plan.candlesMax, shared);
  const gaps = new GapCounter(plan);
  let count = 0;
  for await (const batch of resampled(plan, gaps.watch(readSource(readerOf(db), plan, repair)))) {
    copyCandles(batch, columns, count);
    count += batch.time.length;
  }
  const before = lowerBound(columns.time.subarray(0, count), plan.start);
  const lookback = Math.min(before, plan.lookback);
  const candles = sliceCandles(columns, before - lookback, count);
  return { candles, lookback, source: plan.source, sha256: hashCandles(candles), gaps: gaps.count };
}

/**
 * Yields the candles of a plan, oldest first, a chunk at a time: memory stays flat however long the range is.
 *
 * The plan must have no lookback.
 *
 * @param repair Called with each damaged chunk, which is then read again.
 * @param onRead Called with the number of stored candles in each piece that is read.
 * @throws {CandlesChangedError} When a chunk was written after the plan was made, unless its bytes are the same.
 * @throws {DamagedChunkError} When a chunk is damaged and `repair` is absent.
 */
export function candleBatches(
  db: Db,
  plan: ReadPlan,
  repair?: Repair,
  onRead?: (candles: number) => void,
): AsyncGenerator<Candles> {
  return resampled(plan, counted(readSource(readerOf(db), plan, repair), onRead));
}

async function* counted(batches: AsyncIterable<Candles>, onRead?: (candles: number) => void): AsyncGenerator<Candles> {
  for await (const batch of batches) {
    onRead?.(batch.time.length);
    yield batch;
  }
}

/** Reads some months of a series; `candles` says how many they hold. */
export type ReadChunks = (key: ChunksKey & { readonly candles: number }) => Promise<ChunkRow[]>;

/** Yields the stored candles that make those of a plan, oldest first, a chunk at a time. @throws As candleBatches(). */
export function readSource(read: ReadChunks, plan: ReadPlan, repair?: Repair): AsyncGenerator<Candles> {
  return sourceBatches(chunkBatches(read, plan, repair));
}

function readerOf(db: Db): ReadChunks {
  return (key) => readChunks(db, key);
}

/** Candles that load on demand. */
export interface CandleBatch {
  /** The checksum where the batch is one whole stored chunk, as the key of a cached rendering; null otherwise. */
  readonly sha256: string | null;
  read(): Promise<Candles>;
}

/** Like `candleBatches`, for a reader that may be slow: chunks load lazily, so a cached rendering skips the read. */
export async function* lazyBatches(db: Db, plan: ReadPlan, repair?: Repair): AsyncGenerator<CandleBatch> {
  const chunks = chunkBatches(readerOf(db), plan, repair, true);
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
  const resampler = new Resampler(bucketsOf(plan.instrument, plan.source, plan), plan.source);
  for await (const batch of batches) {
    const made = resampler.push(batch);
    if (made.time.length > 0) yield made;
  }
  const last = resampler.flush();
  if (last.time.length > 0) yield last;
}

/** Candles of the source timeframe that open in the plan's [from, until). */
async function* sourceBatches(batches: Iterable<CandleBatch>): AsyncGenerator<Candles> {
  for (const { read } of batches) {
    const candles = await read();
    if (candles.time.length > 0) yield candles;
  }
}

function* chunkBatches(
  readMonths: ReadChunks,
  plan: ReadPlan,
  repair?: Repair,
  isSlow = false,
): Generator<CandleBatch> {
  const groups = groupChunks(plan.from < plan.until ? plan.chunks : []);
  const newest = groups.at(-1)?.at(-1);
  let early: Promise<ChunkRow[]> | undefined;
  if (isSlow && newest !== undefined && groups.length > 1 && plan.until < monthEnd(newest.month)) {
    // The newest month can grow while a slow reader takes the older ones, so it is read at the start.
    groups.push(groups.at(-1)!.splice(-1));
    early = readUnchanged(readMonths, plan, [newest]);
    // The reader of the first batch gets the error.
    early.catch(() => {});
  }
  for (const group of groups) {
    let rows = group[0] === newest ? early : undefined;
    for (const [index, chunk] of group.entries()) {
      const read = async () => {
        await early;
        // The first chunk of a group loads the whole group in one query.
        rows ??= readUnchanged(readMonths, plan, group);
        const candles = await openRepaired(readMonths, plan, (await rows)[index]!, repair);
        return sliceCandles(candles, lowerBound(candles.time, plan.from), lowerBound(candles.time, plan.until));
      };
      const isWhole = chunk.firstTime.getTime() >= plan.from && chunk.lastTime.getTime() < plan.until;
      yield { sha256: isWhole ? chunk.sha256 : null, read };
    }
  }
}

async function openRepaired(
  readMonths: ReadChunks,
  plan: ReadPlan,
  row: ChunkRow,
  repair: Repair | undefined,
): Promise<Candles> {
  try {
    return openChunk(row);
  } catch (error) {
    if (!(error instanceof DamagedChunkError) || repair === undefined) throw error;
    await repair(error);
    const [again] = await readUnchanged(readMonths, plan, [row]);
    return openChunk(again!);
  }
}

/** @throws {CandlesChangedError} When a chunk differs from the planned one. */
async function readUnchanged(
  readMonths: ReadChunks,
  plan: ReadPlan,
  planned: readonly ChunkSummary[],
): Promise<ChunkRow[]> {
  const months = planned.map((chunk) => chunk.month);
  const candles = planned.reduce((sum, chunk) => sum + chunk.candles, 0);
  const rows = await readMonths({ instrumentId: plan.instrument.id, timeframe: plan.source, months, candles });
  for (const [index, { month, sha256 }] of planned.entries()) {
    if (rows[index]?.month === month && rows[index].sha256 === sha256) continue;
    throw new CandlesChangedError(`Cannot read on: the candles of ${month} changed after the read began; read again`);
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

  constructor(plan: ReadPlan) {
    this.#plan = plan;
  }

  async *watch(batches: AsyncIterable<Candles>): AsyncGenerator<Candles> {
    const { instrument, source, hours } = this.#plan;
    const start = this.#plan.sourceStart;
    const days = daysOf(instrument, source, hours);
    let close = Infinity;
    for await (const batch of batches) {
      const time = batch.time;
      for (let i = 0; i < time.length; i++) {
        const open = time[i]!;
        if (open > close && isGap(instrument, days, close, open)) this.count++;
        if (open >= start) close = candleEnd(open, source);
      }
      yield batch;
    }
  }
}

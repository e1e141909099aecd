import { getLogger } from "@logtape/logtape";
import {
  type AttemptKey,
  type Backtest,
  claimBacktests,
  type ClaimedBacktest,
  type CompletedRun,
  releaseBacktest,
  setProgress,
  type StoreOptions,
  storeResults,
} from "../../db/backtests.ts";
import { failBacktest } from "../../db/failed_backtests.ts";
import type { Size } from "../../db/backtest_sizes.ts";
import { Batcher } from "../../db/batcher.ts";
import type { Db } from "../../db/client.ts";
import { type EqualResult, findEqualResults, type WantedResult } from "../../db/equal_results.ts";
import { isForeignKeyFault, settleTogether } from "../../db/faults.ts";
import { inUnit } from "../../db/unit_of_work.ts";
import { measureChunks, type ResultChunk } from "../../db/codec/result_parts.ts";
import { placeChunks } from "../../db/stored_bytes.ts";
import { insertChunksAhead } from "../../db/result_chunks.ts";
import type { RunProgress } from "../../engine/control.ts";
import type { Jobs, TakenJob } from "../jobs/jobs.ts";
import { QUEUES } from "../jobs/queues.ts";
import type { StopReason } from "../jobs/loop.ts";
import type { Outcome } from "../common/outcome.ts";

const log = getLogger(["hindcast", "queue"]);

const QUEUE = QUEUES.backtests;
const BATCH_MAX = 32;
// A year of minutes has 14.
const CANDLES_MAX = 10_000;
// The embedded database does nothing else during a transaction: about 60 ms for this many bytes. A curve of 500,000 candles takes half.
const TRANSACTION_BYTES_MAX = 1 << 21;

/** The result of a completed backtest, ready to be stored. */
export type StorableRun = Omit<CompletedRun, keyof AttemptKey>;

interface Settlement {
  readonly job: TakenJob;
  readonly attempt: number;
  readonly outcome: Outcome<StorableRun>;
}

/**
 * The records of running backtests. Simultaneous writes share a transaction, because one for each would slow short runs down. Every
 * write is fenced by the attempt of record and job: a worker that was taken for dead changes nothing.
 */
export class BacktestRecords {
  readonly #db: Db;
  readonly #jobs: Jobs;
  readonly #claims: Batcher<string, ClaimedBacktest | null>;
  readonly #settlements: Batcher<Settlement, undefined>;
  readonly #searches: Batcher<WantedResult, EqualResult | undefined>;
  /** SHA-256 of candles that lately stored results refer to, so that their bytes need not be sent again. */
  readonly #candles = new Set<string>();

  /** @param resultBytesMax Bytes that the backtests of one user may occupy. */
  constructor(db: Db, jobs: Jobs, resultBytesMax: number) {
    this.#db = db;
    this.#jobs = jobs;
    this.#claims = new Batcher(async (ids) => {
      const records = await claimBacktests(db, ids, resultBytesMax);
      const claimed = new Map(records.map((record) => [record.id, record]));
      return ids.map((id) => claimed.get(id) ?? null);
    }, BATCH_MAX);
    this.#searches = new Batcher((wanted) => findEqualResults(db, wanted), BATCH_MAX);
    this.#settlements = new Batcher(async (settlements) => {
      for (const group of groupBySize(settlements)) await this.#settleGroup(group);
      return settlements.map(() => undefined);
    }, BATCH_MAX);
  }

  async #settleGroup(settlements: readonly Settlement[]): Promise<void> {
    const settle = () => settleAll(this.#db, this.#jobs, settlements, this.#candles);
    try {
      await settle();
    } catch (error) {
      if (this.#candles.size === 0 || !isForeignKeyFault(error)) throw error;
      // Housekeeping has removed candles that no result needed any more.
      this.#candles.clear();
      await settle();
    }
    this.#remember(settlements);
  }

  #remember(settlements: readonly Settlement[]): void {
    if (this.#candles.size > CANDLES_MAX) this.#candles.clear();
    for (const { outcome } of settlements) {
      if (outcome.type !== "completed") continue;
      for (const { candles } of outcome.chunks) if (candles) this.#candles.add(candles.sha256);
    }
  }

  /** Begins an attempt; null if the record has ended or is gone. */
  claim(id: string): Promise<ClaimedBacktest | null> {
    return this.#claims.add(id);
  }

  /** The stored result of an equal submission of the same user. */
  findEqual(wanted: WantedResult): Promise<EqualResult | undefined> {
    return this.#searches.add(wanted);
  }

  /** Starts to store the progress of an attempt. @param time Opens of the run's candles. */
  trackProgress(record: Backtest, time: Float64Array): ProgressWriter {
    return new ProgressWriter(this.#db, this.#jobs, record, time);
  }

  /**
   * Stores the outcome of an attempt together with the end of its job: a stopped one goes back to the queue, a broken one is retried
   * until its attempts are used up.
   */
  async settle(job: TakenJob, attempt: number, outcome: Outcome<StorableRun>): Promise<void> {
    const written = await this.#writeAhead(job.id, attempt, outcome);
    await this.#settlements.add({ job, attempt, outcome: await this.#place(written) });
  }

  /** Brings the bytes of a result to the object store, before the transaction whose rows name them. */
  async #place(outcome: Outcome<StorableRun>): Promise<Outcome<StorableRun>> {
    const place = (chunks: readonly ResultChunk[]) => placeChunks(this.#db, chunks, this.#candles);
    if (outcome.type === "completed") {
      return outcome.areChunksWritten ? outcome : { ...outcome, chunks: await place(outcome.chunks) };
    }
    if (outcome.type !== "failed" || outcome.series === undefined || outcome.series.areChunksWritten) return outcome;
    return { ...outcome, series: { ...outcome.series, chunks: await place(outcome.series.chunks) } };
  }

  /** Writes a large result's chunks in short transactions before the one that completes its record. */
  async #writeAhead(id: string, attempt: number, outcome: Outcome<StorableRun>): Promise<Outcome<StorableRun>> {
    const write = async (chunks: readonly ResultChunk[]) =>
      measureChunks(chunks) > TRANSACTION_BYTES_MAX &&
      await insertChunksAhead(this.#db, { backtestId: id, attempt, chunks });
    // If the record is lost meanwhile, nothing is stored.
    if (outcome.type === "completed") return { ...outcome, areChunksWritten: await write(outcome.chunks) };
    if (outcome.type !== "failed" || outcome.series === undefined) return outcome;
    const { series } = outcome;
    return { ...outcome, series: { ...series, areChunksWritten: await write(series.chunks) } };
  }
}

/** Settlements whose results share a transaction. */
function* groupBySize(settlements: readonly Settlement[]): Generator<Settlement[]> {
  let group: Settlement[] = [];
  let bytes = 0;
  for (const settlement of settlements) {
    const { outcome } = settlement;
    const chunks = outcome.type === "completed" && !outcome.areChunksWritten ? outcome.chunks : [];
    const more = measureChunks(chunks);
    if (group.length > 0 && bytes + more > TRANSACTION_BYTES_MAX) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(settlement);
    bytes += more;
  }
  if (group.length > 0) yield group;
}

async function settleAll(
  db: Db,
  jobs: Jobs,
  settlements: readonly Settlement[],
  storedCandles: ReadonlySet<string>,
): Promise<void> {
  const completed = settlements.flatMap(({ job, attempt, outcome }) =>
    outcome.type === "completed" ? [{ id: job.id, attempt, ...outcome }] : []
  );
  const over = settlements.flatMap(({ job, outcome }) => outcome.type === "completed" ? [job] : []);
  // One statement writes all of a result, so that it may be sent behind `begin`; other outcomes take several.
  if (over.length === settlements.length) {
    return await inUnit(db, (unit) => unit.last(storeCompleted(unit.tx, jobs, { completed, over, storedCandles })));
  }
  await db.transaction(async (tx: Db) => {
    const others = await settleUncompleted(tx, jobs, settlements);
    over.push(...others.over);
    await storeCompleted(tx, jobs, { completed, over, storedCandles, moreSizes: others.grown });
    await jobs.changes.notify(tx, others.changed);
  });
}

/** @returns The jobs that are over, the bytes by which storage has grown, and the records that followers must be notified of. */
async function settleUncompleted(tx: Db, jobs: Jobs, settlements: readonly Settlement[]) {
  const grown: Size[] = [];
  const over: TakenJob[] = [];
  const changed: `backtest ${string}`[] = [];
  for (const { job, attempt, outcome } of settlements) {
    if (outcome.type === "completed") continue;
    const run = { id: job.id, attempt };
    changed.push(`backtest ${job.id}`);
    if (outcome.type === "broken") {
      await releaseBacktest(tx, run);
      await jobs.fail(tx, QUEUE, job, "see the log");
    } else if (outcome.type === "stopped" && await releaseBacktest(tx, run)) {
      await jobs.giveBack(tx, QUEUE, job, outcome.delaySeconds);
    } else {
      if (outcome.type === "failed") {
        const { code, message, log, series } = outcome;
        const size = await failBacktest(tx, { ...run, error: { code, message }, log, series });
        if (size !== null && size.sizeBytes > 0) grown.push(size);
      }
      over.push(job);
    }
  }
  return { grown, over, changed };
}

/** Stores completed runs and ends jobs. It comes last, because it locks the storage totals: see addSizes(). */
async function storeCompleted(tx: Db, jobs: Jobs, { completed, over, ...options }: StoreOptions & {
  readonly completed: readonly CompletedRun[];
  readonly over: readonly TakenJob[];
}): Promise<void> {
  await settleTogether([storeResults(tx, completed, options), jobs.complete(tx, QUEUE, over)]);
}

/** Writes a run's progress, one write at a time, and detects that the run has lost its record. */
class ProgressWriter {
  readonly #lost = new AbortController();
  readonly #db: Db;
  readonly #jobs: Jobs;
  readonly #record: Backtest;
  readonly #time: Float64Array;
  #isWriting = false;
  #furthest: RunProgress = { candlesDone: 0, equity: NaN };
  /** Resolves when no write is in progress. */
  written: Promise<void> = Promise.resolve();

  constructor(db: Db, jobs: Jobs, record: Backtest, time: Float64Array) {
    this.#db = db;
    this.#jobs = jobs;
    this.#record = record;
    this.#time = time;
  }

  /** Aborted when the record was cancelled, deleted or claimed by another worker. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  write(now: RunProgress): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    // A run that begins again with more lookback counts from its first candle: ignore those counts.
    if (now.candlesDone > this.#furthest.candlesDone) this.#furthest = now;
    this.written = this.#write(this.#furthest).finally(() => this.#isWriting = false);
  }

  async #write({ candlesDone, equity }: RunProgress): Promise<void> {
    const { id, attempts: attempt } = this.#record;
    const time = this.#time[candlesDone - 1];
    const isKnown = time !== undefined && Number.isFinite(equity);
    const partialEquity = isKnown ? { timestamp: new Date(time).toISOString(), equity } : null;
    const progress = Math.min(1, candlesDone / this.#time.length);
    try {
      if (!await setProgress(this.#db, { id, attempt, progress, partialEquity })) {
        this.#lost.abort("lost" satisfies StopReason);
      } else await this.#jobs.changes.notify(this.#db, [`backtest ${id}`]);
    } catch (error) {
      log.warn("Cannot write the progress: {error}", { error });
    }
  }
}

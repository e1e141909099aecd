import { sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import { addSizes } from "../../db/backtest_sizes.ts";
import type { Db } from "../../db/client.ts";
import { inUnit } from "../../db/unit_of_work.ts";
import {
  lockUnendedOptimization,
  type Optimization,
  optimizationRecords,
  updateOptimization,
} from "../../db/optimizations.ts";
import { insertOptimizationSeries, measureSeries, type Series } from "../../db/series.ts";
import { keepScanData } from "../../db/scan_markets.ts";
import { insertTrialChunk, measureTrialChunk, type TrialChunk } from "../../db/trial_chunks.ts";
import type { Jobs, TakenJob } from "../jobs/jobs.ts";
import { QUEUES } from "../jobs/queues.ts";
import { dequeueRun } from "../jobs/run_jobs.ts";
import type { OutOfSample } from "../../research/walk_forward.ts";
import type { Failed } from "../common/outcome.ts";
import { divide, divideRest, type PlaceRange } from "./divide.ts";
import { countDone, type CountedSlice, countSlice } from "./slice_counts.ts";
import { beginWindows, countPlaces, placesBeforeTests } from "./windows.ts";

const QUEUE = QUEUES.optimizations;
// Jobs of the tests of windows at their beginning.
const TEST_JOBS_MAX = 8;
const NO_TRIALS = "Cannot find a trial: every point breaks a constraint, or the strategy refuses it";

/** The job of a stretch of an optimization's points, or of its beginning. */
interface OptimizationJob {
  readonly optimizationId: string;
  /** Absent: the beginning, which goes on with the first stretch. */
  readonly stretch?: PlaceRange;
  /** All slices are done: the last one's job goes on with the end. */
  readonly isEnd?: true;
}

/** An optimization that has begun, and the stretch of its first job. */
export interface BegunOptimization {
  readonly record: Optimization;
  readonly stretch: PlaceRange;
}

/** The points of a slice that are done. */
export interface SliceResult extends CountedSlice {
  /** The end of the job's stretch. */
  readonly end: number;
  readonly durationMs: number;
}

/** The records of optimizations that run. A slice is stored once, with the end of its job and the jobs of what it left. */
export class SliceRecords {
  readonly #db: Db;
  readonly #jobs: Jobs;

  constructor(db: Db, jobs: Jobs) {
    this.#db = db;
    this.#jobs = jobs;
  }

  /**
   * Begins an optimization: its points are divided among `stretches` jobs, of which this one is the first.
   *
   * @param stretches How many, at most one a point.
   * @returns The record and the stretch with which the job goes on; null where there is none, and where another worker has the job.
   */
  async begin(
    job: TakenJob,
    id: string,
    { points, constrained, stretches }: {
      readonly points: number;
      readonly constrained: number;
      readonly stretches: number;
    },
  ): Promise<BegunOptimization | null> {
    return await inUnit(this.#db, async ({ tx }) => {
      const record = await lockUnendedOptimization(tx, id);
      if (record?.status !== "queued") {
        await this.#jobs.complete(tx, QUEUE, [job]);
        return null;
      }
      const windows = points === 0 ? [] : beginWindows(record);
      const until = placesBeforeTests({ points, windows });
      const slicesOpen = Math.min(stretches, until);
      const counts = { status: "running", points, pointsConstrained: constrained, slicesOpen, windows } as const;
      const [stretch, ...others] = divide({ from: 0, until }, slicesOpen);
      if (stretch !== undefined && !await this.#jobs.goOn(tx, QUEUE, job, { stretch })) return null;
      await Promise.all([
        updateOptimization(tx, id, { ...counts, startedAt: sql`now()` }),
        this.#enqueue(tx, record, others),
        this.#notify(tx, id),
      ]);
      if (stretch !== undefined) return { record: { ...record, ...counts }, stretch };
      await this.#failWithoutTrials(tx, id, noneDrawn(record, constrained));
      await this.#jobs.complete(tx, QUEUE, [job]);
      return null;
    });
  }

  /**
   * Stores a slice, unless it is stored already or its optimization has ended.
   *
   * @returns The record if all slices are done: the job goes on with the end of the optimization. Else null.
   */
  async store(job: TakenJob, id: string, slice: SliceResult): Promise<Optimization | null> {
    return await inUnit(this.#db, async ({ tx }) => {
      let record = await lockUnendedOptimization(tx, id);
      const chunk = toChunk(id, slice, record?.method === "tpe");
      const kept = record === null ? { bytes: 0 } : await keepScanData(tx, id, slice.data ?? []);
      const changed = record !== null && isOtherData(record, slice) ? record : kept.changed;
      if (record !== null && changed !== undefined) {
        await optimizationRecords.fail(tx, id, dataChanged(changed));
        await dequeueRun(tx, this.#jobs, "optimization", record);
        record = null;
      } else if (record !== null && await insertTrialChunk(tx, chunk)) {
        record = await this.#count(tx, record, slice, measureTrialChunk(chunk) + kept.bytes);
      }
      // A slice that was stored before, by an attempt that could not go on, may have been the last one.
      const isDone = record !== null && countDone(record) === countPlaces(record);
      if (isDone && await this.#jobs.goOn(tx, QUEUE, job, { isEnd: true })) return record;
      await this.#jobs.complete(tx, QUEUE, [job]);
      return null;
    });
  }

  /** @returns The record as it is now; null once it has ended. */
  async #count(
    tx: Db,
    record: Optimization,
    slice: SliceResult,
    bytes: number,
  ): Promise<Optimization | null> {
    const { id, ownerId } = record;
    const done = countSlice(record, slice);
    const beforeTests = placesBeforeTests(record);
    const isTrained = countDone(done) === beforeTests;
    const isDone = countDone(done) === countPlaces(record);
    const tests = { from: beforeTests, until: countPlaces(record) };
    const testJobs = record.runtime?.type === "remote" ? 1 : Math.min(record.windows.length, TEST_JOBS_MAX);
    const next = isTrained && !isDone && done.trials > 0 ? divide(tests, testJobs) : divideRest(record, slice);
    const changes = { ...done, slicesOpen: record.slicesOpen - 1 + next.length, sizeBytes: record.sizeBytes + bytes };
    const hasNoTrials = isTrained && done.trials === 0;
    await Promise.all([
      updateOptimization(tx, id, changes),
      hasNoTrials ? this.#failWithoutTrials(tx, id) : this.#enqueue(tx, record, next),
      this.#notify(tx, id),
    ]);
    // Last, because it locks the storage totals, as everywhere.
    await addSizes(tx, [{ ownerId, sizeBytes: bytes }]);
    return hasNoTrials ? null : { ...record, ...changes };
  }

  /** Ends an optimization that cannot run. */
  async fail(job: TakenJob, { id, ownerId }: Pick<Optimization, "id" | "ownerId">, error: Failed): Promise<void> {
    const { code, message } = error;
    await this.#db.transaction(async (tx: Db) => {
      if (await optimizationRecords.fail(tx, id, { code, message })) {
        await dequeueRun(tx, this.#jobs, "optimization", { id, ownerId });
      }
      await this.#jobs.complete(tx, QUEUE, [job]);
    });
  }

  /** Ends a job whose optimization has ended or is gone. */
  async drop(job: TakenJob): Promise<void> {
    await this.#db.transaction((tx: Db) => this.#jobs.complete(tx, QUEUE, [job]));
  }

  /** Gives a job back that could not begin. */
  async giveBack(job: TakenJob, delaySeconds = 0): Promise<void> {
    await this.#db.transaction((tx: Db) => this.#jobs.giveBack(tx, QUEUE, job, delaySeconds));
  }

  /** Ends an attempt that met a fault of ours: it is tried again, a few times. */
  async break(job: TakenJob): Promise<void> {
    await this.#db.transaction((tx: Db) => this.#jobs.fail(tx, QUEUE, job, "see the log"));
  }

  async #enqueue(tx: Db, { id, ownerId }: Optimization, stretches: readonly PlaceRange[]): Promise<void> {
    if (stretches.length === 0) return;
    const position = await this.#jobs.nextPosition(tx, QUEUE, ownerId);
    await Promise.all(stretches.map(async (stretch, i) => {
      const job: OptimizationJob = { optimizationId: id, stretch };
      await this.#jobs.send(tx, QUEUE, uuidv7(), job, { ownerId, priority: -(position + i) });
    }));
  }

  /** Completes an optimization of which all slices are done. */
  async complete(
    job: TakenJob,
    id: string,
    { report, outOfSample, series }: {
      readonly report: Pick<Optimization, "overfitting" | "luck"> | null;
      readonly outOfSample: OutOfSample | null;
      readonly series: readonly Series[];
    },
  ): Promise<void> {
    await inUnit(this.#db, async ({ tx }) => {
      const record = await lockUnendedOptimization(tx, id);
      if (record === null) return await this.#jobs.complete(tx, QUEUE, [job]);
      const walkedBytes = outOfSample === null ? 0 : JSON.stringify([record.windows, outOfSample]).length;
      const bytes = walkedBytes + measureSeries(series);
      const sizeBytes = record.sizeBytes + bytes;
      await Promise.all([
        updateOptimization(tx, id, { status: "completed", finishedAt: sql`now()`, ...report, outOfSample, sizeBytes }),
        insertOptimizationSeries(tx, id, series),
        this.#jobs.complete(tx, QUEUE, [job]),
        this.#notifyEnd(tx, id),
      ]);
      // Last, because it locks the storage totals, as everywhere.
      if (bytes > 0) await addSizes(tx, [{ ownerId: record.ownerId, sizeBytes: bytes }]);
    });
  }

  async #failWithoutTrials(tx: Db, id: string, message = NO_TRIALS): Promise<void> {
    await optimizationRecords.fail(tx, id, { code: "NO_TRIALS", message });
    await this.#notifyEnd(tx, id);
  }

  async #notify(tx: Db, id: string): Promise<void> {
    await this.#jobs.changes.notify(tx, [`optimization ${id}`]);
  }

  async #notifyEnd(tx: Db, id: string): Promise<void> {
    await this.#jobs.changes.notify(tx, [`end ${id}`]);
  }
}

/**
 * The slice's trials with their place in the database. A training keeps its best trial alone, in the record.
 *
 * @param isGuided The points of a training follow from its trials, which stay then.
 */
function toChunk(
  optimizationId: string,
  { part, from, until, trials, durationMs }: SliceResult,
  isGuided: boolean,
): TrialChunk {
  const noTrials = { data: new Uint8Array(), notes: { errors: [], undefined: [], times: null } };
  const ofTraining = { ...(isGuided ? {} : noTrials), returns: new Uint8Array() };
  return {
    ...trials,
    ...(part.kind === "train" ? ofTraining : {}),
    optimizationId,
    first: from,
    window: part.window,
    pointsCount: until - from,
    durationMs,
  };
}

function noneDrawn({ spacePoints }: Optimization, drawn: number): string {
  return drawn >= spacePoints
    ? NO_TRIALS
    : `Cannot find a trial: each of ${drawn} points that were drawn, of ${spacePoints}, breaks a constraint; ` +
      "give the space fewer such points";
}

function isOtherData(record: Optimization, { part, dataSha256 }: SliceResult): boolean {
  if (part.kind === "test") return false;
  const known = part.window === null ? record.dataSha256 : record.windows[part.window]!.dataSha256;
  return known !== null && dataSha256 !== null && dataSha256 !== known;
}

function dataChanged({ symbol, exchange }: Pick<Optimization, "symbol" | "exchange">) {
  const message =
    `Cannot go on: the candles of ${symbol} of ${exchange} were revised between two trials; submit the optimization again`;
  return { code: "DATA_CHANGED", message };
}

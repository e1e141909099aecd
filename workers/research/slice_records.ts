import { sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import { addSizes } from "../../db/backtest_sizes.ts";
import type { OwnedKey } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import {
  type BestTrial,
  failOptimization,
  lockUnendedOptimization,
  type Optimization,
  updateOptimization,
} from "../../db/optimizations.ts";
import { insertTrialChunk, measureTrialChunk, type TrialChunk } from "../../db/trial_chunks.ts";
import type { EncodedTrials } from "../../db/codec/trial_table.ts";
import type { Jobs, TakenJob } from "../jobs/jobs.ts";
import { QUEUES } from "../jobs/queues.ts";
import type { Overfitting } from "../../research/overfitting.ts";
import type { OutOfSample } from "../../research/walk_forward.ts";
import type { Failed } from "../outcome.ts";
import { divide, divideRest, type PlaceRange } from "./divide.ts";
import { addToWindow, beginWindows, countPlaces, placesBeforeTests, type WindowSlice } from "./windows.ts";

const QUEUE = QUEUES.optimizations;
const BEST_MAX = 10;
// Jobs of the tests of windows at their beginning.
const TEST_JOBS_MAX = 8;
const NO_TRIALS = {
  code: "NO_TRIALS",
  message: "Cannot find a trial: every point breaks a constraint, or the strategy refuses it",
} as const;

/** The job of a stretch of an optimization's points, or of its beginning. */
export interface OptimizationJob {
  readonly optimizationId: string;
  readonly stretch?: PlaceRange;
  /** All slices are done. Neither this nor a stretch: the beginning. */
  readonly isEnd?: true;
}

/** The points of a slice that are done. */
export interface SliceResult extends WindowSlice {
  readonly from: number;
  /** The place behind the last one that is done; at least one is. */
  readonly until: number;
  /** The end of the job's stretch. */
  readonly end: number;
  readonly constrained: number;
  readonly refused: number;
  readonly durationMs: number;
}

/** Removes the jobs of an optimization that has ended, and stops its running slices. */
export async function endSlices(tx: Db, jobs: Jobs, { id, ownerId }: OwnedKey): Promise<void> {
  await jobs.cancelAll(tx, QUEUE, ownerId, "optimizationId", id);
  await jobs.changes.notify(tx, [`optimization ${id}`, `end ${id}`]);
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
   * Begins an optimization: its points are divided among so many jobs.
   *
   * @param stretches How many, at most one a point.
   */
  async begin(
    job: TakenJob,
    id: string,
    { points, constrained, stretches }: {
      readonly points: number;
      readonly constrained: number;
      readonly stretches: number;
    },
  ): Promise<void> {
    await this.#db.transaction(async (tx: Db) => {
      const record = await lockUnendedOptimization(tx, id);
      if (record?.status === "queued") {
        const windows = points === 0 ? [] : beginWindows(record);
        const until = placesBeforeTests({ points, windows });
        const slicesOpen = Math.min(stretches, until);
        const counts = { points, pointsConstrained: constrained, slicesOpen, windows };
        await updateOptimization(tx, id, { status: "running", startedAt: sql`now()`, ...counts });
        if (points === 0) await this.#failWithoutTrials(tx, id);
        await this.#enqueue(tx, record, divide({ from: 0, until }, slicesOpen));
      }
      await this.#jobs.complete(tx, QUEUE, [job]);
      await this.#notify(tx, id);
    });
  }

  /** Stores a slice, unless it is stored already or its optimization has ended. */
  async store(job: TakenJob, id: string, slice: SliceResult): Promise<void> {
    await this.#db.transaction(async (tx: Db) => {
      const record = await lockUnendedOptimization(tx, id);
      const chunk = toChunk(id, slice, record?.method === "tpe");
      if (record !== null && isOtherData(record, slice)) {
        await failOptimization(tx, id, dataChanged(record));
        await endSlices(tx, this.#jobs, record);
      } else if (record !== null && await insertTrialChunk(tx, chunk)) {
        await this.#count(tx, record, slice, chunk);
      }
      await this.#jobs.complete(tx, QUEUE, [job]);
    });
  }

  async #count(
    tx: Db,
    record: Optimization,
    slice: SliceResult,
    chunk: Pick<TrialChunk, "data" | "returns" | "notes">,
  ): Promise<void> {
    const { id, ownerId } = record;
    const done = slice.part.kind === "range" ? countRange(record, slice) : countWindow(record, slice);
    const bytes = measureTrialChunk(chunk);
    const placesDone = done.pointsDone + done.windowPointsDone;
    const hasTrials = done.trials > 0;
    const beforeTests = placesBeforeTests(record);
    const isTrained = placesDone === beforeTests;
    const isDone = placesDone === countPlaces(record);
    const tests = { from: beforeTests, until: countPlaces(record) };
    const testJobs = record.runtime?.type === "remote" ? 1 : Math.min(record.windows.length, TEST_JOBS_MAX);
    const next = isTrained && !isDone && hasTrials ? divide(tests, testJobs) : divideRest(record, slice);
    const slicesOpen = record.slicesOpen - 1 + next.length;
    await updateOptimization(tx, id, { ...done, slicesOpen, sizeBytes: record.sizeBytes + bytes });
    if (isTrained && !hasTrials) await this.#failWithoutTrials(tx, id);
    else if (isDone) await this.#send(tx, record, { optimizationId: id, isEnd: true });
    await this.#enqueue(tx, record, next);
    await this.#notify(tx, id);
    // Last, because it locks the storage totals, as everywhere.
    await addSizes(tx, [{ ownerId, sizeBytes: bytes }]);
  }

  /** Ends an optimization that cannot run. */
  async fail(job: TakenJob, { id, ownerId }: Pick<Optimization, "id" | "ownerId">, error: Failed): Promise<void> {
    const { code, message } = error;
    await this.#db.transaction(async (tx: Db) => {
      if (await failOptimization(tx, id, { code, message })) {
        await endSlices(tx, this.#jobs, { id, ownerId });
      }
      await this.#jobs.complete(tx, QUEUE, [job]);
    });
  }

  /** Ends a job whose optimization has ended or is gone. */
  async drop(job: TakenJob): Promise<void> {
    await this.#db.transaction((tx: Db) => this.#jobs.complete(tx, QUEUE, [job]));
  }

  /** Gives a job back that could not begin. */
  async giveBack(job: TakenJob): Promise<void> {
    await this.#db.transaction((tx: Db) => this.#jobs.giveBack(tx, QUEUE, job));
  }

  /** Ends an attempt that met a fault of ours: it is tried again, a few times. */
  async break(job: TakenJob): Promise<void> {
    await this.#db.transaction((tx: Db) => this.#jobs.fail(tx, QUEUE, job, "see the log"));
  }

  async #enqueue(tx: Db, { id, ownerId }: Optimization, stretches: readonly PlaceRange[]): Promise<void> {
    if (stretches.length === 0) return;
    const position = await this.#jobs.nextPosition(tx, QUEUE, ownerId);
    for (const [i, stretch] of stretches.entries()) {
      await this.#send(tx, { ownerId }, { optimizationId: id, stretch }, position + i);
    }
  }

  async #send(tx: Db, { ownerId }: Pick<Optimization, "ownerId">, job: OptimizationJob, position = 0): Promise<void> {
    await this.#jobs.send(tx, QUEUE, uuidv7(), job, { ownerId, priority: -position });
  }

  /** Completes an optimization of which all slices are done. */
  async complete(
    job: TakenJob,
    id: string,
    figures: { readonly overfitting: Overfitting | null; readonly outOfSample: OutOfSample | null },
  ): Promise<void> {
    await this.#db.transaction(async (tx: Db) => {
      const record = await lockUnendedOptimization(tx, id);
      await this.#jobs.complete(tx, QUEUE, [job]);
      if (record === null) return;
      const bytes = figures.outOfSample === null ? 0 : JSON.stringify([record.windows, figures.outOfSample]).length;
      const sizeBytes = record.sizeBytes + bytes;
      await updateOptimization(tx, id, { status: "completed", finishedAt: sql`now()`, ...figures, sizeBytes });
      await this.#notifyEnd(tx, id);
      // Last, because it locks the storage totals, as everywhere.
      if (bytes > 0) await addSizes(tx, [{ ownerId: record.ownerId, sizeBytes: bytes }]);
    });
  }

  async #failWithoutTrials(tx: Db, id: string): Promise<void> {
    await failOptimization(tx, id, NO_TRIALS);
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
 * Its trials with their place in the database. A training keeps its best trial alone, in the record.
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

function countRange(record: Optimization, slice: SliceResult) {
  return {
    pointsDone: record.pointsDone + slice.until - slice.from,
    windowPointsDone: record.windowPointsDone,
    pointsConstrained: record.pointsConstrained + slice.constrained,
    pointsRefused: record.pointsRefused + slice.refused,
    trials: record.trials + slice.trials.trials,
    trialsFailed: record.trialsFailed + slice.trials.failed,
    best: mergeBest(record, slice.trials),
    dataSha256: record.dataSha256 ?? slice.dataSha256,
  };
}

function countWindow(record: Optimization, slice: SliceResult) {
  return {
    pointsDone: record.pointsDone,
    windowPointsDone: record.windowPointsDone + slice.until - slice.from,
    trials: record.trials,
    windows: addToWindow(record, slice),
  };
}

function isOtherData(record: Optimization, { part, dataSha256 }: SliceResult): boolean {
  if (part.kind === "test") return false;
  const known = part.window === null ? record.dataSha256 : record.windows[part.window]!.dataSha256;
  return known !== null && dataSha256 !== null && dataSha256 !== known;
}

function dataChanged({ symbol, exchange }: Optimization) {
  const message =
    `Cannot go on: the candles of ${symbol} of ${exchange} were revised between two trials; submit the optimization again`;
  return { code: "DATA_CHANGED", message };
}

function mergeBest(
  { best, direction }: Optimization,
  { places, points, objectives }: Pick<EncodedTrials, "places" | "points" | "objectives">,
): readonly BestTrial[] {
  const sign = direction === "max" ? -1 : 1;
  const worst = best.length < BEST_MAX ? Infinity : sign * best.at(-1)!.objective;
  const found: BestTrial[] = [];
  for (let row = 0; row < places.length; row++) {
    const objective = objectives[row]!;
    if (sign * objective <= worst) found.push({ number: places[row]! + 1, point: points[row]!, objective });
  }
  return [...best, ...found].sort((a, b) => sign * (a.objective - b.objective) || a.number - b.number)
    .slice(0, BEST_MAX);
}

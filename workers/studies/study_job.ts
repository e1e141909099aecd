/** The job of what is found out about a backtest: the same for all kinds. */
import { getLogger, withContext } from "@logtape/logtape";
import { addSizes, readStorage, type Size } from "../../db/backtest_sizes.ts";
import type { StudyEnd, StudyKind, StudyRecords, StudyRow } from "../../db/backtest_studies.ts";
import { type Backtest, backtestRecords } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { findUnreadable } from "../../db/codec/unreadable.ts";
import type { Series } from "../../db/series.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import { RUN_KINDS } from "../../db/run_kinds.ts";
import type { BacktestResult } from "../../engine/result.ts";
import type { CandleServices } from "../backtest/run_candles.ts";
import { brokenBy, LEFT_TO_NEWER, NOT_BEGUN, type Outcome, requireStorage, RunError } from "../common/outcome.ts";
import { retryOnDatabaseFault } from "../common/retry.ts";
import type { Jobs, TakenJob } from "../jobs/jobs.ts";
import type { StopReason } from "../jobs/loop.ts";
import { topicOf } from "../jobs/run_jobs.ts";

const log = getLogger(["hindcast", "queue"]);

export interface StudyServices extends CandleServices {
  readonly jobs: Jobs;
  /** Computing time of a study. */
  readonly deadlineMs: number;
  /** Bytes that the results of one user may occupy. */
  readonly resultBytesMax: number;
}

export interface StudiedBacktest extends Backtest {
  readonly result: BacktestResult;
}

/** How far a study may go, and its listener. */
export interface StudyLimits {
  /** Computing time of all of it. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Receives the share that is done; as often as wanted. */
  readonly onProgress: (progress: number) => void;
}

/** The value of a study, without the time that it took. */
type Studied<Result extends { readonly duration_ms: number }> = {
  readonly result: Omit<Result, "duration_ms">;
  /** Series that its figures are computed from, if it keeps any. */
  readonly series?: readonly Series[];
};

/** A study that has ended, with the time that it took. */
interface Ended {
  readonly result: object;
  readonly series?: readonly Series[];
}

/** A kind of studies. */
export interface Study<Row extends StudyRow, Result extends { readonly duration_ms: number }> {
  readonly records: StudyRecords<Row>;
  readonly kind: StudyKind;
  /** @throws {RunError} */
  compute(record: Row, backtest: StudiedBacktest, limits: StudyLimits): Promise<Outcome<Studied<Result>>>;
}

/**
 * Executes a study: claims its record, computes it, and stores the outcome in one transaction with the end of its job.
 *
 * @throws {Error} The database's error when not even the failure can be stored: the heartbeat lapses, and another worker
 *   takes the job.
 */
export async function runStudyJob<Row extends StudyRow, Result extends { readonly duration_ms: number }>(
  services: StudyServices,
  study: Study<Row, Result>,
  job: TakenJob,
  signal: AbortSignal,
): Promise<void> {
  const { db } = services;
  const { logKey, topic } = RUN_KINDS[study.kind];
  await withContext({ [logKey]: job.id }, async () => {
    const record = await retryOnDatabaseFault(signal, () => study.records.claim(db, job.id));
    const outcome = record === null ? NOT_BEGUN : await attempt(services, study, record, signal);
    const end = { job, record, outcome };
    await retryOnDatabaseFault(signal, () => db.transaction((tx: Db) => settle(tx, services.jobs, study, end)));
    log.info(topic, { outcome: outcome.type, attempt: record?.attempts ?? 0 });
  });
}

async function attempt<Row extends StudyRow, Result extends { readonly duration_ms: number }>(
  services: StudyServices,
  study: Study<Row, Result>,
  record: Row,
  signal: AbortSignal,
): Promise<Outcome<Ended>> {
  const { db, jobs, deadlineMs } = services;
  const begun = performance.now();
  const lost = new AbortController();
  const stop = AbortSignal.any([signal, lost.signal]);
  let written = Promise.resolve();
  let isWriting = false;
  const onProgress = (progress: number) => {
    if (isWriting) return;
    isWriting = true;
    written = writeProgress(services, study, { record, progress }, lost).finally(() => isWriting = false);
  };
  try {
    requireStorage(`a ${RUN_KINDS[study.kind].noun}`, await readStorage(db, record.ownerId, services.resultBytesMax));
    await jobs.changes.notify(db, [topicOf(study.kind, record.id)]);
    const backtest = await backtestRecords.get(db, { id: record.backtestId, ownerId: record.ownerId });
    // It goes with its backtest.
    if (backtest === null || backtest.result === null) return NOT_BEGUN;
    const { result } = backtest;
    const limits = { deadlineMs, signal: stop, onProgress };
    const outcome = await study.compute(record, { ...backtest, result }, limits);
    if (outcome.type === "broken") log.error("A study broke: {reason}", { reason: outcome.message });
    if (outcome.type !== "completed") return outcome;
    const { series = [] } = outcome;
    const duration_ms = Math.round(performance.now() - begun);
    return { type: "completed", result: { ...outcome.result, duration_ms }, series };
  } catch (error) {
    if (stop.aborted) return NOT_BEGUN;
    if (error instanceof RunError) return error.outcome;
    const unreadable = findUnreadable(error);
    if (unreadable !== undefined) {
      log.warn("Leaving a study to a newer build: {reason}", { reason: unreadable.message });
      return LEFT_TO_NEWER;
    }
    log.error("Attempt {attempt} failed: {error}", { attempt: record.attempts, error });
    return isDatabaseFault(error) ? NOT_BEGUN : brokenBy(error);
  } finally {
    await written;
  }
}

async function writeProgress<Row extends StudyRow>(
  { db, jobs }: StudyServices,
  { kind, records }: { readonly kind: StudyKind; readonly records: StudyRecords<Row> },
  { record: { id, attempts }, progress }: { readonly record: Row; readonly progress: number },
  lost: AbortController,
): Promise<void> {
  try {
    if (await records.setProgress(db, { id, attempt: attempts, progress })) {
      await jobs.changes.notify(db, [topicOf(kind, id)]);
    } else lost.abort("lost" satisfies StopReason);
  } catch (error) {
    log.warn("Cannot write the progress: {error}", { error });
  }
}

async function settle<Row extends StudyRow>(
  tx: Db,
  jobs: Jobs,
  { kind, records }: { readonly kind: StudyKind; readonly records: StudyRecords<Row> },
  { job, record, outcome }: {
    readonly job: TakenJob;
    readonly record: Row | null;
    readonly outcome: Outcome<Ended>;
  },
): Promise<void> {
  const { queue } = RUN_KINDS[kind];
  const run = { id: job.id, attempt: record?.attempts ?? 0 };
  let grown: Size | null = null;
  if (outcome.type === "broken") {
    await records.release(tx, run);
    await jobs.fail(tx, queue, job, "see the log");
  } else if (outcome.type === "stopped" && await records.release(tx, run)) {
    await jobs.giveBack(tx, queue, job, outcome.delaySeconds);
  } else {
    if (record !== null && outcome.type !== "stopped") grown = await records.settle(tx, record, endOf(outcome));
    await jobs.complete(tx, queue, [job]);
  }
  await jobs.changes.notify(tx, [topicOf(kind, job.id)]);
  // Last, because it locks the storage totals, as everywhere.
  if (grown !== null) await addSizes(tx, [grown]);
}

function endOf(
  outcome: Exclude<Outcome<Ended>, { type: "broken" | "stopped" }>,
): StudyEnd<object> {
  if (outcome.type === "completed") return { result: outcome.result, series: outcome.series ?? [] };
  return { error: { code: outcome.code, message: outcome.message } };
}

import { measureUnended, type OwnedKey } from "../db/backtests.ts";
import type { DatabaseHandle, Db } from "../db/client.ts";
import { keepVacuumed } from "../db/embedded/vacuum.ts";
import { createFeeds } from "../market/feeds/registry.ts";
import { ReadThrough } from "../market/on_demand/read_through.ts";
import { Jobs } from "./jobs/jobs.ts";
import { QUEUES } from "./jobs/queues.ts";
import type { JobLoop } from "./jobs/loop.ts";
import { syncSchedules } from "./jobs/schedules.ts";
import { endSlices } from "./research/slice_records.ts";
import type { ScriptMode } from "./script_mode.ts";
import { observeQueue } from "./telemetry.ts";
import { startWork } from "./work.ts";

// A process must end within five seconds, and this is one of the things that it waits for.
const REST_MS = 3000;

/** The jobs of all processes, and the workers of this one. */
export interface OpenQueue {
  /**
   * Writes a backtest's job in the transaction that writes its record.
   *
   * @param queuePosition The record's; lower ones are taken first.
   * @param onSent Called when all statements are on their way.
   */
  enqueueBacktest(
    tx: Db,
    backtestId: string,
    ownerId: string,
    queuePosition?: number,
    onSent?: () => void,
  ): Promise<void>;
  /** Writes an ingestion run's job in the transaction that writes its record. */
  enqueueIngestion(tx: Db, runId: string): Promise<void>;
  /** Writes a module check's job in the transaction that writes its record; lower queue positions are taken first. */
  enqueueModuleCheck(tx: Db, checkId: string, ownerId: string, queuePosition: number): Promise<void>;
  /** Removes the job of a backtest that the caller's transaction cancels or deletes; its worker stops within about a second. */
  dequeueBacktest(tx: Db, backtestId: string): Promise<void>;
  /**
   * Calls back after each change of a backtest's record by any process, so that the caller reads it again.
   *
   * @returns A function that ends the watch.
   */
  watchBacktest(backtestId: string, onChange: () => void): Promise<() => void>;
  /** Writes the first job of an optimization in the transaction that writes its record. */
  enqueueOptimization(tx: Db, optimizationId: string, ownerId: string): Promise<void>;
  /** Removes the jobs of an optimization that the caller's transaction cancels or deletes; its slices stop within a second. */
  dequeueOptimization(tx: Db, key: OwnedKey): Promise<void>;
  /** As watchBacktest(), for an optimization. @param onEnd Called instead after the last change. */
  watchOptimization(optimizationId: string, onChange: () => void, onEnd: () => void): Promise<() => void>;
  /** Writes a Monte Carlo simulation's job in the transaction that writes its record; lower queue positions are taken first. */
  enqueueMonteCarlo(tx: Db, monteCarloId: string, ownerId: string, queuePosition: number): Promise<void>;
  /** Removes the job of a simulation that the caller's transaction cancels or deletes; its worker stops within a second. */
  dequeueMonteCarlo(tx: Db, monteCarloId: string): Promise<void>;
  /** As watchBacktest(), for a Monte Carlo simulation. */
  watchMonteCarlo(monteCarloId: string, onChange: () => void): Promise<() => void>;
  /** Updates the queue's schedules to those of the instruments. */
  syncSchedules(): Promise<void>;
  /**
   * True if any process takes backtests.
   *
   * @throws When the queue cannot be reached.
   */
  check(): Promise<{ readonly hasWorker: boolean }>;
  /**
   * Starts to take jobs.
   *
   * @param backtestsMax How many backtests compute at once.
   */
  work(backtestsMax: number): Promise<void>;
  /** Takes no more jobs and gives unfinished ones back to the queue, within three seconds. */
  rest(): Promise<void>;
  /** Rests, and disconnects. */
  close(): Promise<void>;
}

/** The settings of a queue and its workers. */
export interface QueueOptions {
  readonly handle: DatabaseHandle;
  /** How long a backtest may compute. */
  readonly runSecondsMax: number;
  /** Announces a worker to other processes, since work() will be called; default: no. */
  readonly isWorker?: boolean;
  /** The most candles of a backtest; default: no limit. */
  readonly runCandlesMax?: number;
  /** A user whose backtests occupy more bytes cannot begin another; default: no limit. */
  readonly resultBytesMax?: number;
  /** How many days results are kept; undefined: without end. */
  readonly resultDaysMax?: number | undefined;
  /** `host:port` pairs of endpoints that may be called although they are not public. */
  readonly remoteAllow?: readonly string[];
  /** How scripts run; default: on. */
  readonly scripts?: ScriptMode;
  /** Fetches candles that the archive lacks; default: from the feeds that need no key. */
  readonly readThrough?: ReadThrough;
}

/**
 * Connects to the queue in the same database as the records.
 *
 * @throws When the database cannot be reached.
 */
export async function openQueue(
  {
    handle,
    runSecondsMax,
    isWorker = false,
    runCandlesMax = Infinity,
    resultBytesMax = Infinity,
    resultDaysMax,
    remoteAllow = [],
    scripts = "on",
    readThrough = new ReadThrough(handle.db, createFeeds()),
  }: QueueOptions,
): Promise<OpenQueue> {
  const jobs = await Jobs.open(handle, runSecondsMax, isWorker);
  const { db, connection } = handle;
  const endVacuum = connection.kind === "pglite" ? keepVacuumed(connection.pool) : () => Promise.resolve();
  const endObserving = observeQueue(() => measureUnended(db));
  const egress = { allow: new Set(remoteAllow) };
  const limits = { runSecondsMax, runCandlesMax, resultBytesMax, resultDaysMax };
  const runners: { close(): void }[] = [];
  const loops: JobLoop[] = [];
  let resting: Promise<unknown> | undefined;
  const rest = async () => void await (resting ??= Promise.all(loops.map((loop) => loop.close(REST_MS))));
  return {
    enqueueBacktest: (tx, backtestId, ownerId, queuePosition = 0, onSent) =>
      jobs.send(tx, QUEUES.backtests, backtestId, { backtestId, ownerId }, {
        ownerId,
        priority: -queuePosition,
        ...(onSent && { onSent }),
      }),
    enqueueIngestion: (tx, runId) => jobs.send(tx, QUEUES.ingestion, runId, { runId }),
    enqueueModuleCheck: (tx, checkId, ownerId, queuePosition) =>
      jobs.send(tx, QUEUES.checks, checkId, { checkId }, { ownerId, priority: -queuePosition }),
    async dequeueBacktest(tx, backtestId) {
      await jobs.cancel(tx, QUEUES.backtests, backtestId);
      await jobs.changes.notify(tx, [`backtest ${backtestId}`]);
    },
    async enqueueOptimization(tx, optimizationId, ownerId) {
      const priority = -await jobs.nextPosition(tx, QUEUES.optimizations, ownerId);
      await jobs.send(tx, QUEUES.optimizations, optimizationId, { optimizationId }, { ownerId, priority });
    },
    dequeueOptimization: (tx, key) => endSlices(tx, jobs, key),
    async watchOptimization(id, onChange, onEnd) {
      const unwatch = await jobs.changes.subscribe(`optimization ${id}`, onChange);
      const unwatchEnd = await jobs.changes.subscribe(`end ${id}`, onEnd);
      return () => {
        unwatch();
        unwatchEnd();
      };
    },
    watchBacktest: (backtestId, onChange) => jobs.changes.subscribe(`backtest ${backtestId}`, onChange),
    ...monteCarloJobs(jobs),
    syncSchedules: () => syncSchedules(db, jobs),
    async check() {
      await jobs.check();
      return { hasWorker: connection.kind === "pglite" ? loops.length > 0 : await jobs.findWorker() };
    },
    async work(backtestsMax) {
      await startWork({ db, jobs, readThrough, egress, scripts, backtestsMax, limits }, { loops, runners });
    },
    rest,
    async close() {
      await rest();
      for (const runner of runners) runner.close();
      await endObserving();
      await endVacuum();
      await jobs.close();
    },
  };
}

function monteCarloJobs(
  jobs: Jobs,
): Pick<OpenQueue, "enqueueMonteCarlo" | "dequeueMonteCarlo" | "watchMonteCarlo"> {
  const queue = QUEUES.monteCarlos;
  return {
    enqueueMonteCarlo: (tx, monteCarloId, ownerId, queuePosition) =>
      jobs.send(tx, queue, monteCarloId, { monteCarloId }, { ownerId, priority: -queuePosition }),
    async dequeueMonteCarlo(tx, monteCarloId) {
      await jobs.cancel(tx, queue, monteCarloId);
      await jobs.changes.notify(tx, [`monte carlo ${monteCarloId}`]);
    },
    watchMonteCarlo: (id, onChange) => jobs.changes.subscribe(`monte carlo ${id}`, onChange),
  };
}

import { measureUnended } from "../db/backtests.ts";
import type { DatabaseHandle } from "../db/client.ts";
import { keepVacuumed } from "../db/embedded/vacuum.ts";
import { createFeeds } from "../market/feeds/registry.ts";
import { ReadThrough } from "../market/on_demand/read_through.ts";
import type { RunQueue } from "../db/run_queue.ts";
import { Jobs } from "./jobs/jobs.ts";
import { QUEUES } from "./jobs/queues.ts";
import { queueRuns } from "./jobs/run_jobs.ts";
import { Relay } from "./served/relay.ts";
import type { JobLoop } from "./jobs/loop.ts";
import { syncSchedules } from "./jobs/schedules.ts";
import { watchSchema } from "./jobs/schema_watch.ts";
import type { ScriptModes } from "./scripts/script_mode.ts";
import { Spares } from "./sandbox/spares.ts";
import { observeQueue } from "./common/telemetry.ts";
import { startWork } from "./work.ts";

// A process must end within five seconds, and this is one of the things that it waits for.
const REST_MS = 3000;

/** The jobs of all processes, and the workers of this one. */
export interface OpenQueue extends RunQueue {
  /**
   * Starts to take jobs.
   *
   * @param backtestsMax How many backtests compute at once.
   * @param onWait Called before each pause in which it waits for the database.
   */
  work(backtestsMax: number, onWait?: () => void): Promise<void>;
  /** Takes no more jobs and gives unfinished ones back to the queue, within three seconds. */
  rest(): Promise<void>;
  /** Rests, and disconnects. */
  close(): Promise<void>;
}

/** The settings of a queue and its workers. */
interface QueueOptions {
  readonly handle: DatabaseHandle;
  /** How long a backtest may compute. */
  readonly runSecondsMax: number;
  /** Announces a worker to other processes, since work() will be called; default: no. */
  readonly isWorker?: boolean;
  /** Keeps processes that wait for users' code, until close(); default: no. */
  readonly keepsSpares?: boolean;
  /** The most candles of a backtest; default: no limit. */
  readonly runCandlesMax?: number;
  /** A user whose backtests occupy more bytes cannot begin another; default: no limit. */
  readonly resultBytesMax?: number;
  /** How many days results are kept; undefined: without end. */
  readonly resultDaysMax?: number | undefined;
  /** `host:port` pairs of endpoints that may be called although they are not public. */
  readonly remoteAllow?: readonly string[];
  /** How scripts run; default: on. */
  readonly scripts?: ScriptModes;
  /** Fetches candles that the archive lacks; default: from the feeds that need no key. */
  readonly readThrough?: ReadThrough;
}

/** Connects to the queue in the same database as the records. @throws When the database cannot be reached. */
export async function openQueue(
  {
    handle,
    runSecondsMax,
    isWorker = false,
    keepsSpares = false,
    runCandlesMax = Infinity,
    resultBytesMax = Infinity,
    resultDaysMax,
    remoteAllow = [],
    scripts = { typescript: "on", python: "on" },
    readThrough = new ReadThrough(handle.db, createFeeds()),
  }: QueueOptions,
): Promise<OpenQueue> {
  const jobs = await Jobs.open(handle, runSecondsMax, isWorker);
  const { db, connection } = handle;
  const endVacuum = connection.kind === "pglite" ? keepVacuumed(connection.pool) : () => Promise.resolve();
  const endObserving = observeQueue(() => measureUnended(db));
  const egress = { allow: new Set(remoteAllow), relay: new Relay(db, jobs.changes) };
  const limits = { runSecondsMax, runCandlesMax, resultBytesMax, resultDaysMax };
  const runners: { close(): void | Promise<void> }[] = [];
  const loops: JobLoop[] = [];
  let resting: Promise<unknown> | undefined;
  const rest = async () => void await (resting ??= Promise.all(loops.map((loop) => loop.close(REST_MS))));
  // An embedded database has no other process that could migrate it.
  const endWatch = connection.kind === "pglite" ? () => {} : await watchSchema(db, jobs.changes, rest);
  return {
    ...queueRuns(jobs),
    enqueueIngestion: (tx, runId) => jobs.send(tx, QUEUES.ingestion, runId, { runId }),
    enqueueModuleCheck: (tx, checkId, ownerId, queuePosition) =>
      jobs.send(tx, QUEUES.checks, checkId, { checkId }, { ownerId, priority: -queuePosition }),
    watchModuleCheck: (checkId, onVerdict) => jobs.changes.subscribe(`check ${checkId}`, onVerdict),
    watchEndpoint: ({ ownerId, name }, onRequest) => jobs.changes.subscribe(`served ${ownerId} ${name}`, onRequest),
    notifyAnswer: (tx, requestId) => jobs.changes.notify(tx, [`answer ${requestId}`]),
    syncSchedules: () => syncSchedules(db, jobs),
    async check() {
      await jobs.check();
      return { hasWorker: connection.kind === "pglite" ? loops.length > 0 : await jobs.findWorker() };
    },
    async work(backtestsMax, onWait) {
      const spares = keepsSpares ? new Spares() : undefined;
      if (spares !== undefined) runners.push(spares);
      await startWork({ db, jobs, readThrough, egress, scripts, spares, backtestsMax, limits, onWait }, {
        loops,
        runners,
      });
    },
    rest,
    async close() {
      endWatch();
      await rest();
      await Promise.all(runners.map((runner) => runner.close()));
      await endObserving();
      await endVacuum();
      await jobs.close();
    },
  };
}

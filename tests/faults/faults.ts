import { expect } from "@std/expect";
import { PostgresPool } from "../../db/postgres/postgres_pool.ts";
import type { TestClient } from "../support/client.ts";
import { retryOnDatabaseFault } from "../../workers/common/retry.ts";
import { Cluster } from "./cluster.ts";
import type { Ground } from "./ground.ts";
import { checkAll, pause, type Query, untilAllEnded } from "./invariants.ts";
import { Optimizations } from "./optimizations.ts";
import { SeededRandom } from "./random.ts";
import type { RunningProcess } from "../support/process.ts";
import { RecoveryWatch } from "./recovery.ts";
import { runClean, Submissions } from "./workload.ts";

const API_COUNT = 2;
const WORKER_COUNT = 3;
const RUN_MS_MAX = 20_000;
const PAUSE_MS_MAX = 200;
const OPTIMIZATIONS_MAX = 16;
// Time for the connections to end while the process stands still.
const UNNOTICED_MS = 100;
// Runs end meanwhile, and cannot store their results.
const AWAY_MS = 3_000;
const NEVER = new AbortController().signal;
const RECOVERY_MS_MAX = 30_000;

/** A fault that a scenario causes. */
export type Fault =
  | "worker killed"
  | "api killed"
  | "connections terminated"
  | "connections terminated unnoticed"
  | "database crashed"
  | "bucket away";

/** The figures of a scenario. */
export type Outcome = Readonly<Record<string, number>>;

/**
 * Submits backtests, scans and optimizations of portfolios to two API processes with three workers, causes faults meanwhile, and checks
 * the records: every accepted one ended exactly once, with the result of a clean run, and nothing else exists.
 *
 * @param faults The faults in their order, spread over the backtests.
 * @param recoveryMsMax How long work may stop after a fault; thirty seconds by default.
 * @throws When something is lost, duplicated, different or left over, or work stopped for longer.
 */
export async function runFaults(
  ground: Ground,
  { seed, faults, backtests, recoveryMsMax = RECOVERY_MS_MAX }: {
    readonly seed: number;
    readonly faults: readonly Fault[];
    readonly backtests: number;
    readonly recoveryMsMax?: number;
  },
): Promise<Outcome> {
  const begun = performance.now();
  const random = new SeededRandom(seed);
  await using sql = openQuery(ground.databaseUrl);
  const { query } = sql;
  const cluster = await Cluster.start(ground.databaseUrl, {
    apis: API_COUNT,
    workers: WORKER_COUNT,
  }, ground.objects?.environment);
  try {
    const first = cluster.client(0);
    await first.signUp();
    const client = (index: number) => cluster.client(index % cluster.apis.length, first.cookie);
    const clean = await runClean(first);
    const optimizations = await Optimizations.begin(query, first);
    const submissions = new Submissions();
    const recovery = new RecoveryWatch(query);
    const scene = { cluster, query, random, ground, recovery };
    for (const [index, fault] of faults.entries()) {
      const until = Math.ceil(backtests * (index + 1) / faults.length);
      const optimizes = index % Math.ceil(faults.length / OPTIMIZATIONS_MAX) === 0;
      await Promise.all([
        submitUntil(submissions, until, client),
        optimizes ? optimizations.submit(() => client(index)) : null,
        cause(fault, scene),
      ]);
    }
    await untilAllEnded(query);
    await optimizations.check(query, client(0));
    const recoveryMs = await recovery.close();
    expect(recoveryMs).toBeLessThan(recoveryMsMax);
    const repeated = await checkAll(query, submissions, clean, client(0));
    expect(await cluster.stop("SIGTERM")).toEqual([]);
    const { accepted: { size: accepted }, unanswered } = submissions;
    const tookMs = Math.round(performance.now() - begun);
    const counts = { accepted, optimizations: optimizations.accepted, unanswered, faults: faults.length };
    return { ...counts, repeated, recoveryMs, tookMs };
  } finally {
    await cluster.stop("SIGKILL");
  }
}

/** Queries a PostgreSQL database, and retries while it is unavailable. */
export function openQuery(databaseUrl: string): { readonly query: Query } & AsyncDisposable {
  const pool = new PostgresPool(databaseUrl, 3);
  return {
    query: (statement) => retryOnDatabaseFault(NEVER, () => pool.query(statement)),
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

async function submitUntil(
  submissions: Submissions,
  count: number,
  client: (index: number) => TestClient,
): Promise<void> {
  while (submissions.accepted.size + submissions.unanswered < count) {
    const index = submissions.accepted.size + submissions.unanswered;
    if (!await submissions.submit(client(index))) await pause(PAUSE_MS_MAX);
  }
}

interface Scene {
  readonly cluster: Cluster;
  readonly query: Query;
  readonly random: SeededRandom;
  readonly ground: Ground;
  readonly recovery: RecoveryWatch;
}

async function cause(fault: Fault, { cluster, query, random, ground, recovery }: Scene): Promise<void> {
  // Chosen before any wait, so that a seed's choices do not depend on the machine's speed.
  const choice = random.next();
  const pauseMs = random.below(PAUSE_MS_MAX);
  await untilWorking(query);
  await pause(pauseMs);
  switch (fault) {
    case "worker killed":
      await cluster.killWorker(Math.floor(choice * cluster.workers.length));
      await recovery.begin();
      return await cluster.addWorker();
    case "api killed":
      // One stays for the submissions.
      if (cluster.apis.length > 1) await cluster.killApi(Math.floor(choice * cluster.apis.length));
      return await cluster.addApi();
    case "connections terminated":
      await query(`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
      return await recovery.begin();
    case "connections terminated unnoticed":
      return await terminateUnnoticed(cluster.apis[Math.floor(choice * cluster.apis.length)], query);
    case "database crashed":
      if (ground.crashDatabase === undefined) {
        throw new Error("Cannot crash the database: the scenario did not start its server");
      }
      await ground.crashDatabase();
      return await recovery.begin();
    case "bucket away":
      if (ground.objects === undefined) throw new Error("Cannot break the bucket: the scenario has none");
      await ground.objects.halt();
      await pause(AWAY_MS);
      await ground.objects.start();
      return await recovery.begin();
  }
}

/** Ends a stopped process's idle connections, so that its next transactions begin on dead ones. */
async function terminateUnnoticed(api: RunningProcess | undefined, query: Query): Promise<void> {
  if (api === undefined) throw new Error("Cannot stop an API process: none is left");
  Deno.kill(api.pid, "SIGSTOP");
  try {
    // The connections of other processes end too: these notice it and open new ones.
    await query(`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'idle'`);
    await pause(UNNOTICED_MS);
  } finally {
    Deno.kill(api.pid, "SIGCONT");
  }
}

/** Waits until a run has ended after the call and another is running, or for RUN_MS_MAX. */
async function untilWorking(query: Query): Promise<void> {
  const look = async () => {
    const [counts] = await query(`
      select count(*) filter (where status = 'completed')::integer as ended,
        count(*) filter (where status = 'running')::integer as running from backtests`);
    return Object(counts);
  };
  const deadline = performance.now() + RUN_MS_MAX;
  const before = await look();
  while (performance.now() < deadline) {
    const now = await look();
    if (now.ended > before.ended && now.running > 0) return;
    await pause(20);
  }
}

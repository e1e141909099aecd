import { expect } from "@std/expect";
import { asc, eq, type SQL, sql } from "drizzle-orm";
import { rowsOf } from "../../db/answer_rows.ts";
import { type DatabaseHandle, type Db, openPostgres } from "../../db/client.ts";
import {
  lockUnendedOptimization,
  type Optimization,
  optimizationRecords,
  updateOptimization,
} from "../../db/optimizations.ts";
import { insertMonteCarlo, type MonteCarlo, monteCarloRecords } from "../../db/monte_carlos.ts";
import { ensureInstrument } from "../../db/instruments.ts";
import { trialChunks, user } from "../../db/schema.ts";
import { TrialTable } from "../../db/codec/trial_table.ts";
import { insertTrialChunk, readTrialChunks } from "../../db/trial_chunks.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { resolveExecution } from "../../engine/execution.ts";
import { storeCandles } from "../../market/archive/store.ts";
import { archiveSample } from "../../market/ingestion/archive_sample.ts";
import type { WalkForward } from "../../research/walk_forward.ts";
import { resultSchema } from "../../routers/backtests/backtest_result.ts";
import { optimizationRuns } from "../../routers/optimizations/optimization_runs.ts";
import { Jobs } from "../../workers/jobs/jobs.ts";
import { QUEUES } from "../../workers/jobs/queues.ts";
import { type OpenQueue, openQueue } from "../../workers/queue.ts";
import { addUser, newBacktest, submitBacktest, untilEnded } from "../support/backtests.ts";
import { strangerContext } from "../support/context.ts";
import { createTestDatabase } from "../support/database.ts";
import { addOptimization } from "../support/optimizations.ts";
import { until } from "../support/until.ts";

const KEY = { ownerId: "ann" };
const DAY = "2024-02-01T00:00:00.000Z";
const RUN = {
  startDate: "2024-02-01",
  endDate: "2024-05-01",
  parameters: {
    fast: 10,
    slow: 30,
    direction: "both",
    takeProfitLevel: 0,
    stopLossLevel: 0,
    timeframe: "1h",
    execution: resolveExecution({}, null),
  },
};
const metricsSchema = resultSchema.shape.metrics;

/** A new database with the sample, and a submitted sma-cross of 10,000 points over three months of hours. */
async function withOptimization(
  body: (scene: { url: string; handle: DatabaseHandle; queue: OpenQueue; id: string }) => Promise<void>,
  walkForward: WalkForward | null = null,
): Promise<void> {
  const { url, drop } = await createTestDatabase();
  await using opened = new AsyncDisposableStack();
  opened.defer(drop);
  const handle = await openPostgres(url, 4);
  opened.defer(() => handle.close());
  await addUser(handle.db, "ann");
  await archiveSample(handle.db);
  const queue = await openQueue({ handle, runSecondsMax: 60 });
  opened.defer(() => queue.close());
  const id = await submit(handle.db, queue, walkForward);
  await body({ url, handle, queue, id });
}

async function submit(
  db: Db,
  queue: OpenQueue,
  walkForward: WalkForward | null = null,
  ownerId = "ann",
): Promise<string> {
  return await db.transaction(async (tx: Db) => {
    const id = await addOptimization(tx, ownerId, { walkForward });
    const queuePosition = await queue.nextPosition(tx, "optimization", ownerId);
    await queue.enqueue(tx, "optimization", { id, ownerId }, queuePosition);
    return id;
  });
}

/** Pretends that all trials have run, a chunk each, and sends the job that measures their luck. @returns The job's id. */
async function endTrials({ handle, id }: { handle: DatabaseHandle; id: string }, trials: number): Promise<string> {
  const { db } = handle;
  const returns = Float64Array.from({ length: 64 }, (_, day) => Math.sin(day) / 100);
  const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: 1 });
  const metrics = Object.fromEntries(NUMERIC_METRIC_NAMES.map((name) => [name, 1]));
  table.add({ place: 0, point: 0 }, {
    metrics: metricsSchema.parse({ ...metrics, start: DAY, end: DAY }),
    undefinedMetrics: {},
    dailyReturns: returns,
  });
  const { data, notes, returns: packed } = table.encode();
  await insertTrialChunk(db, {
    optimizationId: id,
    first: 0,
    window: null,
    pointsCount: 1,
    trials: 1,
    data,
    notes,
    returns: packed,
    durationMs: 1,
  });
  await db.execute(sql`
    insert into trial_chunks (optimization_id, first, points, trials, data, notes, returns, duration_ms)
    select optimization_id, number, points, trials, data, notes, returns, duration_ms
    from trial_chunks, generate_series(1, ${trials - 1}::integer) as number where optimization_id = ${id}`);
  const best = [{ number: 1, point: 0, objective: 1 }];
  await updateOptimization(db, id, { status: "running", points: trials, pointsDone: trials, trials, best });
  await db.execute(sql`delete from pgboss.job where name = 'optimizations'`);
  const jobs = await Jobs.open(handle, 60);
  const jobId = crypto.randomUUID();
  await db.transaction((tx: Db) =>
    jobs.send(tx, QUEUES.optimizations, jobId, { optimizationId: id, isEnd: true }, KEY)
  );
  await jobs.close();
  return jobId;
}

async function countJobs(db: Db, state: SQL): Promise<number> {
  const jobs = sql`pgboss.job where name = 'optimizations' and ${state}`;
  const [row] = await db.select({ count: sql<number>`count(*)::int` }).from(jobs);
  return row!.count;
}

async function untilIs(db: Db, id: string, is: (record: Optimization) => boolean): Promise<Optimization> {
  return await until(async () => {
    const record = await optimizationRecords.get(db, { id, ...KEY });
    return record !== null && is(record) && record;
  });
}

function startWorker(url: string): Deno.ChildProcess {
  const script = new URL("./worker_process.ts", import.meta.url).pathname;
  const args = ["run", "--allow-all", "--no-check", script, url];
  return new Deno.Command(Deno.execPath(), { args, stdout: "null", stderr: "null" }).spawn();
}

async function kill(worker: Deno.ChildProcess, db: Db): Promise<void> {
  worker.kill("SIGKILL");
  await worker.status;
  // Pretend that the ten seconds have passed after which a missing heartbeat is noticed.
  await db.execute(sql`update pgboss.job set heartbeat_on = heartbeat_on - interval '10 seconds'`);
}

/** A worker that dies while it makes paths costs them, and another one makes the same. */
async function killPathMaker(url: string, db: Db, queue: OpenQueue, backtestId: string): Promise<void> {
  const submitPaths = () =>
    db.transaction(async (tx: Db) => {
      const values = {
        ...KEY,
        backtestId,
        method: "candles",
        runs: 4000,
        blockDays: 5,
        seed: 1,
        ruinDrawdown: 0.5,
      } as const;
      const row = await insertMonteCarlo(tx, values);
      await queue.enqueue(tx, "monteCarlo", { id: row!.id, ownerId: KEY.ownerId }, 0);
      return row!.id;
    });
  const untilPathsAre = (id: string, is: (record: MonteCarlo) => boolean) =>
    until(async () => {
      const record = await monteCarloRecords.get(db, { id, ...KEY });
      return record !== null && is(record) && record;
    });
  const first = startWorker(url);
  const id = await submitPaths();
  await untilPathsAre(id, ({ progress }) => progress > 0);
  await kill(first, db);
  const left = await monteCarloRecords.get(db, { id, ...KEY });
  expect(left).toMatchObject({ status: "running", attempts: 1, result: null });
  const second = startWorker(url);
  const twin = await submitPaths();
  const [disturbed, undisturbed] = await Promise.all(
    [id, twin].map((each) => untilPathsAre(each, ({ status }) => status !== "queued" && status !== "running")),
  );
  await kill(second, db);
  expect([disturbed!.status, disturbed!.attempts, undisturbed!.attempts]).toEqual(["completed", 2, 1]);
  expect(disturbed!.result?.samples).toEqual(undisturbed!.result?.samples);
  expect(disturbed!.result?.samples[0]?.figures.final_equity.paths).toBe(4000);
}

Deno.test("workers that are killed in the middle cost slices and paths, and every trial and path counts once", () =>
  withOptimization(async ({ url, handle: { db }, queue, id }) => {
    const backtestId = await submitBacktest(db, queue, newBacktest("ann", RUN));
    for (let deaths = 0, seen = 0; deaths < 2; deaths++) {
      const worker = startWorker(url);
      const record = await untilIs(db, id, ({ trials, status }) => trials > seen || status === "completed");
      seen = record.trials;
      await kill(worker, db);
    }
    expect(await optimizationRecords.get(db, { id, ...KEY })).toMatchObject({ status: "running" });
    await queue.work(2);
    const record = await untilIs(db, id, ({ status }) => status === "completed");
    expect(record).toMatchObject({ points: 10_000, pointsDone: 10_000, trials: 10_000, trialsFailed: 0 });

    const chunks = await db.select({ first: trialChunks.first, points: trialChunks.points }).from(trialChunks)
      .where(eq(trialChunks.optimizationId, id)).orderBy(asc(trialChunks.first));
    let next = 0;
    for (const { first, points } of chunks) {
      expect(first).toBe(next);
      next = first + points;
    }
    let place = 0;
    for await (const { count, columns } of readTrialChunks(db, id)) {
      for (let row = 0; row < count; row++) expect(columns.place![row]).toBe(place++);
    }
    // The range, the training of the window, and its test.
    expect([next, place]).toEqual([20_001, 10_000]);
    expect(record.windowPointsDone).toBe(10_001);
    expect(record.windows).toMatchObject([{ error: null, train: {}, test: {} }]);
    expect(record.outOfSample).toMatchObject({ windows: 1, days: 7 });

    expect(await untilEnded(db, backtestId)).toMatchObject({ status: "completed" });
    await queue.rest();
    await killPathMaker(url, db, queue, backtestId);
  }, { trainDays: 14, testDays: 7, stepDays: 90, anchored: false }));

Deno.test("a worker that closes while it measures luck gives the job back in time", () =>
  withOptimization(async (scene) => {
    const { handle: { db }, queue } = scene;
    // To read them takes longer than a worker that closes has.
    const jobId = await endTrials(scene, 6_000);
    const readState = async () => {
      const rows = await db.select({ state: sql<string>`state` }).from(sql`pgboss.job where id = ${jobId}`);
      return rows[0]?.state;
    };
    await queue.work(1);
    await until(async () => await readState() === "active");
    await queue.rest();
    expect(await readState()).toBe("retry");
    expect(await optimizationRecords.get(db, { id: scene.id, ...KEY })).toMatchObject({ status: "running" });
  }));

Deno.test("a user with many optimizations holds up another's for two slices, and changes are told four times a second", () =>
  withOptimization(async ({ handle: { db }, queue, id }) => {
    let change = () => {};
    const watch: OpenQueue["watch"] = (_kind, _id, onChange) => {
      change = onChange;
      return Promise.resolve(() => {});
    };
    const context = { ...strangerContext(db), queue: { ...queue, watch } };
    const begun = performance.now();
    const changing = setInterval(() => change(), 1);
    let seen = 0;
    for await (const _ of optimizationRuns.follow(context, { id, ...KEY }, new AbortController().signal)) {
      if (++seen === 4) break;
    }
    clearInterval(changing);
    // Three pauses of a quarter of a second, which a timer may shorten by a moment.
    expect(performance.now() - begun).toBeGreaterThan(740);

    for (let i = 0; i < 5; i++) await submit(db, queue);
    await addUser(db, "bob");
    await queue.work(1);
    await untilIs(db, id, ({ trials }) => trials > 0);
    const bobs = await submit(db, queue, null, "bob");
    const slices = () =>
      db.execute(sql`
        select s.group_id as owner from pgboss.job s, optimizations o
        where s.name = 'optimizations' and s.state > 'retry' and s.data ? 'stretch' and o.id = ${bobs}::uuid
          and s.started_on > o.created_at order by s.started_on`);
    const owners = await until(async () => {
      const found = rowsOf(await slices()).map((row) => String(Object(row).owner));
      return found.filter((owner) => owner === "bob").length === 2 && found;
    });
    // Ann's next slice may have been taken already, and her turn comes between Bob's.
    expect(owners.filter((owner) => owner === "ann").length).toBeLessThanOrEqual(4);
  }));

Deno.test("revised candles end an optimization with the trials that it has, and a removed owner takes theirs along", () =>
  withOptimization(async ({ handle: { db }, queue, id }) => {
    await queue.work(1);
    await untilIs(db, id, ({ status }) => status === "running");
    // A slice that waits to be stored has left its place to the next one.
    await db.transaction(async (tx: Db) => {
      await lockUnendedOptimization(tx, id);
      await until(async () => await countJobs(tx, sql`state = 'active'`) >= 2);
    });
    await untilIs(db, id, ({ trials }) => trials > 0);
    const market = { symbol: "DEMO", exchange: "SAMPLE", assetClass: "crypto", provider: "sample" } as const;
    const instrument = await ensureInstrument(db, market);
    const one = (value: number) => Float64Array.of(value);
    const candles = { open: one(1), high: one(1), low: one(1), close: one(1), volume: one(1) };
    const time = one(Date.UTC(2024, 1, 10));
    await db.transaction((tx: Db) =>
      storeCandles(tx, { instrumentId: instrument.id, timeframe: "1m" }, { time, ...candles })
    );
    const ended = await untilIs(db, id, ({ status }) => status !== "running");
    expect(ended).toMatchObject({ status: "failed", error: { code: "DATA_CHANGED" } });
    expect(ended.trials).toBeGreaterThan(0);

    const other = await submit(db, queue);
    await untilIs(db, other, ({ trials }) => trials > 0);
    await db.delete(user).where(eq(user.id, "ann"));
    await until(async () => await countJobs(db, sql`state < 'completed'`) === 0);
    expect(await db.select().from(trialChunks)).toEqual([]);
  }));

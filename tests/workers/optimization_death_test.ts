import { expect } from "@std/expect";
import { asc, eq, sql } from "drizzle-orm";
import { type DatabaseHandle, type Db, openPostgres } from "../../db/client.ts";
import { getOptimization, insertOptimization, type Optimization } from "../../db/optimizations.ts";
import { ensureInstrument } from "../../db/instruments.ts";
import { trialChunks, user } from "../../db/schema.ts";
import { readTrialChunks } from "../../db/trial_chunks.ts";
import { resolveExecution } from "../../engine/execution.ts";
import { storeCandles } from "../../market/archive/store.ts";
import { archiveSample } from "../../market/ingestion/archive_sample.ts";
import { countPoints } from "../../research/space.ts";
import { parseSpace } from "../../research/parse_space.ts";
import type { WalkForward } from "../../research/walk_forward.ts";
import { type OpenQueue, openQueue } from "../../workers/queue.ts";
import { addUser } from "../support/backtests.ts";
import { createTestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

const KEY = { ownerId: "ann" };

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

async function submit(db: Db, queue: OpenQueue, walkForward: WalkForward | null = null): Promise<string> {
  const { value: space } = parseSpace({
    fast: { min: 1, max: 100, step: 1 },
    slow: { min: 101, max: 200, step: 1 },
  }, { type: "object" });
  if (space === undefined) throw new Error("Cannot parse the space");
  return await db.transaction(async (tx: Db) => {
    const { id } = await insertOptimization(tx, {
      ...KEY,
      symbol: "DEMO",
      exchange: "SAMPLE",
      strategy: "SMA Cross",
      strategySlug: "sma-cross",
      strategyVersion: "1",
      startDate: "2024-02-01",
      endDate: "2024-05-01",
      initialBalance: 10_000,
      parameters: {
        direction: "both",
        takeProfitLevel: 0,
        stopLossLevel: 0,
        timeframe: "1h",
        execution: resolveExecution({}, null),
      },
      space,
      constraints: [],
      method: "grid",
      objective: "sharpe",
      direction: "max",
      trialsMax: 10_000,
      seed: 0,
      walkForward,
      spacePoints: countPoints(space),
    });
    await queue.enqueueOptimization(tx, id, "ann");
    return id;
  });
}

async function untilIs(db: Db, id: string, is: (record: Optimization) => boolean): Promise<Optimization> {
  return await until(async () => {
    const record = await getOptimization(db, { id, ...KEY });
    return record !== null && is(record) && record;
  });
}

Deno.test("workers that are killed in the middle cost slices, and every trial is stored once", () =>
  withOptimization(async ({ url, handle: { db }, queue, id }) => {
    const script = new URL("./worker_process.ts", import.meta.url).pathname;
    for (let deaths = 0, seen = 0; deaths < 2; deaths++) {
      const worker = new Deno.Command(Deno.execPath(), {
        args: ["run", "--allow-all", "--no-check", script, url],
        stdout: "null",
        stderr: "null",
      }).spawn();
      const record = await untilIs(db, id, ({ trials, status }) => trials > seen || status === "completed");
      seen = record.trials;
      worker.kill("SIGKILL");
      await worker.status;
      // Pretend that the ten seconds have passed after which a missing heartbeat is noticed.
      await db.execute(sql`update pgboss.job set heartbeat_on = heartbeat_on - interval '10 seconds'`);
    }
    expect(await getOptimization(db, { id, ...KEY })).toMatchObject({ status: "running" });
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
  }, { trainDays: 14, testDays: 7, stepDays: 90, anchored: false }));

Deno.test("revised candles end an optimization with the trials that it has, and a removed owner takes theirs along", () =>
  withOptimization(async ({ handle: { db }, queue, id }) => {
    await queue.work(1);
    await untilIs(db, id, ({ trials }) => trials > 0);
    const instrument = await ensureInstrument(db, {
      symbol: "DEMO",
      exchange: "SAMPLE",
      assetClass: "crypto",
      provider: "sample",
    });
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
    await until(async () => {
      const [row] = await db.select({ count: sql<number>`count(*)::int` }).from(
        sql`pgboss.job where name = 'optimizations' and state < 'completed'`,
      );
      return row?.count === 0;
    });
    expect(await db.select().from(trialChunks)).toEqual([]);
  }));

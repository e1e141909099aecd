import { expect } from "@std/expect";
import { drizzle } from "drizzle-orm/pg-proxy";
import postgres from "postgres";
import { updateLabels } from "../../db/backtest_labels.ts";
import {
  BACKTEST_SORTS,
  type BacktestPlace,
  type BacktestsPage,
  type BacktestSummary,
  listBacktests,
  listBacktestSummaries,
  placeOf,
  SORT_ORDERS,
} from "../../db/backtest_lists.ts";
import { measureBacktests } from "../../db/backtest_sizes.ts";
import { backtestRecords, insertBacktest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import * as schema from "../../db/schema.ts";
import { addUser, completeWith, newBacktest, newResult } from "../support/backtests.ts";
import { createTestDatabase, eachDatabaseSteps } from "../support/database.ts";

eachDatabaseSteps("lists of backtests", async ({ db }, step) => {
  await addUser(db, "ann");
  await addUser(db, "bob");
  const list = async (page: Partial<BacktestsPage>) =>
    (await listBacktests(db, { ownerId: "ann", limit: 100, ...page })).map(({ name }) => name);
  const add = async (name: string, more: Parameters<typeof newBacktest>[1] = {}) =>
    (await insertBacktest(db, newBacktest("ann", { name, ...more }))).id;
  const addMetrics = async (name: string, metrics: Record<string, number | null> | null) => {
    const id = await add(name);
    if (metrics !== null) await completeWith(db, id, newResult({ metrics: { ...newResult().metrics, ...metrics } }));
  };

  await step("each order has every record once, metrics that are equal by id, and those without one last", async () => {
    await addMetrics("a", { total_return: 0.1, sharpe: -1, max_drawdown: 0 });
    await addMetrics("b", { total_return: 0.1 + Number.EPSILON / 8, sharpe: 2.5, max_drawdown: 0.3 });
    await addMetrics("c", null);
    await addMetrics("d", { total_return: 0.1, sharpe: null, max_drawdown: 0.3 });
    await addMetrics("e", { total_return: -1e-7, sharpe: 2.5, max_drawdown: 1 });
    await addMetrics("f", null);
    expect(await list({ sort: "created" })).toEqual(["f", "e", "d", "c", "b", "a"]);
    expect(await list({ sort: "created", order: "asc" })).toEqual(["a", "b", "c", "d", "e", "f"]);
    expect(await list({ sort: "return" })).toEqual(["b", "d", "a", "e", "f", "c"]);
    expect(await list({ sort: "return", order: "asc" })).toEqual(["e", "a", "d", "b", "c", "f"]);
    expect(await list({ sort: "sharpe" })).toEqual(["e", "b", "a", "f", "d", "c"]);
    expect(await list({ sort: "sharpe", order: "asc" })).toEqual(["a", "b", "e", "c", "d", "f"]);
    expect(await list({ sort: "drawdown" })).toEqual(["e", "d", "b", "a", "f", "c"]);
    expect(await list({ sort: "drawdown", order: "asc" })).toEqual(["a", "b", "d", "e", "c", "f"]);
  });

  await step("pages of any length continue exactly where the one before ended", async () => {
    for (const sort of BACKTEST_SORTS) {
      for (const order of SORT_ORDERS) {
        const whole = await list({ sort, order });
        for (const limit of [1, 2, 3, 4, 5]) {
          const read: (string | null)[] = [];
          let after: BacktestPlace | undefined = undefined;
          while (read.length < whole.length) {
            const page: BacktestSummary[] = await listBacktestSummaries(db, {
              ...{ ownerId: "ann", sort, order, after, limit },
            });
            expect(page.length).toBe(Math.min(limit, whole.length - read.length));
            read.push(...page.map(({ name }) => name));
            after = placeOf(page.at(-1)!, sort);
          }
          expect([sort, order, limit, read]).toEqual([sort, order, limit, whole]);
        }
      }
    }
  });

  await step("a summary has the listed metrics of the result, and no older or unfinished one has any", async () => {
    const [found] = await listBacktestSummaries(db, { ownerId: "ann", sort: "return", limit: 1 });
    expect(found).toMatchObject({ name: "b", sharpe: 2.5, maxDrawdown: 0.3, winRate: null, status: "completed" });
    expect(found?.totalReturn).toBe(0.1 + Number.EPSILON / 8);
  });

  await step("a summary names the integrity checks that failed", async () => {
    const failed = { status: "failed", evidence: "" } as const;
    const { id } = await insertBacktest(db, newBacktest("bob"));
    const integrity = { ...newResult().integrity, orders: failed, lookahead: failed };
    const read = async () => (await listBacktestSummaries(db, { ownerId: "bob", limit: 1 }))[0]?.failedChecks;
    expect(await read()).toBeNull();
    await completeWith(db, id, newResult({ integrity }));
    expect(await read()).toEqual(["orders", "lookahead"]);
  });

  await step("filters are exact, and go together", async () => {
    await add("g", { symbol: "EURUSD", exchange: "FX", strategy: "Grid 100%", tags: ["live", 'a,b "c"'], star: true });
    await add("h", { symbol: "EURUSD", tags: ["live"], notes: "Kept für später\nsecond line" });
    await insertBacktest(db, newBacktest("bob", { name: "bob's", tags: ["live"], star: true }));
    expect(await list({ symbol: "EURUSD" })).toEqual(["h", "g"]);
    expect(await list({ exchange: "FX" })).toEqual(["g"]);
    expect(await list({ tag: "live" })).toEqual(["h", "g"]);
    expect(await list({ tag: 'a,b "c"' })).toEqual(["g"]);
    expect(await list({ tag: "liv" })).toEqual([]);
    expect(await list({ starred: true })).toEqual(["g"]);
    expect(await list({ starred: false, symbol: "EURUSD" })).toEqual(["h"]);
    expect(await list({ status: "queued", sort: "return" })).toEqual(["h", "g", "f", "c"]);
    expect(await list({ search: "für später\nSECOND" })).toEqual(["h"]);
    expect(await list({ search: "0%" })).toEqual(["g"]);
    expect(await list({ search: "0_" })).toEqual([]);
    expect(await list({ search: "eurusd", tag: "live", order: "asc" })).toEqual(["g", "h"]);
  });

  await step("the days of creation are a half-open range", async () => {
    const [g] = await listBacktests(db, { ownerId: "ann", search: "Grid", limit: 1 });
    const at = g!.createdAt.getTime();
    expect(await list({ starred: true, createdFrom: at, createdTo: at + 1 })).toEqual(["g"]);
    expect(await list({ starred: true, createdFrom: at + 1 })).toEqual([]);
    expect(await list({ starred: true, createdTo: at })).toEqual([]);
  });

  await step("labels change in every status, for the owner alone, and count for the storage", async () => {
    const id = await add("before");
    const bytes = await measureBacktests(db, "ann");
    const update = (ownerId: string, changes: Parameters<typeof updateLabels>[2]) =>
      db.transaction((tx: Db) => updateLabels(tx, { id, ownerId }, changes));
    expect(await update("bob", { name: "stolen" })).toBeNull();
    const tags = ["one", "{two}", "NULL", ""];
    const changed = await update("ann", { tags, notes: "é".repeat(100), star: true });
    expect(changed?.backtest).toMatchObject({ name: "before", tags, notes: "é".repeat(100), star: true });
    expect(changed?.grownBytes).toBe(212);
    expect(await measureBacktests(db, "ann")).toBe(bytes + 212);
    await completeWith(db, id, newResult());
    const cleared = await update("ann", { name: null, tags: [], notes: null, star: false });
    expect(cleared?.backtest).toMatchObject({ status: "completed", name: null, tags: [], notes: null, star: false });
    expect(cleared?.backtest.result).toEqual(newResult());
    expect(await measureBacktests(db, "ann")).toBe(
      (await listBacktests(db, { ownerId: "ann", limit: 100 })).reduce((sum, row) => sum + row.sizeBytes, 0),
    );
    expect((await backtestRecords.get(db, { id, ownerId: "ann" }))?.sizeBytes).toBe(cleared?.backtest.sizeBytes);
  });
});

Deno.test("a page of 20,000 runs follows an index in every order and under every usual filter", async () => {
  const { url, drop } = await createTestDatabase("migrated");
  const client = postgres(url, { max: 1, onnotice() {} });
  await client.unsafe(`insert into "user" (id, name, email) values ('ann', 'ann', 'ann@example.com')`);
  await client.unsafe(`
    insert into backtests (id, owner_id, symbol, exchange, strategy, start_date, end_date, initial_balance, parameters,
      status, result, tags, star)
    select gen_random_uuid(), 'ann', 'S' || n % 200, 'X', 'Strategy ' || n % 200, '2024-01-01', '2024-02-01', 1, '{}',
      case when n % 500 = 0 then 'failed' else 'completed' end,
      case when n % 500 <> 0 then jsonb_build_object('metrics', jsonb_build_object('total_return', random(),
        'sharpe', case when n % 7 > 0 then random() end, 'max_drawdown', random())) end,
      case when n % 300 = 0 then '{rare}'::text[] else '{}' end, n % 300 = 0
    from generate_series(1, 20000) as n`);
  await client.unsafe("vacuum analyze backtests");
  const pages: Partial<BacktestsPage>[] = [
    ...BACKTEST_SORTS.flatMap((sort) => SORT_ORDERS.map((order) => ({ sort, order }))),
    ...BACKTEST_SORTS.map((sort) => ({ sort, after: { value: 0.5, id: crypto.randomUUID() } })),
    { sort: "sharpe", after: { value: null, id: crypto.randomUUID() } },
    { status: "failed" },
    { symbol: "S7" },
    { strategy: "Strategy 7" },
    { tag: "rare" },
    { starred: true },
    { symbol: "S7", sort: "sharpe" },
  ];
  for (const page of pages) {
    const plans: string[] = [];
    // Explains what it is asked for, and answers nothing.
    const db = drizzle(async (text, values) => {
      const rows = await client.unsafe(`explain (analyze, costs off, timing off) ${text}`, values);
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
      return { rows: [] };
    }, { schema });
    await listBacktestSummaries(db, { ownerId: "ann", limit: 51, ...page });
    expect([page, plans.length > 0]).toEqual([page, true]);
    for (const plan of plans) {
      const read = Math.max(
        ...[...plan.matchAll(/rows=(\d+)|Removed by Filter: (\d+)/g)].map(([, a, b]) => Number(a ?? b)),
      );
      // A filter without an order of its own reads all that it finds: 100 at most, here.
      expect([page, plan, read <= 110]).toEqual([page, plan, true]);
    }
  }
  await client.end();
  await drop();
});

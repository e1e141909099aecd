import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/pg-proxy";
import postgres from "postgres";
import { backtestRecords, insertBacktest } from "../../db/backtests.ts";
import { insertOptimization, updateOptimization } from "../../db/optimizations.ts";
import { countOtherTries, countRunTrials } from "../../db/run_trials.ts";
import * as schema from "../../db/schema.ts";
import { addUser, completeWith, newBacktest, newResult } from "../support/backtests.ts";
import { createTestDatabase, eachDatabaseSteps } from "../support/database.ts";

const NO_TRIALS = { optimizationTrials: 0, independentTrials: 0, unmeasuredTrials: 0 };

eachDatabaseSteps("the tries around a run", async ({ db }, step) => {
  await addUser(db, "ann");
  await addUser(db, "bob");
  const add = async (more: Parameters<typeof newBacktest>[1] = {}, owner = "ann", runKey?: string) => {
    const { id } = await insertBacktest(db, newBacktest(owner, more));
    await completeWith(db, id, { ...newResult(), run_key: runKey ?? id });
    return (await backtestRecords.get(db, { id, ownerId: owner }))!;
  };

  /** An optimization whose trials count as 2.5 independent ones. */
  const measured = (id: string) =>
    updateOptimization(db, id, { overfitting: sql`'{"independent_trials": 2.5}'::jsonb` });

  await step("are the owner's completed runs of the same strategy, symbol and exchange", async () => {
    const first = await add();
    expect(await countRunTrials(db, first)).toEqual({ backtests: 1, ...NO_TRIALS });
    // A strategy of the catalogue is known by its slug, whatever it is called.
    await add({ strategy: "My own words", startDate: "2023-01-01" });
    await add({}, "bob");
    await add({ symbol: "OTHER" });
    await add({ exchange: "OTHER" });
    await add({ strategySlug: "rsi-reversion" });
    const inline = await add({ strategySlug: null });
    await insertBacktest(db, newBacktest("ann"));
    const cancelled = await insertBacktest(db, newBacktest("ann"));
    await backtestRecords.cancel(db, { id: cancelled.id, ownerId: "ann" });
    expect(await countRunTrials(db, first)).toEqual({ backtests: 2, ...NO_TRIALS });
    // A run that is verified, repeated or reused has the same key.
    await add({}, "ann", String(first.runKey));
    expect(await countRunTrials(db, first)).toEqual({ backtests: 2, ...NO_TRIALS });
    expect(await countRunTrials(db, inline)).toEqual({ backtests: 1, ...NO_TRIALS });
    // On the market: the strategy's two, the other strategy's and the one without a slug.
    const own = await countRunTrials(db, inline);
    expect(await countOtherTries(db, inline, own)).toEqual({ count: 3, independent: 3 });
    // The same code under another name has the same key.
    await add({ strategySlug: null, strategy: "Renamed" }, "ann", String(inline.runKey));
    expect(await countOtherTries(db, inline, own)).toEqual({ count: 3, independent: 3 });
    expect(await countOtherTries(db, first, await countRunTrials(db, first))).toEqual({ count: 2, independent: 2 });
  });

  await step(
    "and the trials of the owner's optimizations on them that did not fail, whatever became of these",
    async () => {
      const run = await add();
      const counts = [[12, 4, {}], [7, 0, { strategy: "My own words" }], [100, 0, { symbol: "OTHER" }]] as const;
      for (const [trials, trialsFailed, more] of counts) {
        const { fresh: _fresh, ...shared } = newBacktest("ann", more);
        const { id } = await insertOptimization(db, {
          ...shared,
          space: { axes: [] },
          constraints: [],
          method: "grid",
          objective: "sharpe",
          direction: "max",
          trialsMax: 100,
          seed: 0,
          spacePoints: 100,
        });
        await updateOptimization(db, id, { trials, trialsFailed, status: "cancelled" });
        if (trials === 7) await measured(id);
      }
      expect(await countRunTrials(db, run)).toEqual({
        ...{ backtests: 3, optimizationTrials: 15, independentTrials: 10.5, unmeasuredTrials: 8 },
      });
    },
  );
});

Deno.test("the tries among 10,000 runs of one strategy and 10,000 of others are counted in an index alone", async () => {
  const { url, drop } = await createTestDatabase("migrated");
  const client = postgres(url, { max: 1, onnotice() {} });
  await client.unsafe(`insert into "user" (id, name, email) values ('ann', 'ann', 'ann@example.com')`);
  await client.unsafe(`
    insert into backtests (id, owner_id, symbol, exchange, strategy, strategy_slug, start_date, end_date, initial_balance,
      parameters, status, result)
    select gen_random_uuid(), 'ann', 'DEMO', 'SAMPLE', 'SMA Cross', case when n % 2 = 0 then 'sma-cross' else 's' || n end,
      '2024-01-01', '2024-02-01', 1, '{}', 'completed', jsonb_build_object('run_key', n / 4)
    from generate_series(1, 20000) as n`);
  await client.unsafe(`
    insert into optimizations (id, owner_id, symbol, exchange, strategy, strategy_slug, start_date, end_date,
      initial_balance, parameters, space, constraints, method, objective, direction, trials_max, seed, space_points)
    select gen_random_uuid(), 'ann', 'S' || n, 'SAMPLE', 'SMA Cross', 'sma-cross', '2024-01-01', '2024-02-01', 1, '{}', '{}',
      '{}', 'grid', 'sharpe', 'max', 1, 0, 1
    from generate_series(1, 2000) as n`);
  await client.unsafe("vacuum analyze backtests, optimizations");
  const plans: string[] = [];
  const db = drizzle(async (text, values) => {
    const rows = await client.unsafe(`explain (analyze, costs off) ${text}`, values);
    plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    return { rows: await client.unsafe(text, values).values() };
  }, { schema });
  const run = { ownerId: "ann", symbol: "DEMO", exchange: "SAMPLE", strategy: "", strategySlug: "sma-cross" };
  expect(await countRunTrials(db, run)).toEqual({ backtests: 5_001, ...NO_TRIALS });
  const [plan = ""] = plans;
  expect(plan).toMatch(/Index Only Scan using backtests_trials_index/);
  expect(plan).toMatch(/optimizations_trials_index/);
  expect(plan).not.toMatch(/Seq Scan|Removed by Filter/);
  await client.end();
  await drop();
});

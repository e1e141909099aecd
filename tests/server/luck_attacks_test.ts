/** Optimizations in which there is hardly anything to judge: figures of luck or their reasons, and never NaN. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { finishOptimization, OPTIMIZATION, submitOptimization } from "../support/optimizations.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const DAY_MS = 86_400_000;
const FIRST = Date.parse("2024-01-01T00:00:00Z");
const ONE = { fast: { values: [5] }, slow: { values: [20] } };
/** Fails at the prices of a flat market, which those of its check are not. */
const FAILING = `strategy(({ fast }) => ({
  decide(i, { close }) { if (close[i] === 100) throw new Error("never " + fast); },
}));`;
const STILL = `strategy(({ fast }) => ({ decide(i) { if (i < 0) throw new Error(fast); } }));`;
/** Trades with `fast` 1 alone. */
const SOME = `strategy(({ fast }) => ({
  decide(i, candles, account, orders) {
    if (fast === 1 && i % 4 === 0) orders.buy();
    if (fast === 1 && i % 4 === 2) orders.close();
  },
}));`;
const HOLDING = `strategy(({ fast }) => ({ decide(i, candles, account, orders) { if (i === fast) orders.buy(); } }));`;

/** Imports days at one price, or at the prices of a function. */
async function importDays(url: string, symbol: string, days: readonly number[], priceAt = (_day: number) => 100) {
  const lines = days.map((day) => {
    const price = priceAt(day).toFixed(4);
    return [new Date(FIRST + day * DAY_MS).toISOString(), price, price, price, price, 1_000].join(",");
  });
  const path = `/api/admin/ingestion/import?symbol=${symbol}&exchange=LAB&assetClass=crypto&timeframe=1d`;
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
    body: ["timestamp,open,high,low,close,volume", ...lines].join("\n"),
  });
  expect([symbol, answer.status, await answer.text()]).toEqual([symbol, 200, expect.any(String)]);
}

const daysFrom = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);

/** Runs an optimization to its end, and reads all that follows from it. */
async function optimize(user: TestClient, change: object) {
  const id = await submitOptimization(user, change);
  const ended = await finishOptimization(user, id);
  expect(ended.text).not.toMatch(/NaN|Infinity/);
  const parts = ["/trials", "/returns", "/returns?of=benchmark", "/splits", "/trials?format=csv&sort=sharpe"];
  for (const part of parts) {
    const answer = await user.get(`/api/optimizations/${id}${part}`);
    expect([part, answer.status < 500, /NaN|Infinity/.test(answer.text)]).toEqual([part, true, false]);
  }
  const { status, error, luck, overfitting, best, trials } = Object(ended.at("/optimization"));
  if (luck !== null) {
    expect(luck.conclusion).toMatch(/^(Too little to tell: |Treat the best trial as luck: |Luck alone does not )/);
    expect(luck.conclusion).not.toMatch(/undefined|null|unknown/);
  }
  return { status, error, luck, overfitting, best, trials };
}

Deno.test("where there is hardly anything to judge, luck says so in words and has no NaN", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const script = (source: string) => ({
    ...{ strategy: "own", space: { fast: { values: [1, 2] } } },
    parameters: { timeframe: "1d", runtime: { type: "script", source } },
  });
  await importDays(service.url, "FLAT", daysFrom(0, 90));
  // A wave without its days 40 to 54.
  const wave = (day: number) => 100 + 10 * Math.sin(day / 4);
  await importDays(service.url, "HOLED", daysFrom(0, 90).filter((day) => day < 40 || day > 54), wave);
  await importDays(service.url, "WAVE", daysFrom(0, 90), wave);
  const own = { exchange: "LAB", start_date: "2024-01-01", end_date: "2024-03-31" };

  await t.step("one trial", async () => {
    const { luck, overfitting } = await optimize(user, { space: ONE, end_date: "2024-04-01" });
    expect(luck).toMatchObject({ trials: 1, tested_paths: null, p_value: expect.any(Number) });
    expect(luck.conclusion).toContain("a trial would reach");
    expect(overfitting).toMatchObject({ overfitting_probability: null, independent_trials: 1 });
  });

  await t.step("two equal trials count as about one", async () => {
    // A stop that is never reached.
    const space = { ...ONE, stopLossLevel: { values: [0.9, 0.95] } };
    const { best, luck, overfitting } = await optimize(user, { space, end_date: "2024-04-01" });
    expect(best[0].objective).toBe(best[1].objective);
    expect(luck).toMatchObject({ trials: 2, trials_considered: 2 });
    expect(overfitting.independent_trials).toBeLessThan(1.5);
  });

  await t.step("an objective that no trial has, or some", async () => {
    const none = await optimize(user, { ...own, ...script(STILL), symbol: "WAVE", objective: "profit_factor" });
    expect(none).toMatchObject({ status: "completed", best: [], overfitting: null });
    expect(none.luck).toMatchObject({ verdict: "too_little", best: null, p_value: null, survivors: null });
    expect(none.luck.conclusion).toMatch(/none of the 2 trials made a trade/);
    const { luck, trials, best } = await optimize(user, {
      ...{ ...own, ...script(SOME), symbol: "WAVE", objective: "profit_factor" },
    });
    expect(best.length).toBe(1);
    expect([trials.done, luck.objective, luck.trials_considered]).toEqual([2, "sharpe", 2]);
  });

  await t.step("returns that are constant", async () => {
    const { status, luck } = await optimize(user, { ...own, ...script(HOLDING), symbol: "FLAT" });
    expect([status, luck.verdict, luck.p_value]).toEqual(["completed", "too_little", null]);
  });

  await t.step("a benchmark without candles, or with a hole", async () => {
    const benchmarkOf = (symbol: string) => ({
      ...{ ...own, symbol: "WAVE", space: { fast: { values: [2, 3] }, slow: { values: [8, 12] } } },
      parameters: { timeframe: "1d", execution: { benchmark: { symbol, exchange: "LAB" } } },
    });
    const holed = await optimize(user, benchmarkOf("HOLED"));
    expect([holed.status, holed.error]).toEqual(["completed", null]);
    expect(holed.luck.against_benchmark).toMatchObject({ best: expect.any(Number), p_value: expect.any(Number) });
    const nothing = await optimize(user, benchmarkOf("NOTHING"));
    expect(nothing).toMatchObject({
      ...{ status: "failed", luck: null, overfitting: null },
      error: { code: "NO_DATA", message: expect.stringMatching(/^Cannot load the benchmark: .*NOTHING of LAB/) },
    });
  });

  await t.step("a day of returns", async () => {
    for (const timeframe of ["1h", "1d"]) {
      const { luck } = await optimize(user, { space: ONE, end_date: "2024-01-02", parameters: { timeframe } });
      expect(luck).toMatchObject({ verdict: "too_little", p_value: null });
    }
  });

  await t.step("trials that all fail", async () => {
    const { status, error, best, trials, luck } = await optimize(user, { ...own, ...script(FAILING), symbol: "FLAT" });
    expect([status, best, trials.failed]).toEqual(["completed", [], 2]);
    expect(luck).toMatchObject({ verdict: "too_little", p_value: null });
    expect([error, luck.conclusion]).toEqual([null, expect.stringContaining("never 1")]);
  });

  await t.step("one that is cancelled concludes nothing", async () => {
    const space = { fast: { min: 1, max: 100, step: 1 }, slow: { min: 101, max: 200, step: 1 } };
    const id = await submitOptimization(user, { space, start_date: "2024-01-01", end_date: "2024-06-01" });
    expect((await user.send("POST", `/api/optimizations/${id}/cancel`)).status).toBe(202);
    const ended = await finishOptimization(user, id);
    expect(ended.at("/optimization")).toMatchObject({ status: "cancelled", luck: null, overfitting: null });
    expect((await user.get(`/api/optimizations/${id}/returns?of=benchmark`)).status).toBeLessThan(500);
  });
  await service.close();
});

Deno.test("an optimization of 100,000 points compares at most 1,000 trials", async () => {
  const service = await startTestService();
  const user = await service.user();
  const space = { fast: { min: 1, max: 250, step: 1 }, slow: { min: 251, max: 650, step: 1 } };
  const change = { space, trials_max: 100_000, parameters: { timeframe: "1d" }, end_date: "2024-01-15" };
  const refused = await user.send("POST", "/api/optimizations", {
    optimization: { ...OPTIMIZATION, ...change, trials_max: 99_999 },
  });
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("has 100000 points")]);
  const { status, luck, trials } = await optimize(user, change);
  expect([status, trials.done]).toEqual(["completed", 100_000]);
  expect(luck.trials).toBe(100_000);
  expect(luck.trials_considered).toBeLessThanOrEqual(1_000);
  await service.close();
});

import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import {
  cancelHanging,
  simulateCode,
  simulateEndpoint,
  simulateHostile,
  startEndpoint,
} from "./monte_carlo_code_steps.ts";
import { simulateDeleted, simulateRevised } from "./monte_carlo_change_steps.ts";
import { checkPaths } from "./series_steps.ts";
import { countBytes, followToEnd, listAll, readStorage, submitFull, submitTwice } from "./monte_carlo_life_steps.ts";

const RUN = { ...BACKTEST, end_date: "2024-03-01", parameters: { timeframe: "1h", fast: 10, slow: 30 } };
const SCRIPT = {
  type: "script",
  source: "strategy(() => ({ decide(i, candles, account, orders) { orders.buy(); } }));",
};

async function completeBacktest(user: TestClient, change: object = {}): Promise<string> {
  const created = await user.send("POST", "/api/backtests", { backtest: { ...RUN, ...change } });
  expect([created.status, created.at("/error")]).toEqual([202, undefined]);
  const ended = await user.finish(created.at("/backtest/id"));
  expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
  return String(created.at("/backtest/id"));
}

async function submit(user: TestClient, monte_carlo: object): Promise<string> {
  const answer = await user.send("POST", "/api/monte-carlo", { monte_carlo });
  expect([answer.status, answer.at("/error")]).toEqual([202, undefined]);
  const id = String(answer.at("/monte_carlo/id"));
  expect(answer.headers.get("location")).toBe(`/api/monte-carlo/${id}`);
  return id;
}

async function simulate(user: TestClient, monte_carlo: object) {
  const id = await submit(user, monte_carlo);
  const answer = await user.poll(`/api/monte-carlo/${id}?wait=30`, "/monte_carlo/status");
  expect([answer.at("/monte_carlo/status"), answer.at("/monte_carlo/error")]).toEqual(["completed", null]);
  const record = Object(answer.at("/monte_carlo"));
  return { id, record, samples: record.result.samples };
}

/** An account after each return, and its deepest fall. */
function compound(initial: number, returns: readonly number[]) {
  let [money, peak, drawdown] = [initial, initial, 0];
  for (const each of returns) {
    money *= 1 + each;
    peak = Math.max(peak, money);
    drawdown = Math.max(drawdown, 1 - money / peak);
  }
  return { money, drawdown };
}

Deno.test("Monte Carlo simulations are submitted, made by a worker, read, cancelled and deleted", async (t) => {
  const endpoint = startEndpoint();
  const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: endpoint.host });
  const user = await service.user();
  const backtest_id = await completeBacktest(user);
  const metrics = Object((await user.get(`/api/backtests/${backtest_id}`)).at("/backtest/result/metrics"));

  await t.step("trades are shuffled and resampled, and the real run is that of the trades", async () => {
    const simulation = await simulate(user, { backtest_id, method: "trades", runs: 500 });
    await checkPaths(user, simulation);
    const { record, samples } = simulation;
    expect(record).toMatchObject({
      seed: 1,
      block_days: null,
      ruin_drawdown: 0.5,
      runs: 500,
      attempts: 1,
      progress: 1,
    });
    expect(samples.map((sample: { sampling: string }) => sample.sampling)).toEqual(["shuffled", "resampled"]);
    const trades = (await user.get(`/api/backtests/${backtest_id}/trades`)).list("/trades").map(Object);
    const closed = trades.filter((trade) => trade.exit_time !== null);
    let before = 1000;
    const returns = closed.map(({ pnl }) => {
      const share = pnl / before;
      before += pnl;
      return share;
    });
    const real = compound(1000, returns);
    for (const { figures, curves } of samples) {
      expect(figures.final_equity.real).toBeCloseTo(real.money, 6);
      expect(figures.final_equity.real).toBeCloseTo(before, 6);
      expect(figures.max_drawdown.real).toBeCloseTo(real.drawdown, 9);
      expect(figures.losing_streak.real).toBe(metrics.max_consecutive_losses);
      expect(figures.final_equity.paths).toBe(500);
      expect(curves.positions.at(-1)).toBe(closed.length);
      expect(curves.p50[0]).toBe(1000);
    }
    expect(samples[0].figures.final_equity.quantiles.p95).toBeCloseTo(before, 6);
    expect(samples[1].figures.final_equity.quantiles.p95).toBeGreaterThan(before);
  });

  await t.step("days are drawn in blocks, and the real run has the metrics of the backtest", async () => {
    const { record, samples } = await simulate(user, { backtest_id, method: "returns", runs: 500, seed: 7 });
    // The cube root of 60 days.
    expect(record.block_days).toBe(4);
    const [{ sampling, figures, curves, probability_of_loss }] = samples;
    expect(sampling).toBe("stationary_blocks");
    expect(figures.final_equity.real).toBeCloseTo(metrics.final_equity, 6);
    expect(figures.sharpe.real).toBeCloseTo(metrics.sharpe, 9);
    expect(curves.positions.at(-1)).toBe(60);
    const { p05, p95 } = figures.final_equity.quantiles;
    expect(p05).toBeLessThan(p95);
    expect(probability_of_loss).toBeGreaterThan(0);
    expect(probability_of_loss).toBeLessThan(1);
    const again = await simulate(user, { backtest_id, method: "returns", runs: 500, seed: 7 });
    expect(again.samples).toEqual(samples);
    const other = await simulate(user, { backtest_id, method: "returns", runs: 500, seed: 8 });
    expect(other.samples).not.toEqual(samples);
  });

  await t.step("the strategy runs again on paths of candles, and the real run is the backtest", async () => {
    const simulation = await simulate(user, { backtest_id, method: "candles", runs: 200, block_days: 5 });
    await checkPaths(user, simulation);
    const { samples } = simulation;
    const [{ sampling, figures }] = samples;
    expect(sampling).toBe("candle_blocks");
    expect(figures.final_equity.real).toBe(metrics.final_equity);
    expect(figures.max_drawdown.real).toBe(metrics.max_drawdown);
    expect(figures.sharpe.real).toBe(metrics.sharpe);
    expect(figures.losing_streak.real).toBe(metrics.max_consecutive_losses);
    expect(figures.final_equity.quantiles.p05).toBeLessThan(figures.final_equity.quantiles.p95);
  });

  await t.step("modules and scripts run again on the same paths as built-in strategies", () => simulateCode(user));
  await t.step("an endpoint is called for each path", () => simulateEndpoint(user, endpoint));
  await t.step("paths that throw, hang or grow are counted, and the others count", () => simulateHostile(user));
  await t.step("paths that hang end when they are cancelled", () => cancelHanging(service, user));
  await t.step("a repeated Idempotency-Key gets the first record", () => submitTwice(user, backtest_id));
  await t.step("events and a subscription end with the final record", () => followToEnd(service, user, backtest_id));
  await t.step("a simulation counts to the storage quota", async () => {
    await countBytes(service, user, backtest_id);
    await submitFull(service, user, backtest_id);
  });

  await t.step("revised candles are said, and too few days refused", () => simulateRevised(service, user));
  await t.step("a deleted strategy's code still runs", () => simulateDeleted(service, user));

  await t.step("each request that no worker could do is refused with a pointer", async () => {
    const refusals: readonly (readonly [object, string, number?])[] = [
      [{ runs: 0 }, "/monte_carlo/runs must be at least 1, not 0"],
      [{ runs: 10_000_000 }, "/monte_carlo/runs must be at most 10000, not 10000000"],
      [{ runs: 1.5 }, "/monte_carlo/runs must be of type integer, not 1.5"],
      [{ method: "days" }, '/monte_carlo/method must be one of "trades", "returns", "candles", not "days"'],
      [{ block_days: 61 }, "/monte_carlo/block_days must be at most the 60 trading days of the backtest, not 61"],
      [{ block_days: 0 }, "/monte_carlo/block_days must be at least 1, not 0"],
      [
        { method: "trades", block_days: 3 },
        "/monte_carlo/block_days must be left out: the method trades draws single trades",
      ],
      [{ ruin_drawdown: 0 }, "/monte_carlo/ruin_drawdown must be more than 0, not 0"],
      [{ seed: -1 }, "/monte_carlo/seed must be at least 0, not -1"],
      [{ paths: 5 }, "/monte_carlo/paths is not a known key"],
      [{ backtest_id: undefined }, "/monte_carlo/backtest_id is required"],
      [{ backtest_id: 7 }, "/monte_carlo/backtest_id must be of type string, not 7"],
    ];
    for (const [change, issue] of refusals) {
      const monte_carlo = { backtest_id, method: "returns", runs: 100, ...change };
      const answer = await user.send("POST", "/api/monte-carlo", { monte_carlo });
      const issues = answer.list("/error/issues").map(Object);
      expect([answer.status, answer.at("/error/code")]).toEqual([400, "VALIDATION_FAILED"]);
      expect(issues.map(({ path, message }) => `${path} ${message}`)[0]).toContain(issue);
    }
    const scripted = await completeBacktest(user, { parameters: { timeframe: "1h", runtime: SCRIPT } });
    const untraded = await user.send("POST", "/api/monte-carlo", {
      monte_carlo: { backtest_id: scripted, method: "trades", runs: 100 },
    });
    expect([untraded.status, untraded.at("/error/issues/0/path")]).toEqual([400, "/monte_carlo/method"]);
    expect(untraded.at("/error/message")).toContain("has 0 closed trades");
    await simulate(user, { backtest_id: scripted, method: "returns", runs: 10 });
    const failed = await user.send("POST", "/api/backtests", { backtest: { ...RUN, symbol: "NOTHING" } });
    await user.finish(failed.at("/backtest/id"));
    const monte_carlo = { backtest_id: failed.at("/backtest/id"), method: "returns", runs: 10 };
    const refused = await user.send("POST", "/api/monte-carlo", { monte_carlo });
    expect([refused.status, refused.at("/error/code")]).toEqual([409, "NOT_COMPLETED"]);
    expect(refused.at("/error/message")).toBe(
      `Cannot simulate the backtest ${failed.at("/backtest/id")}: it is failed; it has no result`,
    );
  });

  await t.step("another user finds neither the backtest nor the simulation", async () => {
    const other = await service.user();
    const { id } = await simulate(user, { backtest_id, method: "trades", runs: 10 });
    const theirs = await other.send("POST", "/api/monte-carlo", {
      monte_carlo: { backtest_id, method: "trades", runs: 10 },
    });
    expect([theirs.status, theirs.at("/error/code")]).toEqual([404, "BACKTEST_NOT_FOUND"]);
    for (const [method, path] of [["GET", ""], ["GET", "/events"], ["DELETE", ""], ["POST", "/cancel"]]) {
      const answer = await other.send(method ?? "", `/api/monte-carlo/${id}${path}`);
      expect([answer.status, answer.at("/error/code")]).toEqual([404, "MONTE_CARLO_NOT_FOUND"]);
    }
    expect((await other.get("/api/monte-carlo")).list("/monte_carlos")).toEqual([]);
    expect((await service.client().get("/api/monte-carlo")).status).toBe(401);
  });

  await t.step("a running one stops when it is cancelled, and the worker takes the next", async () => {
    const minutes = await completeBacktest(user, { parameters: { timeframe: "1m", fast: 10, slow: 30 } });
    const id = await submit(user, { backtest_id: minutes, method: "candles", runs: 10_000 });
    await until(async () => Number((await user.get(`/api/monte-carlo/${id}`)).at("/monte_carlo/progress")) > 0);
    const cancelled = await user.send("POST", `/api/monte-carlo/${id}/cancel`);
    expect([cancelled.status, cancelled.at("/monte_carlo/status")]).toEqual([202, "cancelled"]);
    const again = await user.send("POST", `/api/monte-carlo/${id}/cancel`);
    expect([again.status, again.at("/error/code")]).toEqual([409, "NOT_CANCELLABLE"]);
    await simulate(user, { backtest_id: minutes, method: "returns", runs: 10 });
    expect((await user.get(`/api/monte-carlo/${id}`)).at("/monte_carlo/result")).toBeNull();
    const most = await user.send("POST", "/api/monte-carlo", {
      monte_carlo: { backtest_id, method: "candles", runs: 10_000 },
    });
    const deleted = `/api/monte-carlo/${most.at("/monte_carlo/id")}`;
    expect([(await user.send("DELETE", deleted)).status, (await user.get(deleted)).status]).toEqual([204, 404]);
  });

  await t.step("the list is paged, is narrowed to a backtest, and ends with it", async () => {
    const all = (await user.get("/api/monte-carlo?limit=200")).list("/monte_carlos").map((each) => Object(each).id);
    const first = await user.get("/api/monte-carlo?limit=3");
    const rest = await user.get(`/api/monte-carlo?limit=200&cursor=${first.at("/next_cursor")}`);
    const paged = [...first.list("/monte_carlos"), ...rest.list("/monte_carlos")].map((each) => Object(each).id);
    expect(paged).toEqual(all);
    expect(all).toEqual(all.toSorted().reverse());
    const own = await user.get(`/api/monte-carlo?backtest_id=${backtest_id}`);
    expect(new Set(own.list("/monte_carlos").map((each) => Object(each).backtest_id))).toEqual(new Set([backtest_id]));
    expect((await user.get("/api/monte-carlo?backtest_id=nothing")).list("/monte_carlos")).toEqual([]);
    await listAll(user);
    await user.send("DELETE", `/api/backtests/${backtest_id}`);
    // Their bytes are given back.
    await readStorage(service, user);
    expect((await user.get(`/api/monte-carlo?backtest_id=${backtest_id}`)).list("/monte_carlos")).toEqual([]);
    expect((await user.get(`/api/monte-carlo/${all.at(-1)}`)).status).toBe(404);
  });
  await service.close();
  await endpoint.shutdown();
});

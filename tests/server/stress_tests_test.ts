import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const PARAMETERS = { timeframe: "1h", fast: 10, slow: 30 };
const COSTLY = { commission: 0.0002, slippage: { bps: 1 } };
const RUN = { ...BACKTEST, end_date: "2024-04-01", parameters: { ...PARAMETERS, execution: COSTLY } };
const SCRIPT = {
  type: "script",
  source: "strategy(() => ({ decide(i, candles, account, orders) { if (i % 50 === 0) orders.buy(); " +
    "if (i % 50 === 25) orders.close(); } }));",
};

async function completeBacktest(user: TestClient, change: object = {}) {
  const created = await user.send("POST", "/api/backtests", { backtest: { ...RUN, ...change } });
  expect([created.status, created.at("/error")]).toEqual([202, undefined]);
  const ended = await user.finish(created.at("/backtest/id"));
  expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
  return { id: String(created.at("/backtest/id")), metrics: Object(ended.at("/backtest/result/metrics")) };
}

async function stress(user: TestClient, backtestId: string) {
  const created = await user.send("POST", `/api/backtests/${backtestId}/stress`);
  expect([created.status, created.at("/error")]).toEqual([202, undefined]);
  const path = `/api/stress-tests/${created.at("/stress_test/id")}`;
  expect([created.headers.get("location"), created.at("/stress_test/backtest_id")]).toEqual([path, backtestId]);
  const ended = await user.poll(`${path}?wait=30`, "/stress_test/status");
  expect([ended.at("/stress_test/status"), ended.at("/stress_test/error")]).toEqual(["completed", null]);
  return { path, ...Object(ended.at("/stress_test/result")) };
}

const figuresOf = ({ total_return, sharpe, max_drawdown, trades }: Record<string, number | null>) => ({
  total_return,
  sharpe,
  max_drawdown,
  trades,
});

Deno.test("a stress test shows what becomes of a backtest where something is worse", async (t) => {
  const service = await startTestService("PostgreSQL");
  const user = await service.user();
  const { id, metrics } = await completeBacktest(user);
  const { path, rows, regimes, notes, break_even_cost } = await stress(user, id);
  const rowOf = (name: string) => rows.find((row: { name: string }) => row.name === name)?.figures;

  await t.step("each row that runs is the backtest with that change", async () => {
    expect(notes).toEqual([]);
    expect(rowOf("As it ran")).toEqual(figuresOf(metrics));
    const changes: readonly (readonly [string, object, object?])[] = [
      ["Without costs", {}],
      ["Costs x 2", { commission: 0.0004, slippage: { bps: 2 } }],
      ["Costs x 4", { commission: 0.0008, slippage: { bps: 4 } }],
      ["Orders reach the market a candle later", { ...COSTLY, delay: 1 }],
      ["fast 9 instead of 10", COSTLY, { fast: 9 }],
      ["fast 11 instead of 10", COSTLY, { fast: 11 }],
      ["slow 27 instead of 30", COSTLY, { slow: 27 }],
      ["slow 33 instead of 30", COSTLY, { slow: 33 }],
    ];
    for (const [name, execution, own = {}] of changes) {
      const same = await completeBacktest(user, { parameters: { ...PARAMETERS, ...own, execution } });
      expect([name, rowOf(name)]).toEqual([name, figuresOf(same.metrics)]);
    }
    const tick = rows.find((row: { name: string }) => row.name.startsWith("Fills a tick worse"));
    expect(tick.figures.total_return).toBeLessThan(metrics.total_return);
  });

  await t.step("rows that leave something out are what the stored days and trades give", async () => {
    const trades = (await user.get(`/api/backtests/${id}/trades`)).list("/trades").map(Object);
    const byProfit = trades.toSorted((one, two) => two.pnl - one.pnl);
    const pnls = byProfit.map(({ pnl }) => pnl);
    const closed = byProfit.slice(5).filter(({ exit_time }) => exit_time !== null);
    expect(closed.length).toBeLessThan(pnls.length - 5);
    const others = pnls.slice(5).reduce((sum, pnl) => sum + pnl, 0);
    const row = rowOf("Without the best 5 trades");
    expect(row.total_return).toBeCloseTo(others / 1000, 9);
    expect([row.sharpe, row.trades]).toEqual([null, closed.length]);
    const days = (await user.get(`/api/backtests/${id}/returns?period=daily`)).list("/returns").map((day) =>
      Object(day).return
    );
    const best = new Set(days.toSorted((a, b) => b - a).slice(0, 5));
    const money = days.filter((day) => !best.has(day)).reduce((product, day) => product * (1 + day), 1);
    expect(rowOf("Without the best 5 days").total_return).toBeCloseTo(money - 1, 9);
  });

  await t.step("regimes part the days, and multiply to the whole", () => {
    for (const group of ["years", "benchmark"]) {
      const parts = regimes.filter((each: { group: string }) => each.group === group);
      const product = parts.reduce(
        (all: number, { figures }: { figures: { total_return: number } }) => all * (1 + figures.total_return),
        1,
      );
      expect(product - 1).toBeCloseTo(metrics.total_return, 9);
    }
  });

  await t.step("at the break-even cost, the profit is gone", async () => {
    const gains = await completeBacktest(user, { strategy: "Buy and Hold", parameters: { timeframe: "1h" } });
    const test = await stress(user, gains.id);
    const profit = gains.metrics.total_return;
    expect(profit > 0 || break_even_cost !== null).toBe(true);
    const [cost, run] = profit > 0 ? [test.break_even_cost, { strategy: "Buy and Hold" }] : [break_even_cost, {}];
    const at = async (rate: number) => {
      const execution = profit > 0 ? { commission: rate } : { ...COSTLY, commission: COSTLY.commission + rate };
      const parameters = { ...(profit > 0 ? { timeframe: "1h" } : PARAMETERS), execution };
      return (await completeBacktest(user, { ...run, parameters })).metrics.total_return;
    };
    expect(await at(cost * 0.99)).toBeGreaterThan(0);
    expect(await at(cost * 1.01)).toBeLessThan(0);
  });

  await t.step("a script's backtest and one over many markets are tested, too", async () => {
    const scripted = await completeBacktest(user, { parameters: { timeframe: "1h", runtime: SCRIPT } });
    const ofScript = await stress(user, scripted.id);
    expect(ofScript.rows[0].figures).toEqual(figuresOf(scripted.metrics));
    expect(ofScript.notes.join()).toContain("declares no parameters");
    const many = await completeBacktest(user, {
      parameters: { ...PARAMETERS, instruments: [{ symbol: BACKTEST.symbol, exchange: BACKTEST.exchange }] },
    });
    const ofMany = await stress(user, many.id);
    expect(ofMany.rows[0].figures).toEqual(figuresOf(many.metrics));
  });

  await t.step("it is listed, followed, cancelled and deleted, by its owner alone", async () => {
    const listed = (await user.get(`/api/stress-tests?backtest_id=${id}`)).list("/stress_tests").map(Object);
    expect(listed.map((each) => `/api/stress-tests/${each.id}`)).toEqual([path]);
    const events = (await user.get(`${path}/events`)).text;
    expect(events).toMatch(/event: end\ndata: .*"status":"completed"/);
    const other = await service.user();
    for (const [method, end] of [["GET", ""], ["GET", "/events"], ["DELETE", ""], ["POST", "/cancel"]]) {
      const answer = await other.send(method ?? "", path + end);
      expect([answer.status, answer.at("/error/code")]).toEqual([404, "STRESS_TEST_NOT_FOUND"]);
    }
    const theirs = await other.send("POST", `/api/backtests/${id}/stress`);
    expect([theirs.status, theirs.at("/error/code")]).toEqual([404, "BACKTEST_NOT_FOUND"]);
    const slow = "strategy(() => ({ decide(i) { for (let n = 0; n < 3e5; n++) i += n % 7; } }));";
    const long = await completeBacktest(user, {
      parameters: { timeframe: "1h", runtime: { type: "script", source: slow } },
    });
    const created = await user.send("POST", `/api/backtests/${long.id}/stress`);
    const running = `/api/stress-tests/${created.at("/stress_test/id")}`;
    await until(async () => Number((await user.get(running)).at("/stress_test/progress")) > 0);
    const cancelled = await user.send("POST", `${running}/cancel`);
    expect([cancelled.status, cancelled.at("/stress_test/status")]).toEqual([202, "cancelled"]);
    // The worker is free again.
    await stress(user, id);
    expect((await user.send("DELETE", path)).status).toBe(204);
    await user.send("DELETE", `/api/backtests/${id}`);
    expect((await user.get(`/api/stress-tests?backtest_id=${id}`)).list("/stress_tests")).toEqual([]);
  });
  await service.close();
});

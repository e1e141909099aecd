/** Other candles that a strategy reads, over HTTP, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { importStock, inline, INPUTS, PYTHON_READER, READER, REQUEST, run, stockAt } from "../support/input_runs.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { finishOptimization } from "../support/optimizations.ts";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { missing, refusals, refusedKinds } from "./input_refusals_steps.ts";

await buildInterpreter();

const EXAMPLE = new URL("../../strategies/scripts/inputs/sma_cross_daily.ts", import.meta.url);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
Deno.test("a strategy reads other candles once they have closed", async (t) => {
  const { service, user, endService } = await serveMarkets(["AAA", "BBB"]);
  await importStock(service.url);
  await t.step("each candle shows the newest value that had closed", () => columns(user));
  await t.step("Python sees the same", () => python(user));
  await t.step("a run states its inputs, and is another without them", () => stated(user));
  await t.step("equal inputs give the stored result", () => reused(user));
  await t.step("candles that have not closed cannot be had", () => peek(user));
  await t.step("an input that nobody has is refused with its name", () => refusals(user));
  await t.step("an input that the run lacks fails it with the names that it has", () => missing(user));
  await t.step("trials are backtests with the same inputs", () => optimization(user));
  await t.step("the example follows the trend of days", () => example(user));
  await t.step("each market of a portfolio has inputs of its own", () => portfolio(user));
  await t.step("what cannot have inputs says so", () => refusedKinds(user));
  await endService();
});

async function seriesOf(user: TestClient, id: string): Promise<{ timestamp: string; values: (number | null)[] }[]> {
  const rows = [];
  let cursor: unknown = null;
  do {
    const page = await user.get(`/api/backtests/${id}/series?limit=1000${cursor === null ? "" : `&cursor=${cursor}`}`);
    rows.push(...page.list("/series").map((row) => Object(row)));
    cursor = page.at("/next_cursor");
  } while (cursor !== null);
  return rows;
}

async function ticksOf(user: TestClient, timeframe: string): Promise<{ timestamp: string; close: number }[]> {
  const path = "/api/market-data/ticks?symbol=AAA&exchange=LAB&startDate=2024-01-01&endDate=2024-02-20";
  return (await user.get(`${path}&timeframe=${timeframe}`)).list("/ticks").map((tick) => Object(tick));
}

/** Finds the expected value anew for each hour: the last day that ended by the end of the hour. */
async function columns(user: TestClient): Promise<void> {
  const record = await run(user, { inputs: INPUTS, runtime: inline(READER) });
  expect([record.status, record.error]).toEqual(["completed", null]);
  const days = await ticksOf(user, "1d");
  const closes = new Map((await ticksOf(user, "1h")).map(({ timestamp, close }) => [timestamp, close]));
  const rows = await seriesOf(user, record.id);
  expect(rows.length).toBe(41 * 24);
  for (const { timestamp, values } of rows) {
    const end = Date.parse(timestamp) + HOUR_MS;
    const closed = days.filter((day) => Date.parse(day.timestamp) + DAY_MS <= end);
    const [day, mean] = [closed.at(-1)!, closed.slice(-3).reduce((sum, { close }) => sum + close, 0) / 3];
    const [daily, opened, average, spread, stock, ahead] = values;
    expect([timestamp, daily, opened, ahead]).toEqual([timestamp, day.close, Date.parse(day.timestamp), null]);
    expect([average, spread]).toEqual([expect.closeTo(mean, 9), expect.closeTo(closes.get(timestamp)! - day.close, 9)]);
    expect([timestamp, stock]).toEqual([timestamp, stockAt(end)]);
  }
  const { integrity } = record.result;
  expect([integrity.lookahead.status, integrity.determinism.status]).toEqual(["passed", "passed"]);
}

/** The same reader in Python sees the same numbers. */
async function python(user: TestClient): Promise<void> {
  const record = await run(user, { inputs: INPUTS, runtime: { ...inline(PYTHON_READER), language: "python" } });
  expect([record.status, record.error]).toEqual(["completed", null]);
  const twin = await run(user, { inputs: INPUTS, runtime: inline(READER) });
  expect(await seriesOf(user, record.id)).toEqual(await seriesOf(user, twin.id));
  expect(record.result.metrics).toEqual(twin.result.metrics);
  expect(record.result.integrity.lookahead.status).toBe("passed");
  const lacking = PYTHON_READER.replaceAll("inputs.daily", "inputs.weekly");
  const failed = await run(user, { inputs: INPUTS, runtime: { ...inline(lacking), language: "python" } });
  expect(failed.error.message).toContain("the run has no input 'weekly': it has daily, stock");
}

async function stated(user: TestClient): Promise<void> {
  const one = await run(user, { inputs: INPUTS, runtime: inline(READER) });
  const other = await run(user, { inputs: { ...INPUTS, daily: { timeframe: "4h" } }, runtime: inline(READER) });
  expect(one.parameters.inputs).toEqual(INPUTS);
  expect(one.result.data.inputs).toMatchObject([
    { name: "daily", symbol: "AAA", exchange: "LAB", timeframe: "1d", last: "2024-02-19T00:00:00.000Z" },
    {
      name: "stock",
      symbol: "SPY",
      exchange: "ARCA",
      timeframe: "1d",
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  ]);
  expect(other.result.run_key).not.toBe(one.result.run_key);
  const plain = await run(user, { runtime: inline("strategy(() => ({ decide() {} }));") });
  expect(plain.result.data.inputs).toBeUndefined();
}

async function reused(user: TestClient): Promise<void> {
  const parameters = { inputs: INPUTS, runtime: inline(READER) };
  const first = await run(user, parameters);
  const second = await run(user, parameters, { fresh: false });
  expect(second.reused_from).not.toBeNull();
  expect(second.result.run_key).toBe(first.result.run_key);
  const verified = await user.send("POST", `/api/backtests/${first.id}/verify`, {});
  const done = await user.finish(verified.at("/backtest/id"));
  expect([done.at("/backtest/result/run_key"), done.at("/backtest/status")]).toEqual([
    first.result.run_key,
    "completed",
  ]);
}

/** Each of these would see the day of the deciding candle, or the next one, if any of its memory were within reach. */
async function peek(user: TestClient): Promise<void> {
  const attacks = [
    "new Float64Array(inputs.daily.close.buffer)[i + 1]",
    "inputs.daily.close.at(-1)",
    "inputs.daily.close.subarray(i + 1).find((value) => value === value)",
    "Math.max(...[...inputs.daily.close].slice(i + 1).filter((value) => value === value))",
  ];
  for (const attack of attacks) {
    const source = `strategy(() => ({ decide(i, { inputs }) {
      const seen = ${attack};
      if (seen === seen && seen !== undefined && seen !== -Infinity) throw new Error("it looked ahead: " + seen);
    } }));`;
    const record = await run(user, { inputs: { daily: { timeframe: "1d" } }, runtime: inline(source) });
    expect([attack, record.status, record.error]).toEqual([attack, "completed", null]);
  }
}

async function optimization(user: TestClient): Promise<void> {
  const source = `strategy(({ period = 2 }) => ({
    warmup: period,
    prepare({ inputs }) { this.mean = ema(inputs.daily.close, period); },
    decide(i, { close }, account, orders) {
      if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy();
      if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
    },
  }));`;
  const parameters = { timeframe: "1h", inputs: { daily: { timeframe: "1d" } }, runtime: inline(source) };
  const { fresh: _fresh, parameters: _parameters, ...rest } = REQUEST;
  const optimization = { ...rest, strategy: "mine", parameters, space: { period: { values: [2, 3, 6] } } };
  const submitted = await user.send("POST", "/api/optimizations", { optimization });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const id = String(submitted.at("/optimization/id"));
  await finishOptimization(user, id);
  const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map((trial) => Object(trial));
  expect(trials.length).toBe(3);
  for (const { parameters: { period }, metrics } of trials) {
    const { timeframe: _timeframe, ...own } = parameters;
    const record = await run(user, { ...own, period });
    expect([period, metrics.total_return]).toEqual([period, record.result.metrics.total_return]);
  }
}

async function example(user: TestClient): Promise<void> {
  const source = await Deno.readTextFile(EXAMPLE);
  const record = await run(user, { inputs: INPUTS, fast: 3, slow: 8, days: 3, runtime: inline(source) });
  const trades = (await user.get(`/api/backtests/${record.id}/trades`)).list("/trades").map((trade) => Object(trade));
  const days = await ticksOf(user, "1d");
  expect(trades.length).toBeGreaterThan(3);
  for (const { entry_time: entered } of trades) {
    const closes = days.filter(({ timestamp }) => Date.parse(timestamp) + DAY_MS <= Date.parse(entered));
    const mean = closes.slice(-3).reduce((sum, { close }) => sum + close, 0) / 3;
    expect([entered, closes.at(-1)!.close > mean]).toEqual([entered, true]);
  }
}

/** Each market logs its first hour above its own last day. */
async function portfolio(user: TestClient): Promise<void> {
  const instruments = ["AAA", "BBB"].map((symbol) => ({ symbol, exchange: "LAB" }));
  const inputs = { daily: { timeframe: "1d" } };
  const one = `strategy(() => ({ decide(i, { time, inputs }, account, orders) {
    if (utc(time[i]).day === 20 && utc(time[i]).hour === 5) console["log"](inputs.daily.close[i]);
  } }));`;
  const all = `portfolio(() => ({ every: "day", decide(now, markets) {
    if (utc(now).day !== 20) return;
    for (const m of markets) console["log"](m.id, m.inputs.daily.close[m.i], m.inputs.daily.close[m.i + 1]);
  } }));`;
  const expected = [];
  for (const { symbol } of instruments) {
    const path = `/api/market-data/ticks?symbol=${symbol}&exchange=LAB&timeframe=1d`;
    const day = await user.get(`${path}&startDate=2024-01-19&endDate=2024-01-20`);
    expected.push(Object(day.list("/ticks")[0]).close);
  }
  for (const source of [one, all]) {
    const record = await run(user, { inputs, instruments, runtime: inline(source) });
    expect([record.status, record.error]).toEqual(["completed", null]);
    const log = (await user.get(`/api/backtests/${record.id}/log`)).text;
    for (const close of expected) expect(log).toContain(String(close));
    expect(record.result.integrity.lookahead.status).toBe("passed");
  }
}

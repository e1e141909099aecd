/** Inputs of modules in every language of the examples, its clocks and its plots, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { importStock, inline, INPUTS, REQUEST, run } from "../support/input_runs.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { compileAssemblyScript, compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";
import { EXAMPLES, RANGE, readExample, registration } from "./foreign_code.ts";
import { compilePlots, requireModulePlotsOfMarkets, requirePlots, requirePlotsOfFailure } from "./plot_steps.ts";

const TWO = ["AAA", "BBB"].map((symbol) => ({ symbol, exchange: "LAB" }));
/** The rule of the examples in a script. */
const TWIN = `strategy(({ days = 3 }) => ({
  warmup: days,
  prepare({ inputs }) { this.mean = sma(inputs.daily.close, days); },
  decide(i, { close }, account, orders) {
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy();
    else if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
  },
}));`;
const wasm = (module: Uint8Array) => ({ type: "wasm", artifact: { content_base64: module.toBase64() } });

Deno.test("modules read other candles once they have closed", async (t) => {
  const { service, user, endService } = await serveMarkets(["AAA", "BBB"]);
  await importStock(service.url);
  const modules = new Map([
    ["C", await readExample("c/daily_trend.wasm")],
    ["Rust", await readExample("rust/daily_trend.wasm")],
    ["AssemblyScript", await compileExample("daily_trend")],
  ]);
  const twin = await run(user, { inputs: INPUTS, runtime: inline(TWIN) });
  const twins = await run(user, { inputs: INPUTS, runtime: inline(TWIN), instruments: TWO });
  for (const [language, module] of modules) {
    await t.step(`${language} trades as the same rule in a script, over one market and over two`, async () => {
      for (const [instruments, expected] of [[{}, twin], [{ instruments: TWO }, twins]] as const) {
        const record = await run(user, { inputs: INPUTS, runtime: wasm(module), ...instruments });
        expect([record.status, record.error]).toEqual(["completed", null]);
        const trades = await tradesOf(user, record.id);
        expect(trades.length).toBeGreaterThan(10);
        expect(trades).toEqual(await tradesOf(user, expected.id));
        const { lookahead, determinism } = record.result.integrity;
        expect([lookahead.status, determinism.status]).toEqual(["passed", "passed"]);
      }
    });
  }
  await t.step("longer candles of its own need no parameter", () => resampled(user));
  const c = modules.get("C")!;
  await t.step(
    "a registered module runs with them, and without them it names what it lacks",
    () => registered(user, c),
  );
  await t.step("trials are backtests with the same inputs", () => trials(user, c));
  await t.step("the memory has no candle that has not closed", () => peek(user));
  await t.step("an input is asked for in init", async () => {
    const late = strategyWat({
      before: `${ASK} (data (i32.const 16) "daily")`,
      onCandle: "(call $input (i32.const 16) (i32.const 5))",
    });
    const parameters = { timeframe: "1h", inputs: INPUTS, runtime: wasm(compileWat(late)) };
    const answer = await user.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, strategy: "mine", parameters },
    });
    expect([answer.status, answer.at("/error/message")]).toEqual([
      400,
      expect.stringContaining("it asks for the input daily after init"),
    ]);
  });
  await t.step("New York's opening range is the script's, through the change of clocks", () => openingRange(user));
  await t.step("its plots are kept and shown as a script's, and only for its owner", async () => {
    const module = await compilePlots();
    const stranger = service.client();
    await stranger.signUp();
    await requirePlots(user, stranger, module);
    await requirePlotsOfFailure(user, module);
    await requireModulePlotsOfMarkets(user, module);
  });
  await endService();
});

const ASK = '(import "env" "input" (func $input (param i32 i32) (result i32)))';

async function compileExample(name: string): Promise<Uint8Array> {
  const read = (name: string) => Deno.readTextFile(new URL(`assemblyscript/${name}.ts`, EXAMPLES));
  return await compileAssemblyScript(await read(name), { "hindcast.ts": await read("hindcast") });
}

/** From February to April, registered and given with the run. */
async function openingRange(user: TestClient): Promise<void> {
  const source = await Deno.readTextFile(new URL("../scripts/examples/new_york_opening_range.ts", EXAMPLES));
  const runtime = { ...wasm(await compileExample("new_york_range")), lookbackCandles: 200 };
  const strategy = registration("opening-range", runtime);
  const created = await user.send("POST", "/api/strategies", { strategy });
  expect([created.status, created.at("/error")]).toEqual([201, undefined]);
  const tradesWith = async (runtime: object, strategy = "mine") => {
    const record = await run(user, { timeframe: "30m", ...runtime }, { ...RANGE, strategy });
    expect([record.status, record.error]).toEqual(["completed", null]);
    return await tradesOf(user, record.id);
  };
  const expected = await tradesWith({ runtime: { ...inline(source), lookbackCandles: 200 } });
  expect(expected.length).toBeGreaterThan(50);
  expect(await tradesWith({ runtime })).toEqual(expected);
  expect(await tradesWith({}, "opening-range")).toEqual(expected);
}

/** The same rule, over one market and over two; the days of both begin with their candles. */
async function resampled(user: TestClient): Promise<void> {
  const read = (name: string) => Deno.readTextFile(new URL(`assemblyscript/${name}.ts`, EXAMPLES));
  const source = (await read("daily_trend")).replace('askInput("daily")', 'askResampled("1d")')
    .replace("askInput,", "askResampled,");
  const module = await compileAssemblyScript(source, { "hindcast.ts": await read("hindcast") });
  const twin = TWIN.replace("prepare({ inputs })", "prepare(candles)")
    .replace("inputs.daily.close", 'resample(candles, "1d").close');
  for (const instruments of [{}, { instruments: TWO }]) {
    const [ours, theirs] = [
      await run(user, { runtime: wasm(module), ...instruments }),
      await run(user, { runtime: inline(twin), ...instruments }),
    ];
    expect([ours.error, theirs.error]).toEqual([null, null]);
    const trades = await tradesOf(user, ours.id);
    expect(trades.length).toBeGreaterThan(10);
    expect(trades).toEqual(await tradesOf(user, theirs.id));
    const { lookahead, determinism } = ours.result.integrity;
    expect([lookahead.status, determinism.status]).toEqual(["passed", "passed"]);
  }
  const days = await run(user, { timeframe: "1d", runtime: wasm(module) });
  expect(days.error).toMatchObject({
    code: "STRATEGY_FAILED",
    message: expect.stringContaining("resample: the timeframe must be one of 1w, not 1d"),
  });
}

async function tradesOf(user: TestClient, id: string): Promise<readonly unknown[]> {
  return (await user.get(`/api/backtests/${id}/trades?limit=200`)).list("/trades");
}

async function registered(user: TestClient, module: Uint8Array): Promise<void> {
  const strategy = registration("daily-trend", wasm(module));
  expect((await user.send("POST", "/api/strategies", { strategy })).status).toBe(201);
  const record = await run(user, { inputs: INPUTS }, { strategy: "daily-trend" });
  expect([record.status, record.result.data.inputs.length]).toEqual(["completed", 2]);
  const { stock } = INPUTS;
  const other = await run(user, { inputs: { weekly: stock } }, { strategy: "daily-trend" });
  const none = await run(user, {}, { strategy: "daily-trend" });
  expect([other.error, none.error]).toMatchObject([
    {
      code: "STRATEGY_FAILED",
      message: expect.stringContaining("the run has no input daily: it has weekly; parameters.inputs names them"),
    },
    { code: "STRATEGY_FAILED", message: expect.stringContaining("the run has no input daily: it has none") },
  ]);
}

async function trials(user: TestClient, module: Uint8Array): Promise<void> {
  const { fresh: _fresh, parameters: _parameters, ...rest } = REQUEST;
  const runtime = wasm(module);
  const space = { days: { values: [2, 3, 6] } };
  const id = await submitOptimization(user, {
    ...rest,
    strategy: "mine",
    parameters: { timeframe: "1h", inputs: INPUTS, runtime },
    space,
  });
  await finishOptimization(user, id);
  const listed = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map((trial) => Object(trial));
  expect(listed.length).toBe(3);
  for (const { parameters: { days }, metrics } of listed) {
    const record = await run(user, { inputs: INPUTS, runtime, days });
    expect([days, metrics.total_return]).toEqual([days, record.result.metrics.total_return]);
  }
}

/** Gives up where a value behind the newest closed one is not 0, or where that one's day had not ended. */
async function peek(user: TestClient): Promise<void> {
  const row = "(i32.load offset=152 (local.get $frame))";
  const count = `(i32.load offset=24 ${row})`;
  const value = (column: number, at: string) =>
    `(f64.load (i32.add (i32.load offset=${column} ${row}) (i32.shl ${at} (i32.const 3))))`;
  const hour = `(f64.load (i32.add (i32.load offset=32 (local.get $frame))
    (i32.shl (i32.sub (i32.load offset=72 (local.get $frame)) (i32.const 1)) (i32.const 3))))`;
  const looks = [0, 4, 8, 12, 16, 20].map((column) =>
    `(if (f64.ne ${value(column, count)} (f64.const 0)) (then (return (i32.const -2))))`
  );
  const wat = strategyWat({
    before: `${ASK} (data (i32.const 16) "daily")`,
    init: "(drop (call $input (i32.const 16) (i32.const 5))) (i32.const 0)",
    onCandle: `
      ${looks.join("\n")}
      ;; The check before a run has days, and an input of four days each.
      (if (f64.ne (f64.load offset=136 (local.get $frame)) (f64.const 3600000)) (then (return (i32.const 0))))
      (if (f64.gt
          (f64.add ${value(0, `(i32.sub ${count} (i32.const 1))`)} (f64.const 86400000))
          (f64.add ${hour} (f64.const 3600000)))
        (then (return (i32.const -3))))
      (if (f64.le
          (f64.add ${value(0, `(i32.sub ${count} (i32.const 1))`)} (f64.const 172800000))
          (f64.add ${hour} (f64.const 3600000)))
        (then (return (i32.const -4))))
      (i32.const 0)`,
  });
  const record = await run(user, { inputs: INPUTS, runtime: wasm(compileWat(wat)) });
  expect([record.status, record.error]).toEqual(["completed", null]);
}

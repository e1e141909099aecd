/** Other candles of code that decides on many markets, over HTTP, in a service with the permissions of the task. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { importStock, inline, INPUTS, REQUEST, run } from "../support/input_runs.ts";
import { RISING_SCRIPT } from "../support/market_scripts.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { compileAssemblyScript, compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";
import { EXAMPLES, registration } from "./foreign_code.ts";

await buildInterpreter();

const SYMBOLS = ["AAA", "BBB", "CCC"];
const instruments = SYMBOLS.map((symbol) => ({ symbol, exchange: "LAB" }));
const PYTHON = `class Rising(Portfolio):
    days = 3
    warmup = 3

    def prepare(self, markets):
        self.means = [sma(m.inputs.daily.close, self.days) for m in markets]

    def decide(self, now, markets, account, orders):
        rising = [m for m in markets if m.is_member and m.i >= 0 and m.close[m.i] > self.means[m.index][m.i]]
        orders.target({m.id: 1 / len(rising) for m in rising}, min_trade=0.05)
`;
const wasm = (module: Uint8Array) => ({ type: "wasm", artifact: { content_base64: module.toBase64() } });
const python = (source: string) => ({ ...inline(source), language: "python" });

Deno.test("code that decides on many markets reads other candles of each", async (t) => {
  const { service, user, endService } = await serveMarkets(SYMBOLS);
  await importStock(service.url);
  const module = await compileRising((source) => source);
  await t.step("a module trades as the same script does, inline and registered", () => twins(user, module));
  await t.step("longer candles of a market's own need no parameter, in every language", () => resampled(user));
  await t.step("a registered module names what its run lacks", () => lacking(user));
  await t.step("trials are backtests with the same inputs", () => trials(user, module));
  await t.step("the memory has no candle that has not closed", () => peek(user));
  for (const [name, wat, message] of HOSTILE) {
    await t.step(`${name} is refused`, () => refused(user, compileWat(wat), message));
  }
  await endService();
});

async function compileRising(change: (source: string) => string): Promise<Uint8Array> {
  const read = (name: string) => Deno.readTextFile(new URL(`assemblyscript/${name}`, EXAMPLES));
  return await compileAssemblyScript(change(await read("rising_markets.ts")), {
    "hindcast.ts": await read("hindcast.ts"),
    "hindcast_markets.ts": await read("hindcast_markets.ts"),
  });
}

/** A completed run: all that it traded, and its figures. */
async function traded(user: TestClient, parameters: object, rest: object = {}) {
  const record = await run(user, { instruments, ...parameters }, rest);
  expect([record.status, record.error]).toEqual(["completed", null]);
  const { metrics, portfolio, integrity } = record.result;
  expect([integrity.lookahead.status, integrity.determinism.status]).toEqual(["passed", "passed"]);
  const lists = [];
  for (const list of ["trades", "orders"]) {
    const page = await user.get(`/api/backtests/${record.id}/${list}?limit=200`);
    lists.push(page.list(`/${list}`).map((row) => ({ ...Object(row), backtest_id: null })));
  }
  return { metrics, portfolio, lists };
}

async function twins(user: TestClient, module: Uint8Array): Promise<void> {
  const expected = await traded(user, { inputs: INPUTS, runtime: inline(RISING_SCRIPT) });
  const { lists: [trades = []] } = expected;
  expect(trades.length).toBeGreaterThan(50);
  expect(new Set(trades.map(({ instrument }) => instrument)).size).toBe(3);
  expect(await traded(user, { inputs: INPUTS, runtime: python(PYTHON) })).toEqual(expected);
  expect(await traded(user, { inputs: INPUTS, runtime: wasm(module) })).toEqual(expected);
  const strategy = registration("rising", wasm(module));
  const created = await user.send("POST", "/api/strategies", { strategy });
  expect([created.status, created.at("/error")]).toEqual([201, undefined]);
  expect(created.at("/strategy/decides_on")).toBe("markets");
  expect(await traded(user, { inputs: INPUTS }, { strategy: "rising" })).toEqual(expected);
}

/** Days of each market's own hours, and two timeframes at once. */
async function resampled(user: TestClient): Promise<void> {
  const asks = (source: string) =>
    source.replace('askInput("daily")', 'askResampled("4h") + askResampled("1d")').replace(
      "askInput,",
      "askResampled,",
    );
  const script = RISING_SCRIPT.replace("m.inputs.daily.close", 'resample(m, "1d").close');
  const expected = await traded(user, { runtime: inline(script) });
  expect(expected.lists[0]!.length).toBeGreaterThan(50);
  const source = PYTHON.replace("m.inputs.daily.close", 'resample(m, "1d").close');
  expect(await traded(user, { runtime: python(source) })).toEqual(expected);
  expect(await traded(user, { runtime: wasm(await compileRising(asks)) })).toEqual(expected);
  for (
    const [runtime, message] of [
      [inline(script.replace("resample(m,", "resample({},")), "resample takes a market that prepare is given"],
      [python(source.replace("resample(m,", "resample(1,")), "resample takes the candles, or a market, that prepare"],
      [inline(script.replace('"1d"', '"7d"')), "resample: the timeframe must be one of 5m, 15m"],
    ] as const
  ) {
    await refusedRun(user, { runtime }, message);
  }
  const days = await run(user, { instruments, timeframe: "1d", runtime: inline(script) });
  expect(days.error.message).toContain("resample: the timeframe must be one of 1w, not 1d");
  const module = await run(user, { instruments, timeframe: "1d", runtime: wasm(await compileRising(asks)) });
  expect(module.error.message).toContain("resample: the timeframe must be one of 1w, not 4h");
}

async function lacking(user: TestClient): Promise<void> {
  for (const [inputs, has] of [[{}, "it has none"], [{ inputs: { weekly: INPUTS.stock } }, "it has weekly"]] as const) {
    const record = await run(user, { instruments, ...inputs }, { strategy: "rising" });
    expect(record.error).toMatchObject({
      code: "STRATEGY_FAILED",
      message: expect.stringContaining(`the run has no input daily: ${has}; parameters.inputs names them`),
    });
  }
}

async function trials(user: TestClient, module: Uint8Array): Promise<void> {
  const { fresh: _fresh, parameters: _parameters, ...rest } = REQUEST;
  const runtime = wasm(module);
  const parameters = { timeframe: "1h", instruments, inputs: INPUTS, runtime };
  const space = { days: { values: [2, 3, 6] } };
  const id = await submitOptimization(user, { ...rest, strategy: "mine", parameters, space });
  await finishOptimization(user, id);
  const listed = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map((trial) => Object(trial));
  expect(listed.length).toBe(3);
  for (const { parameters: { days }, metrics } of listed) {
    const { metrics: expected } = await traded(user, { inputs: INPUTS, runtime, days });
    expect([days, metrics.total_return]).toEqual([days, expected.total_return]);
  }
}

const ASKS = `(import "env" "input" (func $input (param i32 i32) (result i32)))
  (import "env" "resample" (func $resample (param i32 i32) (result i32)))
  (data (i32.const 16) "daily") (data (i32.const 32) "1d")`;
const onMarkets = (body: string) =>
  `(func (export "on_markets") (param $frame i32) (param $markets i32) (result i32)
    (local $n i32) (local $row i32) (local $market i32) (local $last f64) ${body})`;
const INIT = `(drop (call $input (i32.const 16) (i32.const 5))) (i32.const 0)`;

/** Gives up where a value behind a market's newest closed day is not 0, or where that day had not ended, or another had. */
async function peek(user: TestClient): Promise<void> {
  const count = "(i32.load offset=24 (local.get $row))";
  const value = (column: number, at: string) =>
    `(f64.load (i32.add (i32.load offset=${column} (local.get $row)) (i32.shl ${at} (i32.const 3))))`;
  const looks = [0, 4, 8, 12, 16, 20].map((column) =>
    `(if (f64.ne ${value(column, count)} (f64.const 0)) (then (return (i32.const -2))))`
  );
  const closed = (days: number) => `(f64.add (local.get $last) (f64.const ${days * 86_400_000}))`;
  const wat = strategyWat({
    before: ASKS,
    init: INIT,
    after: onMarkets(`
      (if (f64.ne (f64.load offset=136 (local.get $frame)) (f64.const 3600000)) (then (return (i32.const 0))))
      (loop $each
        (local.set $row (i32.load (i32.add (i32.load offset=52 (local.get $markets)) (i32.shl (local.get $n) (i32.const 2)))))
        ${looks.join("\n")}
        (local.set $last ${value(0, `(i32.sub ${count} (i32.const 1))`)})
        (if (f64.gt ${closed(1)} (f64.load offset=8 (local.get $markets))) (then (return (i32.const -3))))
        (if (f64.le ${closed(2)} (f64.load offset=8 (local.get $markets))) (then (return (i32.const -4))))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $each (i32.lt_u (local.get $n) (i32.load (local.get $markets)))))
      (i32.const 0)`),
  });
  const record = await run(user, { instruments, inputs: INPUTS, runtime: wasm(compileWat(wat)) });
  expect([record.status, record.error]).toEqual(["completed", null]);
}

/** Modules that ask wrongly, or whose memory is not what they say. */
const HOSTILE: readonly (readonly [name: string, wat: string, message: string])[] = [
  [
    "an input that is asked for in a decision",
    strategyWat({ before: ASKS, after: onMarkets("(call $input (i32.const 16) (i32.const 5))") }),
    "it asks for the input daily after init",
  ],
  [
    "longer candles that are asked for in a decision",
    strategyWat({ before: ASKS, after: onMarkets("(call $resample (i32.const 32) (i32.const 2))") }),
    "it asks for candles of 1d after init",
  ],
  [
    "a name outside of its memory",
    strategyWat({
      before: ASKS,
      init: "(call $resample (i32.const -9) (i32.const -1))",
      after: onMarkets("(i32.const 0)"),
    }),
    "the name at 4294967287 of 4294967295 bytes is outside of its memory",
  ],
  [
    "a seventeenth input",
    strategyWat({
      before: `${ASKS} (data (i32.const 128) "abcdefghijklmnopqrstuvwxyz") (global $k (mut i32) (i32.const 0))`,
      init: `(loop $more
        (drop (call $input (i32.add (i32.const 128) (global.get $k)) (i32.const 1)))
        (global.set $k (i32.add (global.get $k) (i32.const 1)))
        (br_if $more (i32.lt_u (global.get $k) (i32.const 17)))) (i32.const 0)`,
      after: onMarkets("(i32.const 0)"),
    }),
    "the run has no input q",
  ],
  [
    "a block for its tables outside of its memory",
    placing("(if (i32.gt_u (local.get $size) (i32.const 4096)) (then (local.set $block (i32.const -65536))))"),
    "alloc returned 4294901760, and the memory has 2097152 bytes",
  ],
  [
    "a block for its tables that is too short for them",
    placing("(if (i32.gt_u (local.get $size) (i32.const 4096)) (then (local.set $block (i32.const 2097144))))"),
    "alloc returned 2097144, and the memory has 2097152 bytes",
  ],
  [
    "a block for its tables at no multiple of 8",
    placing("(if (i32.gt_u (local.get $size) (i32.const 4096)) (then (local.set $block (i32.const 65540))))"),
    "alloc returned 65540, which is not a multiple of 8",
  ],
];

/** A module with an input whose `alloc` goes on with this before it returns its `$block`. */
function placing(more: string): string {
  return strategyWat({ before: ASKS, init: INIT, after: onMarkets("(i32.const 0)") })
    .replace("(local.get $block))\n", `${more} (local.get $block))\n`);
}

async function refused(user: TestClient, module: Uint8Array, message: string): Promise<void> {
  const strategy = registration("hostile", wasm(module));
  const created = await user.send("POST", "/api/strategies", { strategy });
  expect([created.status, created.at("/error/code"), created.at("/error/message")]).toEqual([
    ...[400, "INVALID_MODULE", expect.stringContaining(message)],
  ]);
  await refusedRun(user, { inputs: INPUTS, runtime: wasm(module) }, message);
}

/** A run whose code does not pass its check. */
async function refusedRun(user: TestClient, parameters: object, message: string): Promise<void> {
  const backtest = { ...REQUEST, strategy: "mine", parameters: { timeframe: "1h", instruments, ...parameters } };
  const answer = await user.send("POST", "/api/backtests", { backtest });
  expect([answer.status, answer.at("/error/message")]).toEqual([400, expect.stringContaining(message)]);
}

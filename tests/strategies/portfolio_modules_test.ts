/** Modules that decide on many markets: a real compiler's, equal to the built-in, and others that break the rules. */
import { expect } from "@std/expect";
import { createControl } from "../../engine/control.ts";
import { alignColumn, alignInput } from "../../engine/inputs.ts";
import { resolveExecution } from "../../engine/execution.ts";
import { runPortfolio } from "../../engine/portfolio/run_portfolio.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import type { MarketsTask } from "../../workers/common/protocol.ts";
import { encodeFrame } from "../../workers/sandbox/frames.ts";
import { resampleCandles } from "../../workers/sandbox/resampled_candles.ts";
import { doWasmMarkets } from "../../workers/sandbox/wasm/markets.ts";
import { doWasmJob } from "../../workers/sandbox/wasm/run.ts";
import {
  compileAssemblyScript,
  compileWat,
  dailyCandles,
  strategyWat,
  taskOver,
  wanderingCloses,
} from "../workers/sandbox/wasm/modules.ts";

const EXAMPLES = new URL("../../strategies/examples/", import.meta.url);
const OWN = { top: 2, lookback: 40, skip: 2, filter: -0.2, every: "week", exposure: 0.9, minTrade: 0.01 };

/** Four markets, of which one joins late and two have dates. */
function marketsTask(): MarketsTask {
  const markets = [0, 1, 2, 3].map((n) => {
    const candles = dailyCandles(wanderingCloses(900 - 100 * n).map((close) => close * (1 + n)));
    const shifted = { ...candles, time: candles.time.map((time) => time + 100 * n * 86_400_000) };
    const symbol = `M${n}`;
    const { time } = shifted;
    const memberships = n === 1 ? [{ from: time[50]!, until: time[400]! }] : null;
    return { id: `${symbol}@X`, symbol, exchange: "X", candles: shifted, firstIndex: 0, memberships };
  });
  return {
    markets,
    timeframeMs: 86_400_000,
    initialBalance: 10_000,
    execution: resolveExecution({ commission: 0.001, quantityStep: 0.01 }, "crypto"),
    positionsMax: 4,
    rank: "listed",
    seed: 7,
  };
}

function runModule(module: Uint8Array, parameters: object = {}, task = marketsTask()) {
  const job = { kind: "run_markets", module, parametersJson: JSON.stringify(parameters) } as const;
  return doWasmMarkets({ ...job, candlesMin: 1, lookbackWanted: null, task }, createControl(), () => {});
}

let compiled: Promise<Uint8Array> | null = null;

async function compileExample(): Promise<Uint8Array> {
  const read = (name: string) => Deno.readTextFile(new URL(`assemblyscript/${name}`, EXAMPLES));
  return await compileAssemblyScript(await read("momentum_rotation.ts"), {
    "hindcast.ts": await read("hindcast.ts"),
    "hindcast_markets.ts": await read("hindcast_markets.ts"),
  });
}

const ROTATIONS: readonly (readonly [language: string, read: () => Promise<Uint8Array>])[] = [
  ["C", () => Deno.readFile(new URL("c/momentum_rotation.wasm", EXAMPLES))],
  ["Rust", () => Deno.readFile(new URL("rust/momentum_rotation.wasm", EXAMPLES))],
  ["AssemblyScript", () => compiled ??= compileExample()],
];

for (const [language, read] of ROTATIONS) {
  Deno.test(`the rotation in ${language} gives the built-in's result to the byte`, async () => {
    const module = await read();
    for (const more of [{}, { every: "quarter", top: 3 }, { every: "day", skip: 0, filter: 0.05, exposure: 0.4 }]) {
      const own = { ...OWN, ...more };
      const task = marketsTask();
      const answer = runModule(module, own, task);
      const { positionsMax: _max, rank: _rank, seed: _seed, ...settings } = task;
      const strategy = findPortfolioBuiltin("momentum-rotation")!.create(own);
      const expected = runPortfolio({ ...settings, strategy, control: null });
      expect(expected.trades.count).toBeGreaterThan(own.every === "week" ? 50 : 10);
      expect(answer).toMatchObject({
        type: "completed",
        integrity: { lookahead: { status: "passed" }, determinism: { status: "passed" } },
      });
      if (!("result" in answer)) throw new Error("It did not complete");
      const bytesOf = (result: object) => encodeFrame({ type: "done", outcome: { type: "completed", result } });
      expect(bytesOf(answer.result)).toEqual(bytesOf(expected));
    }
  });

  Deno.test(`the rotation in ${language} refuses parameters that contradict each other`, async () => {
    expect(runModule(await read(), { ...OWN, skip: 50 })).toMatchObject({
      type: "failed",
      message: expect.stringContaining("skip must be less than lookback"),
    });
  });
}

Deno.test("a check says that it decides on many markets, and a run over one market refuses it", async () => {
  const module = await (compiled ??= compileExample());
  const job = { module, parametersJson: "{}", candlesMin: 1 };
  expect(doWasmJob({ kind: "validate", ...job }, createControl())).toMatchObject({
    type: "completed",
    report: { decidesOn: "markets", warmup: 127 },
  });
  const task = taskOver(dailyCandles(wanderingCloses(300)));
  expect(doWasmJob({ kind: "run", ...job, lookbackWanted: null, task }, createControl())).toMatchObject({
    type: "failed",
    message: "Cannot use the module: it decides on many markets: give instruments or a universe",
  });
});

/** A module whose `on_markets` is this: $frame and $markets are its arguments, $rows the table of markets. */
function marketsWat(onMarkets: string, more = ""): string {
  return strategyWat({
    after: `${more} (func (export "on_markets") (param $frame i32) (param $markets i32) (result i32) (local $rows i32)
      (local.set $rows (i32.load offset=4 (local.get $markets))) ${onMarkets})`,
  });
}

const target = (weight: string) =>
  `(f64.store offset=64 (local.get $rows) (f64.const ${weight}))
   (i32.store offset=24 (local.get $markets) (i32.const 1))`;
const order = (market: number, action = 1) =>
  `(i32.store (i32.load offset=28 (local.get $markets)) (i32.const ${market}))
   (i32.store (i32.load offset=56 (local.get $frame)) (i32.const ${action}))
   (i32.store offset=4 (i32.load offset=56 (local.get $frame)) (i32.const 1))`;

Deno.test("targets, orders of single markets and memory that grows in the middle", () => {
  const grows = compileWat(marketsWat(`(drop (memory.grow (i32.const 1))) ${target("0.5")} (i32.const 0)`));
  const grown = runModule(grows);
  expect(grown.type).toBe("completed");
  if ("result" in grown) expect(new Set(grown.result.trades.market.subarray(0, 5))).toEqual(new Set([0]));
  const places = compileWat(marketsWat(`
    (if (result i32) (f64.eq (f64.load offset=40 (i32.add (local.get $rows) (i32.const 160))) (f64.const 0))
      (then (if (result i32) (i32.gt_s (i32.load offset=32 (i32.add (local.get $rows) (i32.const 160))) (i32.const 0))
        (then ${order(2)} (i32.const 1)) (else (i32.const 0))))
      (else (i32.const 0)))`));
  const placed = runModule(places);
  expect(placed.type).toBe("completed");
  if ("result" in placed) expect([placed.result.trades.count, placed.result.trades.market[0]]).toEqual([1, 2]);
});

const BROKEN: readonly (readonly [name: string, onMarkets: string, message: string, more?: string])[] = [
  ["a weight that is no number", `${target("nan")} (i32.const 0)`, "the target of M0@X is no number"],
  ["a weight of 1e308", `${target("1e308")} (i32.const 0)`, "weight of 1e+308 for M0@X: it is at most 1000"],
  ["an infinite weight", `${target("-inf")} (i32.const 0)`, "weight of -Infinity for M0@X"],
  [
    "a minTrade below 0",
    `(f64.store offset=16 (local.get $markets) (f64.const -1)) ${target("0.1")} (i32.const 0)`,
    "below -1",
  ],
  [
    "a tag outside of its memory",
    `(i32.store offset=32 (local.get $markets) (i32.const -8)) (i32.store offset=36 (local.get $markets) (i32.const 9))
     ${target("0.1")} (i32.const 0)`,
    "their tag is outside of the memory",
  ],
  [
    "a tag of a million bytes",
    `(i32.store offset=36 (local.get $markets) (i32.const 1000000)) ${target("0.1")} (i32.const 0)`,
    "their tag has 1000000 bytes: it may have 64",
  ],
  ["more orders than its table has", "(i32.const 65)", "on_markets returned 65 orders: its table has 64 rows"],
  ["two thousand million orders", "(i32.const 2147483647)", "its table has 64 rows"],
  ["a negative number", "(i32.const -3)", "on_markets returned -3"],
  ["an order in no market", `${order(4)} (i32.const 1)`, "there is no market 4"],
  ["an order in market -1", `${order(-1)} (i32.const 1)`, "there is no market -1"],
  ["an action that is none", `${order(0, 9)} (i32.const 1)`, "action is 9"],
  ["a trap", "unreachable", "the module trapped"],
  [
    "a period that is none",
    "(i32.const 0)",
    "every returned 5: it must be 0 to 4",
    '(func (export "every") (result i32) (i32.const 5))',
  ],
];

for (const [name, onMarkets, message, more] of BROKEN) {
  Deno.test(`${name} fails the run with the reason`, () => {
    const answer = runModule(compileWat(marketsWat(onMarkets, more)));
    expect(answer).toMatchObject({ type: "failed", message: expect.stringContaining(message) });
  });
}

Deno.test("a plot has its values at the moments of the decisions", () => {
  const onMarkets = (body: string) => `(func (export "on_markets") (param i32 i32) (result i32) ${body} (i32.const 0))`;
  const draws = strategyWat({
    before: `(import "env" "plot" (func $plot (param i32 i32 i32 i32) (result i32)))
      (import "env" "draw" (func $draw (param i32 f64))) (global $now (mut i32) (i32.const 0))`,
    init: `(global.set $now (call $plot (i32.const 16) (i32.const 3) (i32.const 0) (i32.const 0))) (i32.const 0)`,
    after: `(data (i32.const 16) "now")
      ${onMarkets("(call $draw (global.get $now) (f64.load offset=8 (local.get 1)))")}`,
  });
  const answer = runModule(compileWat(draws));
  if (!("result" in answer)) throw new Error(JSON.stringify(answer));
  expect(answer.plots).toEqual([{ market: null, name: "now", pane: null, values: answer.result.instant }]);
});

/** Keeps the address of the second market's table of weeks, draws its newest close at each decision, and goes on with this. */
function weeksWat(more: string): string {
  return strategyWat({
    before: `(import "env" "resample" (func $resample (param i32 i32) (result i32)))
      (import "env" "plot" (func $plot (param i32 i32 i32 i32) (result i32)))
      (import "env" "draw" (func $draw (param i32 f64))) (data (i32.const 16) "1w") (global $row (mut i32) (i32.const 0))`,
    init: `(drop (call $resample (i32.const 16) (i32.const 2)))
      (call $plot (i32.const 16) (i32.const 2) (i32.const 0) (i32.const 0))`,
    after: `(func (export "on_markets") (param $frame i32) (param $markets i32) (result i32)
      (if (i32.eqz (global.get $row)) (then
        (global.set $row (i32.load offset=4 (i32.load offset=52 (local.get $markets))))))
      (if (i32.load offset=24 (global.get $row)) (then (call $draw (i32.const 0) (f64.load (i32.add
        (i32.load offset=16 (global.get $row))
        (i32.shl (i32.sub (i32.load offset=24 (global.get $row)) (i32.const 1)) (i32.const 3)))))))
      ${more} (i32.const 0))`,
  });
}

/** Lines of a module that write over its tables: none of it is an address or a number that the host reads. */
const SCRIBBLES: readonly (readonly [name: string, more: string])[] = [
  ["it leaves its memory alone", ""],
  ["its memory grows", "(drop (memory.grow (i32.const 1)))"],
  [
    "it sets the address of the tables of inputs to the last byte",
    "(i32.store offset=52 (local.get $markets) (i32.const -1))",
  ],
  [
    "it sets the address of each table to what is not there",
    "(i64.store (i32.load offset=52 (local.get $markets)) (i64.const -8589934593))",
  ],
  ["it says that there are four billion markets", "(i32.store (local.get $markets) (i32.const -1))"],
  [
    "it says that its inputs have room for four billion values",
    "(i32.store offset=28 (global.get $row) (i32.const -1))",
  ],
  ["it moves the table of markets", "(i32.store offset=4 (local.get $markets) (i32.const -80))"],
];

for (const [name, more] of SCRIBBLES) {
  Deno.test(`the weeks of a market are those of its own days, where ${name}`, () => {
    const task = marketsTask();
    const answer = runModule(compileWat(weeksWat(more)), {}, task);
    if (!("result" in answer)) throw new Error(JSON.stringify(answer));
    const { candles } = task.markets[1]!;
    const weeks = resampleCandles(candles, "1w", 86_400_000);
    const known = alignColumn(weeks.candles.close, alignInput(weeks, candles.time));
    // A day's mark is its close.
    const rowAt = new Map([...candles.time].map((open, i) => [open + 86_400_000, i]));
    const expected = [...answer.result.instant].map((instant) => known[rowAt.get(instant) ?? -1] ?? NaN);
    const last = known.at(-1)!;
    const ended = candles.time.at(-1)! + 86_400_000;
    const shown = answer.result.instant.map((instant, k) => instant > ended ? last : expected[k]!);
    expect(new Set(shown).size).toBeGreaterThan(100);
    expect(answer.plots).toEqual([{ market: null, name: "1w", pane: null, values: shown }]);
    expect(answer).toMatchObject({ integrity: { lookahead: { status: "passed" }, determinism: { status: "passed" } } });
  });
}

Deno.test("a module whose blocks lie over each other harms its own numbers alone", () => {
  const overlaid = weeksWat("").replace("(local.get $block))\n", "(i32.const 65536))\n");
  expect(overlaid).toContain("(i32.const 65536))");
  const answer = runModule(compileWat(overlaid));
  expect(answer).toMatchObject({ type: "completed" });
});

Deno.test("longer candles that the run cannot make are named", () => {
  const hours = weeksWat("").replace('"1w"', '"4h"');
  expect(runModule(compileWat(hours))).toMatchObject({
    type: "failed",
    code: "STRATEGY_FAILED",
    message: expect.stringContaining("resample: the timeframe must be one of 1w, not 4h"),
  });
});

Deno.test("a module of another type of on_markets is refused by name", () => {
  const wrong = strategyWat({ after: '(func (export "on_markets") (param i32) (result i32) (i32.const 0))' });
  expect(runModule(compileWat(wrong))).toMatchObject({
    message: "Cannot use the module: its function on_markets is (i32) -> i32: it must be (i32, i32) -> i32",
  });
});

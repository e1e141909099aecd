/** Series that a module draws. */
import { expect } from "@std/expect";
import { createControl } from "../../../../engine/control.ts";
import { GuestPlots, PlotRoom } from "../../../../workers/sandbox/wasm/guest_plots.ts";
import { doWasmJob, doWasmRuns } from "../../../../workers/sandbox/wasm/run.ts";
import { codeOf, makeGuest, play, text } from "./guests.ts";
import { compileWat, dailyCandles, strategyWat, taskOver } from "./modules.ts";

const IMPORTS = `(import "env" "plot" (func $plot (param i32 i32 i32 i32) (result i32)))
  (import "env" "draw" (func $draw (param i32 f64)))`;
const ASK = "(call $plot (i32.const 16) (i32.const 5) (i32.const 32) (i32.const 3))";
/** Draws the close, and nothing but an infinity at the second candle; gives up at a close of 13. */
const CLOSES = strategyWat({
  before: `${IMPORTS} (global $plot (mut i32) (i32.const -1))`,
  init: `(global.set $plot ${ASK}) (i32.const 0)`,
  locals: "(local $close f64)",
  onCandle: `
    (local.set $close (f64.load (i32.add (i32.load offset=48 (local.get $frame))
      (i32.shl (i32.sub (i32.load offset=72 (local.get $frame)) (i32.const 1)) (i32.const 3)))))
    (call $draw (global.get $plot)
      (select (f64.const inf) (local.get $close) (i32.eq (i32.load offset=72 (local.get $frame)) (i32.const 2))))
    (select (i32.const -1) (i32.const 0) (f64.eq (local.get $close) (f64.const 13)))`,
  after: text(16, "close") + text(32, "own"),
});

function jobOver(closes: readonly number[]) {
  const task = taskOver(dailyCandles(closes));
  return { module: compileWat(CLOSES), candlesMin: 1, lookbackWanted: null, task };
}

Deno.test("a value a candle is kept of the first simulation, also of a run that fails, and none of a trial", () => {
  const drawn = (...values: readonly number[]) => [{ name: "close", pane: "own", values: Float64Array.from(values) }];
  const run = (closes: readonly number[]) =>
    doWasmJob({ ...jobOver(closes), kind: "run", parametersJson: "{}" }, createControl());
  expect(run([10, 11, 12, 14])).toMatchObject({ type: "completed", plots: drawn(10, NaN, 12, 14) });
  expect(run([10, 11, 13, 14])).toMatchObject({ type: "failed", plots: drawn(10, NaN, 13, NaN) });
  const trials: object[] = [];
  const limits = { lookback: 0, lookbackWanted: 1, canReload: false, budgetMs: Infinity, returnsMax: Infinity };
  doWasmRuns({ ...jobOver([10, 11, 12]), ...limits, kind: "run_trials", parametersJson: ["{}", "{}"] }, {
    control: createControl(),
    report: (message) => trials.push(Object(message).outcome),
  });
  expect(trials.map((trial) => [Object(trial).type, "plots" in trial])).toEqual([
    ["completed", false],
    ["completed", false],
  ]);
});

const FAULTS: readonly (readonly [what: string, init: string, message: string])[] = [
  [
    "an empty name",
    "(drop (call $plot (i32.const 16) (i32.const 0) (i32.const 16) (i32.const 0)))",
    "plot: a plot's name must be a text of 1 to 64 characters",
  ],
  [
    "a pane of 65 characters",
    "(drop (call $plot (i32.const 16) (i32.const 1) (i32.const 100) (i32.const 65)))",
    "plot: a plot's pane must be a text of 1 to 64 characters",
  ],
  [
    "the name of the times",
    "(drop (call $plot (i32.const 40) (i32.const 9) (i32.const 0) (i32.const 0)))",
    "plot: it cannot be named timestamp: the times of plots are",
  ],
  [
    "17 plots",
    Array.from(
      { length: 17 },
      (_, n) => `(drop (call $plot (i32.const 100) (i32.const ${n + 1}) (i32.const 0) (i32.const 0)))`,
    ).join(" "),
    "plot: a strategy can plot at most 16 series",
  ],
  ["a plot that it has not asked for", "(call $draw (i32.const 0) (f64.const 1))", "draw: there is no plot 0"],
  ["a value before the first decision", `(call $draw ${ASK} (f64.const 1))`, "draw is for decisions"],
];

for (const [what, init, message] of FAULTS) {
  Deno.test(`a run ends where a module plots ${what}`, () => {
    const after = text(16, "close") + text(32, "own") + text(40, "timestamp") + text(100, "x".repeat(70));
    const attempt = () =>
      play(makeGuest(strategyWat({ before: IMPORTS, init: `${init} (i32.const 0)`, after })), [10, 11]);
    expect(attempt).toThrow(`Cannot initialise: the strategy gave up: ${message}`);
    expect(codeOf(attempt)).toBe("STRATEGY_FAILED");
  });
}

Deno.test("the markets of a run share the room for plots, and the log names those that are not kept", () => {
  const room = new PlotRoom();
  const lines: string[] = [];
  // Each series takes half of the room.
  const drawIn = (...names: readonly string[]) => {
    const plots = new GuestPlots(room, lines);
    plots.rows = 2 ** 22;
    plots.row = () => 0;
    for (const name of names) plots.draw(plots.ask(name, ""), 1);
    return plots.take().map(({ name, values }) => [name, values.length, values[0]]);
  };
  expect(drawIn("a")).toEqual([["a", 2 ** 22, 1]]);
  expect(drawIn("b", "c")).toEqual([["b", 2 ** 22, 1]]);
  expect(lines).toEqual(["the plot c is not kept: a run keeps 8388608 values of all plots together"]);
});

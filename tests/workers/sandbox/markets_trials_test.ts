/** Trials of code over many markets in one process: each is the backtest of its point, and one that ends badly ends alone. */
import { expect } from "@std/expect";
import { viewCandles } from "../../../engine/candles.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { findKnownFrom, type InputCandles, inputLookback } from "../../../engine/inputs.ts";
import type { PortfolioMarket } from "../../../engine/portfolio/portfolio.ts";
import type { MarketsTask } from "../../../workers/common/protocol.ts";
import { runInSandbox } from "../../../workers/sandbox/process.ts";
import { buildInterpreter } from "../../../workers/sandbox/python/build_interpreter.ts";
import { SANDBOX_BYTES_MAX, type ScriptLanguage, type TrialOutcome } from "../../../workers/sandbox/task.ts";
import { compileAssemblyScript, dailyCandles, wanderingCloses } from "./wasm/modules.ts";

const DAY_MS = 86_400_000;
const STRATEGIES = new URL("../../../strategies/", import.meta.url);
/** Candles of a market before the range, as far as it has them, and all of them. */
const BEFORE = 200;
const COUNT = 420;
/** Candles that a backtest loads before it knows the strategy. */
const LOOKBACK = 20;
const LIMITS = { deadlineMs: 300_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {} };
const RULES = {
  ...{
    timeframeMs: DAY_MS,
    initialBalance: 10_000,
    positionsMax: 3,
    rank: "listed",
    seed: 0,
    assetClass: "crypto",
  } as const,
  execution: resolveExecution({ commission: 0.001 }, "crypto"),
};

type Code =
  | { readonly module: Uint8Array }
  | { readonly source: string; readonly language: ScriptLanguage };

/** Three markets with so many candles before the range, of which the last has 40; and an input of each. */
function taskWith(lookback: number): MarketsTask {
  return { ...RULES, markets: [0, 1, 2].map((n) => marketWith(lookback, n)) };
}

function marketWith(lookback: number, n: number): PortfolioMarket {
  const held = Math.min(lookback, n === 2 ? 40 : BEFORE);
  const candles = viewCandles(dailyCandles(wanderingCloses(COUNT, n + 1)), BEFORE - held, COUNT);
  const other = dailyCandles(wanderingCloses(COUNT, n + 11));
  const firstIndex = Math.min(inputLookback(lookback, 1), BEFORE);
  const beside = viewCandles(other, BEFORE - firstIndex, COUNT);
  const knownFrom = findKnownFrom(candles.time, closesOf(candles.time), closesOf(beside.time));
  const input: InputCandles = {
    ...{ name: "daily", candles: beside, knownFrom, firstIndex, perCandle: 1, tradingDays: null },
  };
  const symbol = `M${n}`;
  return { id: `${symbol}@X`, symbol, exchange: "X", candles, firstIndex: held, inputs: [input] };
}

function closesOf(time: Float64Array): Float64Array {
  return time.map((open) => open + DAY_MS);
}

/** Runs all points as trials, in as many processes as ask for candles. */
async function tryAll(code: Code, points: readonly object[]): Promise<TrialOutcome[]> {
  const outcomes: TrialOutcome[] = [];
  const jobOf = (lookbackWanted: number) => {
    const run = {
      parametersJson: points.slice(outcomes.length).map((point) => JSON.stringify(point)),
      ...{ candlesMin: 1, task: taskWith(lookbackWanted), lookback: LOOKBACK, lookbackWanted },
      ...{ canReload: lookbackWanted === LOOKBACK, budgetMs: 600_000, returnsMax: 1e9 },
    };
    return "module" in code
      ? { ...run, ...code, kind: "run_markets_trials" } as const
      : { ...run, ...code, kind: "script_markets_trials" } as const;
  };
  for (let done = -1; outcomes.length < points.length;) {
    expect(outcomes.length).toBeGreaterThan(done);
    done = outcomes.length;
    const outcome = await runInSandbox(jobOf(LOOKBACK), {
      ...{ ...LIMITS, signal: new AbortController().signal },
      onTrial: (trial) => void outcomes.push(trial),
      reload: (lookback) => Promise.resolve(jobOf(lookback)),
    });
    expect(outcome).toEqual({ type: "completed" });
  }
  return outcomes;
}

/** The metrics of a backtest of a point. */
async function backtest(code: Code, point: object): Promise<unknown> {
  const jobOf = (lookbackWanted: number) => {
    const run = {
      parametersJson: JSON.stringify(point),
      candlesMin: 1,
      task: taskWith(lookbackWanted),
      lookbackWanted,
    };
    return "module" in code
      ? { ...run, ...code, kind: "run_markets" } as const
      : { ...run, ...code, kind: "script_markets" } as const;
  };
  const outcome = await runInSandbox(jobOf(LOOKBACK), {
    ...{ ...LIMITS, signal: new AbortController().signal },
    reload: (lookback) => Promise.resolve(jobOf(lookback)),
  });
  return outcome.type === "completed" ? metricsOf(outcome.result) : outcome;
}

function metricsOf({ metrics, undefinedMetrics }: { readonly metrics: object; readonly undefinedMetrics: object }) {
  return { metrics, undefinedMetrics };
}

async function readScript(path: string): Promise<Code> {
  const source = await Deno.readTextFile(new URL(path, STRATEGIES));
  return { source, language: path.endsWith(".py") ? "python" : "typescript" };
}

async function compileRotation(): Promise<Code> {
  const read = (name: string) => Deno.readTextFile(new URL(`examples/assemblyscript/${name}`, STRATEGIES));
  const [main, ...files] = ["momentum_rotation.ts", "hindcast.ts", "hindcast_markets.ts"] as const;
  const beside = Object.fromEntries(await Promise.all(files.map(async (name) => [name, await read(name)] as const)));
  return { module: await compileAssemblyScript(await read(main), beside) };
}

const CROSSES = [[3, 15], [8, 15], [3, 90], [8, 30], [3, 260], [8, 260], [5, 40]].map(([fast, slow]) => ({
  fast,
  slow,
}));
const ROTATIONS = [[10, 1], [60, 1], [60, 2], [15, 2], [130, 1], [30, 3]].map(([lookback, top]) => ({
  ...{ lookback, top, skip: 2, filter: -1, every: "week", exposure: 0.9, minTrade: 0.01 },
}));
const inPython = ({ minTrade: min_trade, ...point }: typeof ROTATIONS[number]) => ({ ...point, min_trade });

const CODES: readonly (readonly [what: string, code: () => Promise<Code>, points: readonly object[]])[] = [
  ["a script for each market", () => readScript("scripts/sma_cross.ts"), CROSSES],
  ["a script with an input", () => readScript("scripts/inputs/sma_cross_daily.ts"), CROSSES],
  ["a script for all markets", () => readScript("scripts/portfolio/momentum_rotation.ts"), ROTATIONS],
  ["a Python script for each market", () => readScript("scripts_python/sma_cross.py"), CROSSES.slice(2, 6)],
  [
    "a Python script for all markets",
    () => readScript("scripts_python/portfolio/momentum_rotation.py"),
    ROTATIONS.slice(2).map(inPython),
  ],
  ["a module for each market", async () => ({
    module: await Deno.readFile(new URL("examples/c/sma_cross.wasm", STRATEGIES)),
  }), CROSSES],
  ["a module for all markets", compileRotation, ROTATIONS],
];

Deno.test("each trial over many markets is the backtest of its point", async (t) => {
  await buildInterpreter();
  for (const [what, code, points] of CODES) {
    await t.step(what, async () => {
      const opened = await code();
      const trials = await tryAll(opened, points);
      for (const [n, point] of points.entries()) {
        const trial = trials[n]!;
        expect([point, trial.type === "completed" ? metricsOf(trial) : trial]).toEqual([
          point,
          await backtest(opened, point),
        ]);
      }
      const returns = trials.map((trial) => trial.type === "completed" && trial.metrics.total_return);
      expect(new Set(returns).size).toBe(points.length);
    });
  }
});

Deno.test("trials over many markets find nothing of those before them, in any market", async () => {
  const leaving = (isFirst: string, leave: string) =>
    `strategy(({ n }) => ({ decide(i, candles, account, orders) {
    if (i % 20 === 5 && ${isFirst}) orders.buy();
    if (i % 20 === 15) { orders.close(); ${leave} }
  } }));`;
  const points = [{ n: 1 }, { n: 2 }, { n: 3 }];
  const LEFT = {
    "a global": ["globalThis.seen === undefined || globalThis.seen === n", "globalThis.seen = n;"],
    "a member of the language": ["(Math.seen ?? n) === n", "Math.seen = n;"],
  } as const;
  for (const [what, [isFirst, leave]] of Object.entries(LEFT)) {
    const code = { source: leaving(isFirst, leave), language: "typescript" } as const;
    const [first, ...others] = (await tryAll(code, points)).map((trial) => trial.type === "completed" && trial.metrics);
    expect([what, Object(first).trades > 20]).toEqual([what, true]);
    for (const other of others) expect([what, other]).toEqual([what, first]);
  }
});

Deno.test("a point that the code refuses is no trial over many markets, and one that fails ends alone", async () => {
  await buildInterpreter();
  const typescript = `strategy(({ n }) => {
    if (n === 1) throw new RangeError("not one");
    return { decide(i, candles, account, orders) {
      if (n === 3 && i === 230) throw new Error("three");
      if (i % 20 === 5) orders.buy(); else if (i % 20 === 15) orders.close();
    } };
  });`;
  const python = `class Fails(Strategy):
    n: int = 0
    def __init__(self):
        if self.n == 1: raise ValueError("not one")
    def decide(self, i, candles, account, orders):
        if self.n == 3 and i == 230: raise RuntimeError("three")
        if i % 20 == 5: orders.buy()
        elif i % 20 == 15: orders.close()
`;
  const points = [0, 1, 2, 3, 4].map((n) => ({ n }));
  for (const [language, source] of Object.entries({ typescript, python } as const)) {
    const code = { source, language: language === "python" ? "python" : "typescript" } as const;
    const trials = await tryAll(code, points);
    const ends = trials.map(({ type }) => type);
    expect([language, ends]).toEqual([language, ["completed", "refused", "completed", "failed", "completed"]]);
    expect(trials[3]).toMatchObject({ code: "STRATEGY_FAILED", message: expect.stringMatching(/three.*\(in M\d@X\)/) });
    expect(trials[4]).toEqual(trials[0]);
  }
});

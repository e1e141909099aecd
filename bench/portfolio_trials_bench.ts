/**
 * Trials of code over many markets in one sandbox process, beside as many processes that run one backtest each: processor time and
 * time, in turn, of the same points.
 *
 * `deno run --allow-all bench/portfolio_trials_bench.ts [rounds]`
 */
import process from "node:process";
import { resolveExecution } from "../engine/execution.ts";
import type { MarketsTask } from "../workers/common/protocol.ts";
import { runInSandbox } from "../workers/sandbox/process.ts";
import { buildInterpreter } from "../workers/sandbox/python/build_interpreter.ts";
import { SANDBOX_BYTES_MAX } from "../workers/sandbox/task.ts";
import { dailyCandles, wanderingCloses } from "../tests/workers/sandbox/sandbox_tasks.ts";
import { median, readCpuMs, report } from "./measure.ts";

const rounds = Number(Deno.args[0] ?? 3);
const TRIALS = 20;
const MARKETS = 10;
/** Days of four years, after which a run's own work shows beside the start of its process. */
const DAYS = 1500;
const STRATEGIES = new URL("../strategies/", import.meta.url);
const LIMITS = { deadlineMs: 600_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {} };
const task: MarketsTask = {
  markets: Array.from({ length: MARKETS }, (_, n) => ({
    ...{ id: `M${n}@X`, symbol: `M${n}`, exchange: "X", firstIndex: 0 },
    candles: dailyCandles(wanderingCloses(DAYS, n + 1)),
  })),
  ...{ timeframeMs: 86_400_000, initialBalance: 10_000, positionsMax: MARKETS, rank: "listed", seed: 0 },
  ...{ execution: resolveExecution({}, "crypto"), checksIntegrity: false },
};
const crosses = Array.from({ length: TRIALS }, (_, n) => ({ fast: 3 + n, slow: 40 + n }));
const rotations = Array.from({ length: TRIALS }, (_, n) => ({ lookback: 20 + 5 * n, top: 1 + n % 3, filter: -1 }));
const read = (path: string) => Deno.readTextFile(new URL(path, STRATEGIES));
const codes = [
  ["a script for each market", { source: await read("scripts/sma_cross.ts"), language: "typescript" }, crosses],
  [
    "a script for all markets",
    { source: await read("scripts/portfolio/momentum_rotation.ts"), language: "typescript" },
    rotations,
  ],
  ["Python for each market", { source: await read("scripts_python/sma_cross.py"), language: "python" }, crosses],
  [
    "a module for each market",
    { module: await Deno.readFile(new URL("examples/c/sma_cross.wasm", STRATEGIES)) },
    crosses,
  ],
] as const;

await buildInterpreter();
for (const [what, code, points] of codes) {
  const taken: Record<"one" | "many", { ms: number; cpuMs: number }[]> = { one: [], many: [] };
  for (let round = 0; round < rounds; round++) {
    taken.one.push(await measure(() => inOneProcess(code, points)));
    taken.many.push(await measure(() => inManyProcesses(code, points)));
  }
  for (const [unit, of] of [["processor time", "cpuMs"], ["time", "ms"]] as const) {
    await report({
      measure: `${TRIALS} trials over ${MARKETS} markets in one process, ${what}, ${unit} a trial`,
      ours: median(taken.one.map((each) => each[of])) / TRIALS,
      reference: { name: "a process each", value: median(taken.many.map((each) => each[of])) / TRIALS },
    });
  }
}

type Code = (typeof codes)[number][1];

async function inOneProcess(code: Code, points: readonly object[]): Promise<void> {
  const run = {
    parametersJson: points.map((point) => JSON.stringify(point)),
    ...{ candlesMin: 1, task, lookback: 0, lookbackWanted: 1000, canReload: false, budgetMs: 600_000, returnsMax: 1e9 },
  };
  const job = "module" in code
    ? { ...run, ...code, kind: "run_markets_trials" } as const
    : { ...run, ...code, kind: "script_markets_trials" } as const;
  let done = 0;
  const { signal } = new AbortController();
  const outcome = await runInSandbox(job, {
    ...LIMITS,
    signal,
    onTrial: ({ type }) => void (done += type === "completed" ? 1 : 0),
  });
  if (done !== points.length) throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
}

async function inManyProcesses(code: Code, points: readonly object[]): Promise<void> {
  for (const point of points) {
    const run = { parametersJson: JSON.stringify(point), candlesMin: 1, task, lookbackWanted: null };
    const job = "module" in code
      ? { ...run, ...code, kind: "run_markets" } as const
      : { ...run, ...code, kind: "script_markets" } as const;
    const outcome = await runInSandbox(job, { ...LIMITS, signal: new AbortController().signal });
    if (outcome.type !== "completed") throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
  }
}

/** The processor time has that of the processes that have ended. */
async function measure(work: () => Promise<void>): Promise<{ ms: number; cpuMs: number }> {
  const before = readCpuMs(process.pid);
  const begun = performance.now();
  await work();
  return { ms: performance.now() - begun, cpuMs: readCpuMs(process.pid) - before };
}

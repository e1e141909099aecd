/** Users' code that trades test windows as one account: the same as its built-in twin, to the last bit. */
import { expect } from "@std/expect";
import { BufferPool } from "../../../engine/buffer_pool.ts";
import { createControl } from "../../../engine/control.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";
import type { CarryTask } from "../../../workers/common/protocol.ts";
import { runCarry } from "../../../workers/sandbox/builtin_carry.ts";
import { buildInterpreter } from "../../../workers/sandbox/python/build_interpreter.ts";
import { runInSandbox } from "../../../workers/sandbox/process.ts";
import { SANDBOX_BYTES_MAX, type SandboxJob, type TrialOutcome } from "../../../workers/sandbox/task.ts";

const DAY_MS = 86_400_000;
const DAYS = 300;
const STRATEGIES = new URL("../../../strategies/", import.meta.url);
const OWN = { direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };

await buildInterpreter();
const random = new Random(11);
let price = 100;
const close = Float64Array.from({ length: DAYS }, () => price *= Math.exp(0.03 * random.normal()));
const TASK: Omit<CarryTask, "stages" | "slug"> = {
  candles: {
    time: close.map((_, day) => day * DAY_MS),
    ...{ open: close, high: close, low: close, close, volume: close },
  },
  ...{ firstIndex: 30, initialBalance: 1000, timeframeMs: DAY_MS, seed: 0, assetClass: "crypto", finer: null },
  execution: resolveExecution({ commission: 0.001 }, "crypto"),
};

const stageOf = (fast: number, slow: number, fromDay: number) => ({
  parameters: { fast, slow, ...OWN },
  fromMs: fromDay * DAY_MS,
});
const CHANGING = [
  stageOf(2, 5, 30),
  stageOf(3, 20, 80),
  stageOf(2, 5, 130),
  stageOf(5, 9, 180),
  stageOf(3, 20, 240),
];

function ofBuiltin(stages: CarryTask["stages"]) {
  const outcome = runCarry({ ...TASK, slug: "sma-cross", stages }, createControl(), new BufferPool(1 << 20));
  if (outcome.type !== "completed") throw new Error(outcome.type);
  return { marks: outcome.marks, exposure: outcome.exposure };
}

async function ofCode(code: Code, stages: CarryTask["stages"]): Promise<TrialOutcome | undefined> {
  // Names in Python have underscores.
  const isPython = code.kind === "script_trials" && code.language === "python";
  const nameOf = (name: string) => isPython ? name.replaceAll(/[A-Z]/g, (each) => `_${each.toLowerCase()}`) : name;
  const [first = "{}", ...others] = stages.map(({ parameters }) =>
    JSON.stringify(Object.fromEntries(Object.entries(parameters).map(([name, value]) => [nameOf(name), value])))
  );
  const later = others.map((parametersJson, i) => ({ parametersJson, fromMs: stages[i + 1]!.fromMs }));
  const run = { lookback: 30, lookbackWanted: 30, canReload: true, budgetMs: 0, returnsMax: 0 };
  const job: SandboxJob = { ...code, parametersJson: [first], candlesMin: 1, task: TASK, later, ...run };
  let ended: TrialOutcome | undefined;
  const outcome = await runInSandbox(job, {
    ...{ deadlineMs: 120_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {} },
    signal: new AbortController().signal,
    onTrial: (trial) => ended = trial,
  });
  expect(outcome).toEqual({ type: "completed" });
  return ended;
}

type Code =
  | { readonly kind: "script_trials"; readonly source: string; readonly language: "typescript" | "python" }
  | { readonly kind: "run_trials"; readonly module: Uint8Array };

const read = (path: string) => Deno.readTextFile(new URL(path, STRATEGIES));
const TWINS: readonly (readonly [string, () => Promise<Code>])[] = [
  ["TypeScript", async () => {
    return { kind: "script_trials", language: "typescript", source: await read("scripts/sma_cross.ts") };
  }],
  ["Python", async () => {
    return { kind: "script_trials", language: "python", source: await read("scripts_python/sma_cross.py") };
  }],
  ["WebAssembly", async () => {
    return { kind: "run_trials", module: await Deno.readFile(new URL("examples/c/sma_cross.wasm", STRATEGIES)) };
  }],
];

for (const [language, load] of TWINS) {
  Deno.test(`${language} carries its account from window to window as the built-in strategy does`, async () => {
    const code = await load();
    for (const stages of [CHANGING, [stageOf(2, 5, 30)]]) {
      const { marks, exposure } = ofBuiltin(stages);
      expect(new Set(marks).size).toBeGreaterThan(100);
      const trial = await ofCode(code, stages);
      if (trial?.type !== "completed") throw new Error(JSON.stringify(trial));
      expect(trial.marks).toEqual(marks);
      expect(trial.metrics.exposure).toBe(exposure);
    }
  });
}

Deno.test("code that fails in a later window fails as a trial, with the candle", async () => {
  const source = `strategy(({ fault }) => ({ decide(i, candles, account, orders) {
    if (fault) throw new Error("no second window");
    if (i % 9 === 0) orders.buy();
  } }));`;
  const stages = [{ parameters: { fault: 0 }, fromMs: 0 }, { parameters: { fault: 1 }, fromMs: 100 * DAY_MS }];
  const trial = await ofCode({ kind: "script_trials", language: "typescript", source }, stages);
  expect(trial).toMatchObject({ type: "failed", code: "STRATEGY_FAILED" });
  expect(JSON.stringify(trial)).toContain("no second window");
});

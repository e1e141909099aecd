/** Decisions that never end, of every kind of code, in the processes that run it: each is ended by itself, and slow honest ones are not. */
import { expect } from "@std/expect";
import { FRAME } from "../../../workers/sandbox/contracts/abi.ts";
import { decisionMsMax, DecisionWatch } from "../../../workers/sandbox/decision_watch.ts";
import { runInSandbox } from "../../../workers/sandbox/process.ts";
import { buildInterpreter } from "../../../workers/sandbox/python/build_interpreter.ts";
import { SANDBOX_BYTES_MAX, type SandboxJob } from "../../../workers/sandbox/task.ts";
import { listDescendants } from "../../support/processes.ts";
import { until } from "../../support/until.ts";
import { pythonDeciding } from "./python/python_scripts.ts";
import { deciding } from "./script/scripts.ts";
import { compileWat, dailyCandles, strategyWat, taskOver } from "./wasm/modules.ts";

const CLOSES = [10, 11, 12, 11, 13, 14, 12, 15];
const LAST = CLOSES.length - 1;
// Decisions may take the lowest limit, and a run far longer.
const DEADLINE_MS = 40_000;
const TASK = taskOver(dailyCandles(CLOSES));
const OWN = { parametersJson: "{}", candlesMin: 1, lookbackWanted: null };

const script = (source: string, language: "typescript" | "python" = "typescript"): SandboxJob => ({
  ...{ ...OWN, kind: "script", task: TASK },
  ...{ source, language },
});
const module = (text: string): SandboxJob => ({ ...OWN, kind: "run", task: TASK, module: compileWat(text) });

/** The same job over two markets with one account. */
function overMarkets(job: SandboxJob): SandboxJob {
  const markets = ["A", "B"].map((symbol) => ({
    ...{ id: `${symbol}@X`, symbol, exchange: "X", candles: TASK.candles, firstIndex: 0 },
  }));
  const { initialBalance, execution } = TASK;
  const rules = { positionsMax: 2, rank: "listed", seed: 1, timeframeMs: 86_400_000 } as const;
  const task = { markets, initialBalance, execution, ...rules };
  if (job.kind === "script") {
    return { ...OWN, kind: "script_markets", source: job.source, language: job.language, task };
  }
  if (job.kind === "run") return { ...OWN, kind: "run_markets", module: job.module, task };
  throw new TypeError(`Cannot run a ${job.kind} job over many markets`);
}

/** The same script as trials. */
function asTrials(job: SandboxJob): SandboxJob {
  if (job.kind !== "script") throw new TypeError(`Cannot try a ${job.kind} job`);
  const { source, language, task } = job;
  const trials = { parametersJson: ["{}", "{}"], candlesMin: 1, lookback: 1, lookbackWanted: 1, canReload: false };
  return { ...trials, kind: "script_trials", source, language, task, budgetMs: 60_000, returnsMax: 1e6 };
}

async function endOf(job: SandboxJob, deadlineMs = DEADLINE_MS): Promise<string> {
  const { signal } = new AbortController();
  const limits = { deadlineMs, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {}, signal };
  const outcome = await runInSandbox(job, limits);
  return outcome.type === "failed" ? `${outcome.code}: ${outcome.message}` : outcome.type;
}

const endless = (candle: number) => deciding(`if (i === ${candle}) for (;;);`);
const pythonEndless = (candle: number) => pythonDeciding(`while i == ${candle}: pass`);
/** @param candle Counted from 1: the frame has the number of candles. */
const wasmEndless = (candle: number) =>
  strategyWat({
    onCandle: `(if (i32.eq (i32.load offset=${FRAME.count} (local.get $frame)) (i32.const ${candle + 1}))
      (then (loop $again (br $again)))) (i32.const 0)`,
  });
const ON_MARKETS = strategyWat({
  after: `(func (export "on_markets") (param $frame i32) (param $markets i32) (result i32)
    (loop $again (br $again)) (i32.const 0))`,
});

const ENDLESS: readonly (readonly [what: string, job: () => SandboxJob, candle: number | null])[] = [
  ["a script's first decision", () => script(endless(0)), 0],
  ["a script's last decision", () => script(endless(LAST)), LAST],
  ["a Python script's first decision", () => script(pythonEndless(0), "python"), 0],
  ["a Python script's last decision", () => script(pythonEndless(LAST), "python"), LAST],
  ["a module's first decision", () => module(wasmEndless(0)), 0],
  ["a module's last decision", () => module(wasmEndless(LAST)), LAST],
  ["a script on each of two markets", () => overMarkets(script(endless(3))), null],
  ["a Python script on each of two markets", () => overMarkets(script(pythonEndless(3), "python")), null],
  ["a module on each of two markets", () => overMarkets(module(wasmEndless(3))), null],
  [
    "a script that decides on all markets",
    () => overMarkets(script('portfolio(() => ({ every: "day", decide() { for (;;); } }));')),
    null,
  ],
  ["a module that decides on all markets", () => overMarkets(module(ON_MARKETS)), null],
  ["a trial of a script", () => asTrials(script(endless(3))), 3],
];

/** The author's line of the endings above, without its numbers: modules and trials have none. */
function placeOf(job: SandboxJob): string {
  if (job.kind !== "script" && job.kind !== "script_markets") return "";
  return job.language === "python" ? " at decide (strategy.py:N:N)" : " at strategy.ts:N:N";
}

function withoutNumbers(place: string): string {
  return place.replace(/:\d+/g, ":N");
}

Deno.test("a decision that never ends is ended by itself, long before its run is due", async (t) => {
  await buildInterpreter();
  const limit = `its decision took more than ${decisionMsMax(DEADLINE_MS) / 1000} s`;
  for (const [what, job, candle] of ENDLESS) {
    await t.step(what, async () => {
      const at = candle === null
        ? ""
        : ` at candle ${candle} of the range, counted from 0 (${new Date(TASK.candles.time[candle]!).toISOString()})`;
      const [, message, place = ""] = /^(.*? s)( at .*)?$/.exec(await endOf(job())) ?? [];
      expect([message, withoutNumbers(place)]).toEqual([
        `STRATEGY_TIMED_OUT: Cannot go on${at}: ${limit}`,
        placeOf(job()),
      ]);
    });
  }
});

const decides = (calls: number, candle: number) => ({ calls, preparing: 0, candle });

Deno.test("only time within one decision counts, by the clock and of the processor", async () => {
  const job = script(deciding(""));
  const watch = new DecisionWatch(job, 1);
  const pause = () => new Promise((resume) => setTimeout(resume, 5));
  expect(watch.check(decides(1, 0), 0)).toBeNull();
  await pause();
  // The machine slept: the processor did nothing.
  expect(watch.check(decides(1, 0), 1)).toBeNull();
  // The next candle, in the same call.
  expect(watch.check(decides(1, 1), 1_000)).toBeNull();
  await pause();
  expect(watch.check(decides(1, 1), 2_000)).toMatch(/^Cannot go on at candle 1 of the range/);
  // The simulator computes, or the code prepares: nothing decides.
  expect(watch.check(decides(2, 1), 3_000)).toBeNull();
  await pause();
  expect(watch.check(decides(2, 1), 9_000)).toBeNull();
  // The same candle in another call: a run is repeated, or another market decides.
  expect(watch.check(decides(3, 1), 9_000)).toBeNull();
  await pause();
  expect(watch.check(decides(5, 1), 19_000)).toBeNull();
  // A clock that jumps is no work.
  const sudden = new DecisionWatch(job, 60_000);
  expect(sudden.check(decides(1, 0), 0)).toBeNull();
  expect(sudden.check(decides(1, 0), 1e9)).toBeNull();
  expect(decisionMsMax(600_000)).toBe(30_000);
});

Deno.test("slow honest decisions are not ended, though one call asks for all of them", async () => {
  // Some tenths of a second each on a quiet machine, and more than the limit together.
  const slow = "let sum = 0; for (let n = 0; n < 3e8; n++) sum += n; if (sum === 1) orders.buy();";
  expect(await endOf(script(deciding(slow)), 2 * DEADLINE_MS)).toBe("completed");
});

Deno.test("a machine that sleeps in the middle of a decision ends nothing", async () => {
  const before = new Set(listDescendants(Deno.pid).map(({ pid }) => pid));
  const slow = "let sum = 0; for (let n = 0; n < 5e8; n++) sum += n; if (sum === 1) orders.buy();";
  const running = endOf(script(deciding(`if (i === 3) { ${slow} }`)));
  const children = await until(() => {
    const found = listDescendants(Deno.pid).filter(({ pid }) => !before.has(pid));
    return found.length > 0 && found;
  });
  // It starts, prepares and decides meanwhile: wherever it is, it sleeps for longer than a decision may take.
  const send = (signal: Deno.Signal) => {
    for (const { pid } of children) Deno.kill(pid, signal);
  };
  for (let n = 0; n < 3; n++) {
    send("SIGSTOP");
    await new Promise((resume) => setTimeout(resume, decisionMsMax(DEADLINE_MS) / 2));
    send("SIGCONT");
    await new Promise((resume) => setTimeout(resume, 200));
  }
  expect(await running).toBe("completed");
});

Deno.test("a check that a busy machine gives little time blames the code for an endless decision alone", async (t) => {
  const limits = { cpuMsMax: 5_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {} };
  // The clock is due before the processor has had half of its time.
  const check = async (source: string, language: "typescript" | "python" = "typescript", deadlineMs = 2_400) => {
    const job = { kind: "check_script", source, language, parametersJson: "{}", candlesMin: 1 } as const;
    return await runInSandbox(job, { ...limits, deadlineMs, signal: new AbortController().signal });
  };
  /** Checks it again, with more time, where this machine is so busy that it had next to none. */
  const blame = async (source: string, language: "typescript" | "python" = "typescript") => {
    let deadlineMs = 1_200;
    return await until(async () => {
      const outcome = await check(source, language, deadlineMs *= 2);
      return outcome.type !== "stopped" && outcome;
    });
  };
  const late = (what: string) => ({
    ...{ type: "failed", code: "INVALID_SCRIPT" },
    message: expect.stringMatching(new RegExp(`${what} had not ended after \\d+\\.\\d s of computing`)),
  });
  await t.step("a script", async () => expect(await blame(endless(3))).toMatchObject(late("its decision")));
  await t.step("a Python script", async () => {
    expect(await blame(pythonEndless(3), "python")).toMatchObject(late("its decision"));
  });
  for (
    const [what, source, language] of [
      ["a script's own lines", `for (;;);\n${deciding("")}`, "typescript"],
      ["a script's prepare", "strategy(() => ({ prepare() { for (;;); }, decide() {} }));", "typescript"],
      ["a Python script's own lines", `while True: pass\n${pythonDeciding("pass")}`, "python"],
      ["a portfolio's own lines", "for (;;);\nportfolio(() => ({ decide() {} }));", "typescript"],
    ] as const
  ) {
    await t.step(what, async () => {
      expect(await blame(source, language)).toMatchObject(late("its lines before the first decision"));
    });
  }
  await t.step("many decisions that are slow together", async () => {
    // Some hundredths of a second each, and many times the limit together.
    const slow = "let sum = 0; for (let n = 0; n < 3e7; n++) sum += n; if (sum === 1) orders.buy();";
    expect(await check(deciding(slow))).toMatchObject({ type: "stopped" });
  });
});

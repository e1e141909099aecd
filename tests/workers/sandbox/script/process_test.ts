/** Scripts in their process, as a service runs them: endless ones, greedy ones, and those that break the runtime's own parser. */
import { expect } from "@std/expect";
import type { Outcome } from "../../../../workers/common/outcome.ts";
import { runInSandbox, type SandboxLimits } from "../../../../workers/sandbox/process.ts";
import { SANDBOX_BYTES_MAX, type SandboxRun } from "../../../../workers/sandbox/task.ts";
import { dailyCandles, taskOver } from "../wasm/modules.ts";
import { deciding } from "./scripts.ts";

const CLOSES = [10, 11, 12, 11, 13, 14, 12, 15];

/** Trading days of three and five candles. */
const TRADING_DAYS = { ends: Int32Array.of(3, 8), dates: Float64Array.of(0, 86_400_000) };

function runScript(source: string, overrides: Partial<SandboxLimits> = {}): Promise<Outcome<SandboxRun>> {
  const task = taskOver(dailyCandles(CLOSES), { tradingDays: TRADING_DAYS });
  return runInSandbox({
    kind: "script",
    language: "typescript",
    source,
    parametersJson: "{}",
    candlesMin: 1,
    lookbackWanted: null,
    task,
  }, limits(overrides));
}

function limits(overrides: Partial<SandboxLimits>): SandboxLimits {
  return {
    deadlineMs: 120_000,
    memoryBytesMax: SANDBOX_BYTES_MAX,
    onProgress: () => {},
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** The code of a failure, with its message; for other outcomes their type. */
async function endOf(run: Promise<Outcome<SandboxRun>>): Promise<string> {
  const outcome = await run;
  return outcome.type === "failed" ? `${outcome.code}: ${outcome.message}` : outcome.type;
}

Deno.test("a script runs in its process with its log and passes its integrity checks", async () => {
  const outcome = await runScript(deciding('if (i === 1) { orders.buy(); console.log("bought"); }'));
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  expect(outcome.log).toEqual(["bought"]);
  expect(outcome.result.orders.count).toBe(1);
  expect(outcome.integrity.lookahead.status).toBe("passed");
});

Deno.test("a script counts in the trading days of its market", async () => {
  const source = deciding("console.log(this.day.candle[i]);", "this.day = tradingDay(candles.time);");
  const outcome = await runScript(source);
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  expect(outcome.log).toEqual(["0", "1", "2", "0", "1", "2", "3", "4"]);
  expect(outcome.integrity.lookahead.status).toBe("passed");
});

Deno.test("a script runs without V8's compilers, which is where WebAssembly is absent", async () => {
  const source = deciding('if (i === 1) { orders.buy(); console.log("bought"); }');
  const [slow, quick] = [await runScript(source, { jitless: true }), await runScript(source)];
  expect(slow).toEqual(quick);
  const module = await Deno.readFile(new URL("../../../../strategies/examples/c/sma_cross.wasm", import.meta.url));
  const job = { kind: "validate", module, parametersJson: "{}", candlesMin: 1 } as const;
  const signal = new AbortController().signal;
  const limits = {
    deadlineMs: 120_000,
    memoryBytesMax: SANDBOX_BYTES_MAX,
    onProgress: () => {},
    signal,
    jitless: true,
  };
  expect(await runInSandbox(job, limits)).toMatchObject({
    type: "broken",
    message: expect.stringContaining("WebAssembly is not defined"),
  });
});

Deno.test("a script that first reads its orders and trades late finds them, and has decided once on each candle", async () => {
  const source = deciding(`
    console.log("decided", i);
    if (i === 1) orders.buy({ tag: "in" });
    if (i === 2) orders.buy({ limitPrice: 1 });
    if (i === 4) console.log(orders.trades.length, orders.working.length);
    if (i === 6) console.log(orders.trades === orders.trades, Object.isFrozen(orders.trades[0]));`);
  const outcome = await runScript(source);
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  const decided = CLOSES.map((_, i) => `decided ${i}`);
  expect(outcome.log).toEqual([
    ...decided.slice(0, 5),
    "1 1",
    ...decided.slice(5, 7),
    "true true",
    ...decided.slice(7),
  ]);
  expect(outcome.result.orders.tag[0]).toBe("in");
});

/** Endless scripts, and the line that each names. */
const ENDLESS: Readonly<Record<string, readonly [source: string, line: number]>> = {
  "at the top": ["\nfor (;;);", 2],
  "in prepare": [deciding("", "for (;;);"), 2],
  "in decide": [deciding("\n\nfor (const one of [1]) {\n  while (one) if (i > 9) break; }"), 6],
  "in a getter of an option": [deciding("orders.buy({\n get size() { for (;;); } });"), 4],
  "in a regular expression": [deciding('\n/^(a+)+$/.test("a".repeat(60) + "b");'), 4],
};

Deno.test("an endless script ends at its deadline, and names the author's line", async (t) => {
  for (const [name, [source, line]] of Object.entries(ENDLESS)) {
    await t.step(name, async () => {
      const ended = await endOf(runScript(source, { deadlineMs: 1500 }));
      expect(ended).toMatch(new RegExp(`^STRATEGY_TIMED_OUT: .* at strategy\\.ts:${line}:\\d+$`));
    });
  }
});

Deno.test("a script that ends only without marks is ended without a line", async () => {
  const named = `const __hindcastPlaces = 1; ${deciding("for (;;);")}`;
  expect(await endOf(runScript(named, { deadlineMs: 1500 }))).toMatch(/^STRATEGY_TIMED_OUT: .* candles were done$/);
});

Deno.test("a run that ends at its deadline counts the candles that it has decided on, and keeps their log", async () => {
  const source = deciding(
    'console.log("at", i); if (i === 2) void orders.trades.length; if (i === 5) for (;;);',
    'console.log("prepared");',
  );
  let deadlineMs = 1500;
  let outcome = await runScript(source, { deadlineMs });
  // On a busy machine it may not have come to its endless candle by then.
  while (outcome.type === "failed" && !/: 5 candles|candle 5 of/.test(outcome.message) && deadlineMs < 60_000) {
    deadlineMs *= 2;
    outcome = await runScript(source, { deadlineMs });
  }
  expect(outcome).toEqual({
    type: "failed",
    code: "STRATEGY_TIMED_OUT",
    // Where the run may take longer, its decision is ended before.
    message: expect.stringMatching(
      /^Cannot finish within \S+ s: 5 candles were done at strategy\.ts:3:\d+$|at candle 5 of the range/,
    ),
    log: ["prepared", "at 0", "at 1", "at 2", "at 3", "at 4"],
  });
  // A check counts them, too.
  const checked = {
    kind: "check_script",
    language: "typescript",
    source: deciding("if (i === 40) for (;;);"),
  } as const;
  for (deadlineMs = 1500;; deadlineMs *= 2) {
    const ended = await runInSandbox({ ...checked, parametersJson: "{}", candlesMin: 1 }, limits({ deadlineMs }));
    const message = ended.type === "failed" ? ended.message : ended.type;
    if (deadlineMs < 60_000 && !message.includes("40")) continue;
    expect(message).toMatch(/: 40 candles were done|candle 40 of/);
    break;
  }
});

Deno.test("async work that never ends does not keep the run from ending", async () => {
  const source = deciding("if (i === 0) (async () => { for (;;) await null; })();");
  expect(await endOf(runScript(source))).toBe("completed");
});

const GREEDY: Readonly<Record<string, string>> = {
  "a list": deciding("const list = []; for (;;) list.push({ i });"),
  "a text": deciding('let text = "ab"; for (;;) { text += text + "c"; text.codePointAt(9); }'),
  "buffers": deciding("const kept = []; for (;;) kept.push(new Float64Array(8e6).fill(1));"),
  "one buffer": deciding("new Uint8Array(8e9).fill(1);"),
};

Deno.test("a greedy script ends with a failure of its own", async (t) => {
  for (const [name, source] of Object.entries(GREEDY)) {
    await t.step(name, async () => {
      expect(await endOf(runScript(source))).toMatch(/^STRATEGY_(OUT_OF_MEMORY|FAILED)/);
    });
  }
});

Deno.test("a log of a million lines keeps its beginning", async () => {
  const outcome = await runScript(
    // The lines that are kept would take a gigabyte if they kept their texts.
    deciding('if (i === 0) for (let n = 0; n < 1e6; n++) console.log("x".repeat(n < 1000 ? 1e6 : 5000));'),
  );
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  expect(outcome.log).toHaveLength(1000);
  expect(outcome.log.at(-1)).toMatch(/further lines are dropped/);
  expect(outcome.log.every((line) => line.length <= 1024)).toBe(true);
});

const NESTED: Readonly<Record<string, string>> = {
  "parentheses": `${"(".repeat(60_000)}1${")".repeat(60_000)}`,
  "lists": `${"[".repeat(60_000)}${"]".repeat(60_000)}`,
  "negations": `${"!".repeat(120_000)}1`,
  "types": `let a: ${"[".repeat(60_000)}${"]".repeat(60_000)};`,
  "functions": `${"()=>".repeat(40_000)}1`,
  "blocks": `${"{".repeat(60_000)}${"}".repeat(60_000)}`,
  "templates": `${"`${".repeat(40_000)}1${"}`".repeat(40_000)}`,
};

Deno.test("a source that is nested too deeply is its author's fault", async (t) => {
  for (const [name, source] of Object.entries(NESTED)) {
    await t.step(
      name,
      async () =>
        expect(await endOf(runScript(source))).toMatch(
          /^STRATEGY_FAILED: Cannot read the strategy: .* nested too deeply/,
        ),
    );
  }
});

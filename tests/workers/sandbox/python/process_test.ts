/** Python scripts in their process, as a service runs them: endless ones, greedy ones, and those that strain the interpreter's own parts. */
import { expect } from "@std/expect";
import type { Outcome } from "../../../../workers/common/outcome.ts";
import { buildInterpreter } from "../../../../workers/sandbox/python/build_interpreter.ts";
import { runInSandbox, type SandboxLimits } from "../../../../workers/sandbox/process.ts";
import { SANDBOX_BYTES_MAX, type SandboxRun } from "../../../../workers/sandbox/task.ts";
import { dailyCandles, taskOver } from "../wasm/modules.ts";
import { pythonDeciding } from "./python_scripts.ts";

const CLOSES = [10, 11, 12, 11, 13, 14, 12, 15];

await buildInterpreter();

function runPython(source: string, overrides: Partial<SandboxLimits> = {}): Promise<Outcome<SandboxRun>> {
  return runInSandbox({
    kind: "script",
    language: "python",
    source,
    parametersJson: "{}",
    candlesMin: 1,
    lookbackWanted: null,
    task: taskOver(dailyCandles(CLOSES)),
  }, {
    deadlineMs: 120_000,
    memoryBytesMax: SANDBOX_BYTES_MAX,
    onProgress: () => {},
    signal: new AbortController().signal,
    ...overrides,
  });
}

/** The code of a failure, with its message; for other outcomes their type. */
async function endOf(source: string, overrides: Partial<SandboxLimits> = {}): Promise<string> {
  const outcome = await runPython(source, overrides);
  return outcome.type === "failed" ? `${outcome.code}: ${outcome.message}` : outcome.type;
}

Deno.test("a Python script runs in its process with its log and passes its integrity checks", async () => {
  const outcome = await runPython(pythonDeciding('if i == 1: orders.buy(); print("bought")'));
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  expect(outcome.log).toEqual(["bought"]);
  expect(outcome.result.orders.count).toBe(1);
  expect(outcome.integrity.lookahead.status).toBe("passed");
  expect(outcome.integrity.determinism.status).toBe("passed");
});

Deno.test("parameters of a thousand levels are none, and the check has its verdict", async () => {
  const above = `json = crosses_above.__globals__["json"]
dumps = json.dumps
def deep(value):
    return '{"a":' * 9000 + "1" + "}" * 9000 if isinstance(value, dict) and "properties" in value else dumps(value)
json.dumps = deep`;
  const outcome = await runInSandbox({
    ...{ kind: "check_script", language: "python", source: pythonDeciding("pass", "pass", above) },
    ...{ parametersJson: "{}", candlesMin: 1 },
  }, {
    ...{ deadlineMs: 120_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {} },
    signal: new AbortController().signal,
  });
  expect(outcome).toMatchObject({ type: "completed", parameterSchema: null });
});

/**
 * Lines that never end, the first of them the strategy's eighth, and how the run's message ends: by the run's limit, or by that of a
 * decision, whichever a machine comes to first.
 */
const ENDLESS: Readonly<Record<string, readonly [lines: string, end: RegExp]>> = {
  "a loop": ["while True: pass", / at decide \(strategy\.py:8:\d+\)$/],
  "a regular expression": ['import re\nre.match(r"(a+)+$", "a" * 40 + "b")', / at decide \(strategy\.py:9:\d+\)$/],
  "a power": ["10 ** (10 ** 8)", /(candles were done|took more than 2 s)( at decide \(strategy\.py:8:\d+\))?$/],
  "a sum of a generator": ["sum(n for n in iter(int, 1))", / at [<>\w]+ \(strategy\.py:8:\d+\)$/],
  "a loop that catches everything": [
    "while True:\n    try: raise ValueError\n    except BaseException: pass",
    /(candles were done|took more than 2 s)( at decide \(strategy\.py:(8|9|10):\d+\))?$/,
  ],
  "an error that describes itself for ever": [
    `class Slow(Exception):
    def __str__(self):
        while True: pass
raise Slow`,
    /candles were done|took more than 2 s/,
  ],
};

for (const [what, [lines, end]] of Object.entries(ENDLESS)) {
  Deno.test(`${what} without end is ended by its deadline, with its place and its log`, async () => {
    const outcome = await runPython(pythonDeciding(`if i == 0: print("begun")\nif i == 2:\n${indent(lines)}`), {
      deadlineMs: 3000,
    });
    expect(outcome).toMatchObject({
      ...{ type: "failed", code: "STRATEGY_TIMED_OUT", message: expect.stringMatching(end) },
      log: expect.arrayContaining(["begun"]),
    });
  });
}

function indent(lines: string): string {
  return lines.split("\n").map((line) => `    ${line}`).join("\n");
}

/** Lines that want too much, and the end of their run. */
const GREEDY: Readonly<Record<string, RegExp>> = {
  "'a' * (1 << 29)": /^STRATEGY_OUT_OF_MEMORY: Cannot go on at candle 0 .*MemoryError at decide \(strategy\.py:6:9\)/,
  "[0] * (1 << 28)": /^STRATEGY_OUT_OF_MEMORY: .*MemoryError/,
  "self.all = [bytes(1 << 20) for n in range(1000)]": /^STRATEGY_OUT_OF_MEMORY: .*MemoryError/,
  "1 << (1 << 34)": /^STRATEGY_(OUT_OF_MEMORY|FAILED): .*(MemoryError|OverflowError)/,
  "str(10 ** 10000)": /^STRATEGY_FAILED: .*Exceeds the limit \(4300 digits\)/,
  "(lambda f: f(f))(lambda f: f(f))": /^STRATEGY_FAILED: .*RecursionError: maximum recursion depth exceeded/,
  "x = []\nfor n in range(100000): x = [x]\nrepr(x)": /^STRATEGY_FAILED: .*(RecursionError|nested too deeply|broken)/,
  "import re\nre.compile('(' * 5000 + ')' * 5000)":
    /^STRATEGY_FAILED: .*(RecursionError|nested too deeply|error|broken)/,
  "import json\njson.loads('[' * 100000)": /^STRATEGY_FAILED: .*(RecursionError|nested too deeply|broken)/,
  "raise ValueError('x' * (1 << 20))": /^STRATEGY_FAILED: .*ValueError: x{900}/,
  "raise type('E' * 100000, (Exception,), {})('x')": /^STRATEGY_FAILED: .*EEEE/,
};

for (const [lines, end] of Object.entries(GREEDY)) {
  Deno.test(`a strategy that wants too much ends by name: ${lines.slice(0, 40)}`, async () => {
    const ended = await endOf(pythonDeciding(lines), { deadlineMs: 60_000 });
    expect(ended).toMatch(end);
    expect(ended.length).toBeLessThan(2000);
  });
}

/** Sources that strain the compiler. */
const SOURCES: Readonly<Record<string, string>> = {
  "deep parentheses": `x = ${"(".repeat(5000)}1${")".repeat(5000)}`,
  "deep lists": `x = ${"[".repeat(50_000)}`,
  "deep operators": `x = ${"-".repeat(100_000)}1`,
  "deep attributes": `x = a${".a".repeat(60_000)}`,
  "deep blocks": Array.from({ length: 200 }, (_, n) => `${" ".repeat(n)}if True:`).join("\n"),
  "a huge number": `x = ${"9".repeat(200_000)}`,
  "a huge text": `x = "${"a".repeat(200_000)}"`,
  "a sum of many": `x = ${"1+".repeat(100_000)}1`,
  "nulls": "x = 1\0",
  "an f-string in f-strings": `x = ${'f"{'.repeat(200)}1${'}"'.repeat(200)}`,
  "no text at all": "\n",
};

for (const [what, source] of Object.entries(SOURCES)) {
  Deno.test(`a source of ${what} is refused or fails by name`, async () => {
    const ended = await endOf(source, { deadlineMs: 60_000 });
    expect(ended).toMatch(/^STRATEGY_(FAILED|OUT_OF_MEMORY): Cannot (use the script|create the strategy|go on)/);
    expect(ended).not.toMatch(/file:\/\/|\/work|\.ts\b/);
  });
}

Deno.test("endings of objects, generators and a full log do no harm", async () => {
  const lines = `class Last:
    def __del__(self): raise ValueError("late")
Last()
g = (n for n in range(10)); next(g); self.g = g
if i == 1:
    for n in range(5000): print("x" * 5000)`;
  const outcome = await runPython(pythonDeciding(lines));
  expect(outcome.type).toBe("completed");
});

/**
 * Code that has taken its sandbox over and sends what the sandbox never would: a GiB through each channel, or as much as it takes until
 * it is ended. It runs in the real process with the permissions of one. The parent survives, takes little memory, and says why the run
 * failed.
 */
import { expect } from "@std/expect";
import type { Outcome } from "../../../workers/common/outcome.ts";
import { STORED_BYTES_MAX } from "../../../workers/sandbox/contracts/log_bounds.ts";
import { runInSandbox } from "../../../workers/sandbox/process.ts";
import { SANDBOX_BYTES_MAX, type SandboxJob } from "../../../workers/sandbox/task.ts";
import { runJobExchanged } from "./exchanged_worker.ts";
import { deciding } from "./script/scripts.ts";
import { dailyCandles, taskOver, wanderingCloses } from "./wasm/modules.ts";

/** A script has a console of its own. */
const LOG = "console.log";
const GIB = 2 ** 30;
/** The parent's growth meanwhile: a run may have so much for its result, and no more. */
const GROWTH_BYTES_MAX = 400 * 2 ** 20;
/** A log, and the reason. */
const OUTCOME_CHARS_MAX = 2 * STORED_BYTES_MAX;
const REFUSED = /Cannot take what its process sends: |Cannot use more than \d+ MiB of memory|out of memory/;

const TASK = taskOver(dailyCandles(wanderingCloses(200)));
const CODE = { module: new Uint8Array(0), candlesMin: 1 };
const RUN: SandboxJob = { ...CODE, kind: "run", parametersJson: "{}", lookbackWanted: null, task: TASK };
const CHECK: SandboxJob = { ...CODE, kind: "validate", parametersJson: "{}" };
const PATHS: SandboxJob = {
  ...{ ...CODE, kind: "run_paths", parametersJson: "{}", task: TASK },
  ...{ pathSeed: 1, blockLength: 5, from: 0, until: 10 },
};
const TRIALS: SandboxJob = {
  ...{ ...CODE, kind: "run_trials", parametersJson: ["{}", "{}"], task: TASK, lookback: 0, lookbackWanted: 0 },
  ...{ canReload: false, budgetMs: 60_000, returnsMax: 1e6 },
};

/** Writes frames past the sandbox's own code. */
const SEND = `
const write = (bytes) => { for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at)); };
const claim = (headBytes, bodyBytes) => write(new Uint8Array(new Uint32Array([headBytes, bodyBytes]).buffer));
const frame = (json, body = new Uint8Array(0)) => {
  const head = new TextEncoder().encode(json);
  claim(head.length, body.length); write(head); write(body);
};
const send = (value, columns = [], body) => frame(JSON.stringify({ value, columns }), body);
const flood = (value) => { for (let sent = 0; sent < ${GIB}; sent += 100) send(value); };
const zeros = new Uint8Array(2 ** 20);
const x = (count) => "x".repeat(count);
`;

/** Each channel of a process, and what is sent through it. */
const CHANNELS: readonly (readonly [what: string, job: SandboxJob, source: string])[] = [
  ["a GiB of JSON", RUN, `claim(${GIB}, 0); for (let n = 0; n < 1024; n++) write(zeros);`],
  ["a GiB of columns", RUN, `claim(0, ${GIB}); for (let n = 0; n < 1024; n++) write(zeros);`],
  ["memory", CHECK, 'flood({ type: "memory", residentBytes: 1, cpuMs: 1 });'],
  ["progress", RUN, 'flood({ type: "progress", decided: 1, candlesDone: 1, equity: 1 });'],
  ["wishes for candles", RUN, 'flood({ type: "lookback", candles: 5 });'],
  ["logged lines", RUN, 'flood({ type: "log", from: 0, lines: Array(1000).fill(x(1000)) });'],
  ["a long logged line", RUN, 'send({ type: "log", from: 0, lines: [x(2e6)] });'],
  ["many logged lines", RUN, 'send({ type: "log", from: 0, lines: Array(1e5).fill("x") });'],
  ["trials", TRIALS, 'flood({ type: "trial", outcome: { type: "refused" } });'],
  [
    "a trial with long metrics",
    TRIALS,
    'send({ type: "trial", outcome: { type: "failed", code: "NO_DATA", message: x(6e4) } });',
  ],
  ["paths", PATHS, 'flood({ type: "path", outcome: { type: "failed", code: "NO_DATA", message: "x" } });'],
  [
    "a path with many figures",
    PATHS,
    `send({ type: "path", outcome: { type: "completed", curve: null,
    figures: Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [n, n])) } },
    [{ path: ["outcome", "curve"], kind: "Float64Array", offset: 0, length: 1 }], new Uint8Array(8));`,
  ],
  ["a long error", RUN, 'send({ type: "failed", code: "STRATEGY_FAILED", message: x(1e6) });'],
  [
    "an error with a long log",
    CHECK,
    'send({ type: "failed", code: "STRATEGY_FAILED", message: "x", log: Array(1000).fill(x(2000)) });',
  ],
  [
    "an error with many plots",
    RUN,
    `send({ type: "failed", code: "STRATEGY_FAILED", message: "x",
    plots: Array.from({ length: 17 }, () => ({ name: "x", pane: null, values: null })) },
    Array.from({ length: 17 }, (_, n) => ({ path: ["plots", String(n), "values"], kind: "Float64Array", offset: n * 8, length: 1 })),
    new Uint8Array(17 * 8));`,
  ],
  ["a result of no shape", RUN, 'send({ type: "completed", result: { metrics: {}, notes: Array(1e5).fill("x") } });'],
  ["a report of a check", CHECK, 'send({ type: "completed", log: [], report: { notes: Array(1e5).fill("x") } });'],
  [
    "a column that is shown a thousand times",
    RUN,
    `send({ type: "completed", all: Array(1000).fill(null) },
    Array.from({ length: 1000 }, (_, n) => ({ path: ["all", String(n)], kind: "Uint32Array", offset: 0, length: 2 ** 18, texts: ["x"] })),
    zeros);`,
  ],
  [
    "a column in a prototype",
    RUN,
    `send({ type: "completed" },
    [{ path: ["__proto__", "polluted"], kind: "Uint8Array", offset: 0, length: 8 }], new Uint8Array(8));`,
  ],
  [
    "a column of no kind",
    RUN,
    `send({ type: "completed", a: null },
    [{ path: ["a"], kind: "constructor", offset: 0, length: 8 }], new Uint8Array(8));`,
  ],
  ["no JSON", RUN, "claim(8, 0); write(zeros.subarray(0, 8));"],
  ["another type", RUN, 'send({ type: "other" });'],
  [
    "errors of the process",
    RUN,
    `for (let n = 0; n < 1024; n++) {
    for (let at = 0; at < zeros.length;) at += Deno.stderr.writeSync(zeros.subarray(at)); }`,
  ],
];

for (const [what, job, source] of CHANNELS) {
  Deno.test(`a sandbox that was taken over fails alone, whatever it sends: ${what}`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "hindcast-takeover-" });
    try {
      const growth = watchGrowth();
      const outcome = await runJobExchanged(folder, `${SEND} self.onmessage = () => { ${source} };`, job, {
        deadlineMs: 60_000,
      });
      requireFailure(outcome);
      expect(growth.end()).toBeLessThan(GROWTH_BYTES_MAX);
      expect(Reflect.get({}, "polluted")).toBeUndefined();
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Takes hold of the lists of a realm, through a method that adds to them. */
const HOLD = `const held = [];
const { push } = Array.prototype;
Array.prototype.push = function (...values) { held[held.length] = this; return push.apply(this, values); };
const long = () => "x".repeat(2 ** 26);`;

/** Scripts that take their realm over, and what the run then says. */
const REALMS: readonly (readonly [what: string, source: string, message: RegExp])[] = [
  [
    "a logged line of 64 MiB",
    `${HOLD}
    ${deciding(`if (i === 1) { ${LOG}("a"); held.at(-1)[0] = long(); }`)}`,
    /a line of its log has 67108864 characters: at most 1024/,
  ],
  [
    "a logged line that is no text",
    `${HOLD}
    ${deciding(`if (i === 1) { ${LOG}("a"); held.at(-1)[0] = { length: 1 }; }`)}`,
    /a line of its log is no text/,
  ],
  [
    "the name of a plot",
    `${HOLD}
    ${deciding('if (i === 1) { plot("a", 1); for (const list of held) if (list[0] === "a") list[0] = long(); }')}`,
    /a plot's name has 67108864 characters/,
  ],
  [
    "the pane of a plot",
    `${HOLD}
    ${deciding('if (i === 1) { plot("a", 1, "b"); for (const list of held) if (list[0] === "b") list[0] = long(); }')}`,
    /a plot's pane has 67108864 characters/,
  ],
  [
    "a thousand plots",
    `${HOLD}
    ${
      deciding(
        'if (i === 1) { plot("a", 1); for (const list of held) if (list[0] === "a") for (let n = 0; n < 1000; n++) list[n] = "a" + n; }',
      )
    }`,
    /it plots more than 16 series/,
  ],
  [
    "the name of an indicator",
    `${HOLD}
    ${
      deciding(
        "",
        "sma(candles.close, 2); for (const list of held) if (Object(list[0]).name === 'sma') list[0] = { name: long(), inputs: [0], numbers: [2] };",
      )
    }`,
    /its requests are none/,
  ],
  [
    "a million indicators",
    `${HOLD}
    ${
      deciding(
        "",
        "sma(candles.close, 2); for (const list of held) if (Object(list[0]).name === 'sma') for (let n = 1; n < 1e6; n++) list[n] = list[0];",
      )
    }`,
    /its requests are none/,
  ],
  [
    "an indicator that is none",
    `${HOLD}
    ${
      deciding(
        "",
        "sma(candles.close, 2); for (const list of held) if (Object(list[0]).name === 'sma') list[0] = { name: 'rma', inputs: [0], numbers: [2] };",
      )
    }`,
    /Cannot compute rma/,
  ],
  [
    "a period of no candles",
    `${HOLD}
    ${
      deciding(
        "",
        "sma(candles.close, 2); for (const list of held) if (Object(list[0]).name === 'sma') list[0] = { name: 'sma', inputs: [0], numbers: [1e9] };",
      )
    }`,
    /Cannot compute sma with a period of 1000000000/,
  ],
  [
    "the message of an error",
    deciding('String.prototype.slice = long; function long() { return "x".repeat(2 ** 26); } throw new Error("a");'),
    /Cannot go on at candle 0/,
  ],
  [
    "the text of the host's JSON",
    deciding(`JSON.stringify = () => "x".repeat(2 ** 26); ${LOG}({}); throw new Error("a");`),
    /Cannot go on at candle 0 .*Error: a/,
  ],
  [
    "a proxy whose traps throw proxies",
    `const trap = () => { throw made(); };
    const made = () => new Proxy({}, { getPrototypeOf: trap, get: trap, has: trap });
    ${deciding("throw made();")}
    throw made();`,
    /Cannot start: /,
  ],
];

for (const [what, source, message] of REALMS) {
  Deno.test(`a script that takes its realm over fails alone, whatever it holds: ${what}`, async () => {
    const growth = watchGrowth();
    const job = {
      kind: "script",
      language: "typescript",
      source,
      parametersJson: "{}",
      candlesMin: 1,
      lookbackWanted: null,
      task: TASK,
    } as const;
    const outcome = await runInSandbox(job, {
      ...{ deadlineMs: 60_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {} },
      signal: new AbortController().signal,
    });
    expect(outcome).toMatchObject({ type: "failed", code: "STRATEGY_FAILED", message: expect.stringMatching(message) });
    expect(growth.end()).toBeLessThan(GROWTH_BYTES_MAX);
  });
}

function requireFailure(outcome: Outcome<object>): void {
  expect(outcome).toMatchObject({ type: "failed", message: expect.stringMatching(REFUSED) });
  expect(JSON.stringify(outcome).length).toBeLessThan(OUTCOME_CHARS_MAX);
}

/** Watches the most memory that this process takes beyond what it has now. */
function watchGrowth(): { end(): number } {
  const before = Deno.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => most = Math.max(most, Deno.memoryUsage().rss), 20);
  return {
    end() {
      clearInterval(timer);
      return Math.max(most, Deno.memoryUsage().rss) - before;
    },
  };
}

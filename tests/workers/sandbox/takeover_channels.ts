/** The messages of a sandbox's process that was taken over, and the jobs of such processes. */
import type { SandboxJob } from "../../../workers/sandbox/task.ts";
import { dailyCandles, taskOver, wanderingCloses } from "./sandbox_tasks.ts";

const GIB = 2 ** 30;
const TASK = taskOver(dailyCandles(wanderingCloses(200)));
const CODE = { module: new Uint8Array(0), candlesMin: 1 };
const RUN: SandboxJob = { ...CODE, kind: "run", parametersJson: "{}", lookbackWanted: null, task: TASK };
const CHECK: SandboxJob = { ...CODE, kind: "validate", parametersJson: "{}" };
const PATHS: SandboxJob = {
  ...{ ...CODE, kind: "run_paths", parametersJson: "{}", task: TASK },
  ...{ pathSeed: 1, blockLength: 5, from: 0, until: 10 },
};
const PYTHON: SandboxJob = {
  ...{ kind: "script", language: "python", source: "", parametersJson: "{}", candlesMin: 1, lookbackWanted: null },
  task: TASK,
};
const TRIALS: SandboxJob = {
  ...{ ...CODE, kind: "run_trials", parametersJson: ["{}", "{}"], task: TASK, lookback: 0, lookbackWanted: 0 },
  ...{ canReload: false, budgetMs: 60_000, returnsMax: 1e6 },
};
const market = (symbol: string) => ({
  ...{ id: `${symbol}@LAB`, symbol, exchange: "LAB", candles: TASK.candles, firstIndex: 0 },
});
const MARKETS: SandboxJob = {
  ...{ ...CODE, kind: "run_markets", parametersJson: "{}", lookbackWanted: null },
  task: {
    ...{ markets: ["A", "B"].map((symbol) => market(symbol)), positionsMax: 2, rank: "listed", seed: 1 },
    ...{
      initialBalance: TASK.initialBalance,
      execution: TASK.execution,
      assetClass: "crypto",
      timeframeMs: 86_400_000,
    },
  },
};

/** Writes frames past the sandbox's own code. */
export const SEND = `
const write = (bytes) => { for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at)); };
const claim = (headBytes, bodyBytes) => write(new Uint8Array(new Uint32Array([headBytes, bodyBytes]).buffer));
const frame = (json, body = new Uint8Array(0)) => {
  const head = new TextEncoder().encode(json);
  claim(head.length, body.length); write(head); write(body);
};
const send = (value, columns = [], body) => frame(JSON.stringify({ value, columns }), body);
const flood = (value) => { for (let sent = 0; sent < ${GIB}; sent += 100) send(value); };
const zeros = new Uint8Array(2 ** 20);
/** A frame of one part again and again, which itself takes no memory. */
const repeat = (before, part, count, after) => {
  const [first, each, last] = [before, part.repeat(1000), after].map((text) => new TextEncoder().encode(text));
  claim(first.length + each.length * (count / 1000) + last.length, 0);
  write(first);
  for (let n = 0; n < count; n += 1000) write(each);
  write(last);
};
const x = (count) => "x".repeat(count);
`;

/** Each channel of a process, and what is sent through it. */
export const CHANNELS: readonly (readonly [what: string, job: SandboxJob, source: string])[] = [
  ["a GiB of JSON", RUN, `claim(${GIB}, 0); for (let n = 0; n < 1024; n++) write(zeros);`],
  ["a GiB of columns", RUN, `claim(0, ${GIB}); for (let n = 0; n < 1024; n++) write(zeros);`],
  ["memory", CHECK, 'flood({ type: "memory", residentBytes: 1, cpuMs: 1 });'],
  [
    "progress",
    RUN,
    'flood({ type: "progress", decided: 1, deciding: { calls: 1, candle: 1 }, candlesDone: 1, equity: 1 });',
  ],
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
  ["a GiB of JSON, from Python", PYTHON, `claim(${GIB}, 0); for (let n = 0; n < 1024; n++) write(zeros);`],
  ["logged lines, from Python", PYTHON, 'flood({ type: "log", from: 0, lines: Array(1000).fill(x(1000)) });'],
  ["a long error, from Python", PYTHON, 'send({ type: "failed", code: "STRATEGY_FAILED", message: x(1e6) });'],
  [
    "a result of no shape, from Python",
    PYTHON,
    'send({ type: "completed", result: { metrics: {}, notes: Array(1e5).fill("x") } });',
  ],
  ["a GiB of JSON, from many markets", MARKETS, `claim(${GIB}, 0); for (let n = 0; n < 1024; n++) write(zeros);`],
  ["a GiB of columns, from many markets", MARKETS, `claim(0, ${GIB}); for (let n = 0; n < 1024; n++) write(zeros);`],
  [
    "logged lines, from many markets",
    MARKETS,
    'flood({ type: "log", from: 0, lines: Array(1000).fill(x(1000)) });',
  ],
  ["a long error, from many markets", MARKETS, 'send({ type: "failed", code: "STRATEGY_FAILED", message: x(1e6) });'],
  [
    "many plots, from many markets",
    MARKETS,
    `send({ type: "failed", code: "STRATEGY_FAILED", message: "x",
    plots: Array.from({ length: 17 }, () => ({ market: 0, name: "x", pane: null, values: null })) },
    Array.from({ length: 17 }, (_, n) => ({ path: ["plots", String(n), "values"], kind: "Float64Array", offset: n * 8, length: 1 })),
    new Uint8Array(17 * 8));`,
  ],
  [
    "a result of no shape, from many markets",
    MARKETS,
    'send({ type: "completed", result: { metrics: {}, notes: Array(1e5).fill("x") } });',
  ],
  [
    "notes that are none",
    RUN,
    `repeat('{"value":{"type":"completed","integrity":{},"result":{"notes":[', "0,", 14e6, '0]}},"columns":[]}');`,
  ],
  ["a list of objects", RUN, `repeat('{"value":{"type":"other","all":[', "{},", 9e6, '0]},"columns":[]}');`],
  [
    "metrics with many names",
    RUN,
    `const names = Array.from({ length: 3e5 }, (_, n) => '"n' + n + '":{},').join("");
    frame('{"value":{"type":"completed","integrity":{},"result":{"metrics":{' + names + '"x":0}}},"columns":[]}');`,
  ],
  [
    "columns of no rows",
    RUN,
    `repeat('{"value":{"type":"other"},"columns":[', '{"kind":"Uint8Array","offset":0,"length":0,"path":["a"]},', 5e5, '0]}');`,
  ],
  [
    "a long column of texts",
    RUN,
    `const head = new TextEncoder().encode('{"value":{"type":"other","a":null},"columns":[' +
      '{"path":["a"],"kind":"Uint32Array","offset":0,"length":12582912,"texts":["x"]}]}');
    claim(head.length, 48 * 2 ** 20);
    write(head);
    for (let n = 0; n < 48; n++) write(zeros);`,
  ],
  ["lists in lists", RUN, `repeat('{"value":', "[", 28e6, "");`],
  ["no JSON", RUN, "claim(8, 0); write(zeros.subarray(0, 8));"],
  ["another type", RUN, 'send({ type: "other" });'],
  [
    "errors of the process",
    RUN,
    `for (let n = 0; n < 1024; n++) {
    for (let at = 0; at < zeros.length;) at += Deno.stderr.writeSync(zeros.subarray(at)); }`,
  ],
];

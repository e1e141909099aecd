/**
 * The loop of a strategy's author, beside its goals:
 *
 * - From the save of a script to its result in the terminal, over a year of hours, under `strategy run --watch`.
 * - From the submission of an unsaved script to its completed backtest over a year of hours, as the console's editor does it.
 * - The integrity checks beside the whole run in its process, from short runs to a year of minutes.
 *
 * `deno run --allow-all bench/author_bench.ts [rounds]`
 */
import { taskArguments } from "../cli/service.ts";
import { openPglite } from "../db/client.ts";
import type { Candles } from "../engine/candles.ts";
import { resolveExecution } from "../engine/execution.ts";
import { run } from "../engine/run.ts";
import { startProcess } from "../tests/support/process.ts";
import { seriesOf } from "../workers/sandbox/candle_series.ts";
import { checkIntegrity, cutCandles } from "../workers/sandbox/integrity.ts";
import { runInSandbox } from "../workers/sandbox/process.ts";
import { compileScript } from "../workers/sandbox/script/compile.ts";
import { ScriptGuest } from "../workers/sandbox/script/guest.ts";
import { ScriptStrategy } from "../workers/sandbox/script/strategy.ts";
import { SANDBOX_BYTES_MAX, type ScriptJob } from "../workers/sandbox/task.ts";
import { median } from "./measure.ts";
import { archiveYears, readYear } from "./run_path_cases.ts";

const ROUNDS = Number(Deno.args[0] ?? 7);
const WATCH_GOAL_MS = 500;
const EDITOR_GOAL_MS = 1000;
const INTEGRITY_GOAL = 0.1;
const HOUR_MS = 3_600_000;
const COUNTS = [250, 2000, 8760, 525_600];
const ROOT = new URL("..", import.meta.url).pathname;

const year = readYear();
const folder = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
try {
  await measureWatch();
  await measureEditor();
  for (const count of COUNTS) await measureIntegrity(count);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** A cross of two means, which logs the text when it is made. */
function scriptOf(text: string): string {
  return `strategy(() => ({
  warmup: 30,
  prepare({ close }) {
    const { log } = console;
    log(${JSON.stringify(text)});
    this.fast = sma(close, 10);
    this.slow = sma(close, 30);
  },
  decide(i, _candles, account, orders) {
    const isAbove = this.fast[i] > this.slow[i];
    if (isAbove && account.quantity === 0) orders.buy();
    else if (!isAbove && account.quantity > 0) orders.close();
  },
}));`;
}

async function measureWatch(): Promise<void> {
  const [script, data] = [`${folder}/cross.ts`, `${folder}/hours.csv`];
  await Deno.writeTextFile(data, csvOf(year.candles["1h"]));
  await Deno.writeTextFile(script, scriptOf("save 0"));
  const watching = new Deno.Command(Deno.execPath(), {
    args: [...taskArguments("strategy", ".data"), "run", script, "--data", data, "--watch"],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = watching.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await readUntil(reader, "Watching");
  const times: number[] = [];
  for (let save = 1; save <= ROUNDS; save++) {
    const begun = performance.now();
    await Deno.writeTextFile(script, scriptOf(`save ${save}`));
    await readUntil(reader, `save ${save}`);
    times.push(performance.now() - begun);
  }
  watching.kill("SIGKILL");
  await reader.cancel();
  await watching.status;
  await say(`--watch, from save to result, a year of hours: ${ms(median(times))}, goal ${WATCH_GOAL_MS} ms`);
}

async function readUntil(reader: ReadableStreamDefaultReader<string>, wanted: string): Promise<void> {
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += part.value;
    if (text.includes(wanted)) return;
  }
  throw new Error(`It ended before it said ${wanted}: ${text}`);
}

async function measureEditor(): Promise<void> {
  const DATA_DIR = `${folder}/data`;
  await Deno.mkdir(DATA_DIR, { mode: 0o700 });
  const handle = await openPglite(`${DATA_DIR}/database`);
  await archiveYears(handle.db, year);
  await handle.close();
  const service = await startProcess("serve", { DATA_DIR, WORKERS: "2" });
  try {
    const client = service.client();
    await client.signUp();
    const times: number[] = [];
    for (let round = 0; round <= ROUNDS; round++) {
      const runtime = { type: "script", language: "typescript", source: scriptOf(`round ${round}`) };
      const range = { start_date: "2024-01-01", end_date: "2025-01-01" };
      const own = { strategy: "SMA Cross", initial_balance: 10_000, parameters: { timeframe: "1h", runtime } };
      const begun = performance.now();
      const submitted = await client.send("POST", "/api/backtests", {
        backtest: { symbol: "WARM", exchange: "BENCH", ...range, ...own },
      });
      const ended = await client.get(`/api/backtests/${submitted.at("/backtest/id")}?wait=30`);
      times.push(performance.now() - begun);
      if (ended.at("/backtest/status") !== "completed") throw new Error(`Cannot measure: ${ended.text}`);
    }
    const [first = NaN, ...again] = times;
    await say(
      `An unsaved script, from submission to result, a year of hours: ${ms(median(again))}, the first time ` +
        `${ms(first)}, goal ${EDITOR_GOAL_MS} ms`,
    );
  } finally {
    await service.end("SIGTERM");
  }
}

async function measureIntegrity(count: number): Promise<void> {
  const candles = cutCandles(year.candles["1m"], count);
  const script = await compileScript(scriptOf("checked"));
  const settings = {
    candles,
    firstIndex: 0,
    initialBalance: 10_000,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: HOUR_MS,
    assetClass: "crypto" as const,
    finer: null,
  };
  const job: ScriptJob = {
    kind: "script",
    source: scriptOf("checked"),
    parametersJson: "{}",
    candlesMin: 1,
    lookbackWanted: null,
    task: { ...settings, seed: 1 },
  };
  const [checks, wholes]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    const again = (until: number) => {
      const strategy = new ScriptStrategy(() => new ScriptGuest(script, "{}", seriesOf(job.task)), 1);
      return run({ ...settings, candles: cutCandles(candles, until), strategy, control: null });
    };
    const result = again(count);
    const checked = performance.now();
    checkIntegrity(again, { result, time: candles.time, close: candles.close, firstIndex: 0, seed: 1 });
    checks.push(performance.now() - checked);
    const limits = { deadlineMs: 60_000, memoryBytesMax: SANDBOX_BYTES_MAX, onProgress: () => {} };
    const begun = performance.now();
    const outcome = await runInSandbox(job, { ...limits, signal: new AbortController().signal });
    wholes.push(performance.now() - begun);
    if (outcome.type !== "completed") throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
  }
  const share = median(checks) / median(wholes);
  await say(
    `Integrity, ${count.toLocaleString("en")} candles: ${ms(median(checks))} of the ${ms(median(wholes))} of its ` +
      `process, ${(100 * share).toFixed(1)} %, goal ${100 * INTEGRITY_GOAL} %`,
  );
}

function csvOf({ time, open, high, low, close, volume }: Candles): string {
  const lines = Array.from(
    time,
    (ms, i) => [new Date(ms).toISOString(), open[i], high[i], low[i], close[i], volume[i]].join(","),
  );
  return `timestamp,open,high,low,close,volume\n${lines.join("\n")}\n`;
}

function ms(value: number): string {
  return `${value.toFixed(value < 10 ? 1 : 0)} ms`;
}

async function say(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}

/**
 * Many short script runs in one worker, one after the other: the memory, files and processes that are left after each hundred.
 *
 * `deno run --allow-all tests/workers/backtest/short_runs.ts [runs]`
 */
import { resolveExecution } from "../../../engine/execution.ts";
import { Runner } from "../../../workers/backtest/runner.ts";
import { SAMPLE_TIMEFRAME_MS, sampleCandles } from "../../../workers/sandbox/sample_candles.ts";

const runs = Number(Deno.args[0] ?? 500);
const PARTS = 5;
const MIB = 2 ** 20;
const GROWTH_MIB_MAX = 16;
const SOURCE = `strategy(() => ({
  warmup: 21,
  prepare({ close }) { this.mean = sma(close, 20); },
  decide(i, { close }, account, orders) {
    if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy();
    else if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
  },
}));`;

const task = {
  candles: sampleCandles(),
  firstIndex: 0,
  initialBalance: 10_000,
  execution: resolveExecution({}, "crypto"),
  timeframeMs: SAMPLE_TIMEFRAME_MS,
  assetClass: "crypto",
  finer: null,
  seed: 1,
} as const;
const job = {
  kind: "script",
  language: "typescript",
  source: SOURCE,
  parametersJson: "{}",
  candlesMin: 1,
  lookbackWanted: null,
  task,
} as const;

/** The memory, files and child processes of this process. */
interface Holdings {
  readonly residentMib: number;
  readonly files: number;
  readonly processes: number;
}

const runner = new Runner(1, { allow: new Set() }, { typescript: "on", python: "on" });
const held: Holdings[] = [];
for (let run = 0; run < runs; run++) {
  const limits = { deadlineMs: 60_000, waitMs: 60_000, signal: new AbortController().signal, onProgress: () => {} };
  const outcome = await runner.run({ kind: "code", job }, limits);
  if (outcome.type !== "completed") throw new Error(`Cannot run the script: ${JSON.stringify(outcome)}`);
  if ((run + 1) % Math.ceil(runs / PARTS) === 0 || run + 1 === runs) held.push(await look(run + 1));
}
runner.close();
// The first part fills caches and compiles.
const [first, last] = [held[0]!, held.at(-1)!];
const growth = last.residentMib - first.residentMib;
const isFlat = growth <= GROWTH_MIB_MAX && last.files === first.files && last.processes === first.processes;
await print(
  `${isFlat ? "flat" : "NOT FLAT"}: ${
    growth.toFixed(1)
  } MiB more (goal: ${GROWTH_MIB_MAX} at most), files and processes the same`,
);
if (!isFlat) Deno.exitCode = 1;

async function look(run: number): Promise<Holdings> {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect === "function") collect();
  const holdings = {
    residentMib: Deno.memoryUsage().rss / MIB,
    files: [...Deno.readDirSync("/proc/self/fd")].length,
    processes: countChildren(),
  };
  const { residentMib, files, processes } = holdings;
  await print(`after ${run} runs: ${residentMib.toFixed(1)} MiB, ${files} files, ${processes} child processes`);
  return holdings;
}

function countChildren(): number {
  const tasks = [...Deno.readDirSync("/proc/self/task")];
  return tasks.reduce((sum, { name }) => {
    const children = Deno.readTextFileSync(`/proc/self/task/${name}/children`).trim();
    return sum + (children === "" ? 0 : children.split(" ").length);
  }, 0);
}

async function print(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}

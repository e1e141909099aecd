/**
 * Scripts in Python:
 *
 * - a cross over a year of minutes, in processor time, beside native CPython that makes the same calls over the same columns;
 * - the start of a process to the end of a short run, by the clock, beside a script in TypeScript, and the same where both
 *   processes have waited for it, as in a service;
 * - the check before a registration, in a process that waited;
 * - trials of a year of hours, each of which begins with the same memory, beside native CPython's calls alone.
 *
 * `deno run --allow-all bench/python_bench.ts [rounds]` builds the interpreter where it has to, and needs `python3`.
 */
import { resolveExecution } from "../engine/execution.ts";
import { run } from "../engine/run.ts";
import { seriesOf } from "../workers/sandbox/candle_series.ts";
import { runInSandbox } from "../workers/sandbox/process.ts";
import { buildInterpreter } from "../workers/sandbox/python/build_interpreter.ts";
import { compilePython } from "../workers/sandbox/python/compile.ts";
import { readInterpreter } from "../workers/sandbox/interpreter_files.ts";
import { resume } from "../workers/sandbox/python/interpreter.ts";
import type { CompiledScript } from "../workers/sandbox/script/guest.ts";
import { ScriptGuest } from "../workers/sandbox/script/guest.ts";
import { ScriptStrategy } from "../workers/sandbox/script/strategy.ts";
import { Spares } from "../workers/sandbox/spares.ts";
import { SANDBOX_BYTES_MAX, type ScriptLanguage } from "../workers/sandbox/task.ts";
import { measureCpu, median, report } from "./measure.ts";
import { makeWalk } from "./random_walk.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MINUTES = 525_600;
const HOURS = 8_760;
const TRIALS = 200;
const IDLE_MS = 2000;
const CHECK_MS_MAX = 2000;
const ROUNDS = Number(Deno.args[0] ?? 5);

const CROSS = `class Cross(Strategy):
    fast: int = 10
    slow: int = 30
    def prepare(self, candles):
        self.quick = sma(candles.close, self.fast)
        self.calm = sma(candles.close, self.slow)
    def decide(self, i, candles, account, orders):
        if crosses_above(self.quick, self.calm, i): orders.buy()
        elif crosses_below(self.quick, self.calm, i): orders.close()
`;
const TYPESCRIPT = `strategy(({ fast = 10, slow = 30 }) => ({
  prepare({ close }) { this.quick = sma(close, fast); this.calm = sma(close, slow); },
  decide(i, candles, account, orders) {
    if (crossesAbove(this.quick, this.calm, i)) orders.buy();
    else if (crossesBelow(this.quick, this.calm, i)) orders.close();
  },
}));`;
/** Calls the strategy's text as a sandbox does: columns in memory, two functions of crossing, orders that are counted. */
const NATIVE = `import array, sys, time
count, times = int(sys.argv[1]), int(sys.argv[2])
class Strategy: pass
class Orders:
    placed = 0
    def buy(self, **options): self.placed += 1
    close = buy
def crosses_above(a, b, i):
    if not a[i] > b[i]: return False
    before = i - 1
    while before >= 0 and a[before] == b[before]: before -= 1
    return before >= 0 and a[before] < b[before]
def crosses_below(a, b, i): return crosses_above(b, a, i)
exec(sys.stdin.read())
closes = array.array("d", open(sys.argv[3], "rb").read())
def sma(values, period):
    sums, total = array.array("d", bytes(8 * count)), 0.0
    for i in range(count):
        total += closes[i] - (closes[i - period] if i >= period else 0.0)
        sums[i] = total / period if i >= period - 1 else float("nan")
    return memoryview(sums)
class Candles: close = memoryview(closes)
strategy = Cross(); strategy.prepare(Candles)
decide, orders, begun = strategy.decide, Orders(), time.process_time()
for n in range(times):
    for i in range(29, count): decide(i, Candles, None, orders)
print(1000 * (time.process_time() - begun))
`;

await buildInterpreter();
const script = compilePython(CROSS, resume(readInterpreter()));
await compareYear();
await compareStarts();
await compareTrials();
await measureCheck();

async function compareYear(): Promise<void> {
  const settings = settingsOf(MINUTES, MINUTE_MS);
  const samples = await alternate(() => runOnce(script, settings), () => runNative(MINUTES, 1, settings));
  await reportRatio("a cross over a year of minutes", samples, "native CPython", 1.5);
}

async function compareTrials(): Promise<void> {
  const settings = settingsOf(HOURS, HOUR_MS);
  const trials = () => {
    for (let n = 0; n < TRIALS; n++) runOnce(script, settings);
  };
  const samples = await alternate(trials, () => runNative(HOURS, TRIALS, settings));
  await reportRatio(`${TRIALS} trials of a year of hours`, samples, "native CPython's calls", 1.5);
}

async function measureCheck(): Promise<void> {
  const spares = new Spares();
  const samples: number[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    await new Promise((resume) => setTimeout(resume, IDLE_MS));
    const begun = performance.now();
    const outcome = await runInSandbox(
      { kind: "check_script", language: "python", source: CROSS, parametersJson: "{}", candlesMin: 1 },
      {
        deadlineMs: 60_000,
        memoryBytesMax: SANDBOX_BYTES_MAX,
        onProgress() {},
        signal: new AbortController().signal,
        spares,
      },
    );
    if (outcome.type !== "completed") throw new Error(`Cannot check a script: ${JSON.stringify(outcome)}`);
    // The first finds no process that waits.
    if (round >= 0) samples.push(performance.now() - begun);
  }
  await spares.close();
  const goal = { of: "ours", most: CHECK_MS_MAX } as const;
  await report({ measure: "python: the check of a registration", ours: median(samples), goal });
}

async function compareStarts(): Promise<void> {
  const task = { ...settingsOf(64, HOUR_MS), tradingDays: null, finer: null, seed: 1 };
  const start = async (language: ScriptLanguage, source: string, spares?: Spares) => {
    const begun = performance.now();
    const outcome = await runInSandbox(
      { kind: "script", language, source, parametersJson: "{}", candlesMin: 30, lookbackWanted: null, task },
      {
        deadlineMs: 60_000,
        memoryBytesMax: SANDBOX_BYTES_MAX,
        onProgress() {},
        signal: new AbortController().signal,
        spares,
      },
    );
    if (outcome.type !== "completed") throw new Error(`Cannot start a script: ${JSON.stringify(outcome)}`);
    return performance.now() - begun;
  };
  const samples: Samples = { ours: [], other: [] };
  for (let round = 0; round < ROUNDS; round++) {
    samples.ours.push(await start("python", CROSS));
    samples.other.push(await start("typescript", TYPESCRIPT));
  }
  await reportRatio("start of a process to the end of 64 candles", samples, "TypeScript", 2);
  const waiting: Samples = { ours: [], other: [] };
  for (const [name, language, source] of [["ours", "python", CROSS], ["other", "typescript", TYPESCRIPT]] as const) {
    const spares = new Spares();
    await start(language, source, spares);
    for (let round = 0; round < ROUNDS; round++) {
      // Nothing tells when a process has all that it needs.
      await new Promise((resume) => setTimeout(resume, IDLE_MS));
      waiting[name].push(await start(language, source, spares));
    }
    await spares.close();
  }
  await reportRatio("a process that waited, to the end of 64 candles", waiting, "TypeScript", 2);
}

interface Samples {
  readonly ours: number[];
  readonly other: number[];
}

type Settings = ReturnType<typeof settingsOf>;

async function alternate(ours: () => void, other: () => Promise<number>): Promise<Samples> {
  const samples: Samples = { ours: [], other: [] };
  for (let round = 0; round < ROUNDS; round++) {
    samples.ours.push(measureCpu(ours));
    samples.other.push(await other());
  }
  return samples;
}

function runOnce(compiled: CompiledScript, settings: Settings): void {
  const makeGuest = () => new ScriptGuest(compiled, "{}", seriesOf(settings));
  run({ ...settings, strategy: new ScriptStrategy(makeGuest, 30), control: null });
}

/** Processor milliseconds of native CPython for a number of rounds of decisions. */
async function runNative(count: number, times: number, { candles }: Settings): Promise<number> {
  const file = await Deno.makeTempFile();
  await Deno.writeFile(file, new Uint8Array(candles.close.buffer));
  const child = new Deno.Command("python3", {
    args: ["-c", NATIVE, String(count), String(times), file],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(CROSS));
  await writer.close();
  const { stdout } = await child.output();
  await Deno.remove(file);
  return Number(new TextDecoder().decode(stdout));
}

async function reportRatio(measure: string, { ours, other }: Samples, name: string, most: number): Promise<void> {
  const reference = { name, value: median(other) };
  await report({ measure: `python: ${measure}`, ours: median(ours), reference, goal: { of: "ratio", most } });
}

function settingsOf(count: number, timeframeMs: number) {
  return {
    candles: makeWalk(count, timeframeMs),
    firstIndex: 0,
    initialBalance: 1_000_000,
    execution: resolveExecution({ commission: 0 }, "crypto"),
    timeframeMs,
    assetClass: "crypto" as const,
  };
}

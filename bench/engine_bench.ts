/**
 * Measures the simulator beside the same rules in plain C (engine_bench.c, compiled here by `cc`) on a million candles of
 * one minute. Both run in turn on the same candles; the figures are medians of processor time and their ratio.
 *
 * `deno run --allow-all bench/engine_bench.ts [runs]`. Without a C compiler the simulator is measured alone.
 *
 * `simulate` is the work of both: averages (summed in pairs and rounded once), decisions, fills, fees, trades with their
 * worst and best prices, orders, equity and position, all in memory as in a result. `run` adds every metric, which C does
 * not compute. Both must end at the same equity after the same number of trades. Processor time is fair on a busy machine;
 * the simulator's includes the garbage collector's threads. C takes a third of its time to get memory from the kernel, as
 * much as a kept result costs. The simulator mostly clears columns that the collector has freed. `C with memory reused`
 * and `simulate with buffers reused` do neither: a long-lived worker's columns come back once a result is encoded.
 *
 * The aim is a ratio of 1.5 (sma-cross) and 2 (with stops), both with memory reused. It is missed: two quiet runs gave 3.0
 * and 2.5 for sma-cross, 2.5 with a fee, 3.5 and 3.1 with stops, 3.5 and 3.8 for the RSI with stops, and 6.0 and 5.7 with
 * random orders, of which C holds one at a time and the simulator a book. Runs differ by a third. By a profile of
 * sma-cross, a quarter of the time goes to averages, which are as fast as in C, an eighth to waits for memory, a tenth to
 * worst and best prices, and the rest to some 20 functions.
 */
import process from "node:process";
import type { Candles } from "../engine/candles.ts";
import { BufferPool } from "../engine/buffer_pool.ts";
import { resolveExecution } from "../engine/execution.ts";
import { run, simulate } from "../engine/run.ts";
import { newDraft, type Strategy } from "../engine/strategy.ts";
import { rsiReversion } from "../strategies/builtin/rsi_reversion.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";
import { median } from "./measure.ts";

const CANDLES = 1_000_000;
const MINUTE_MS = 60_000;
const BALANCE = 1_000_000;
const RUNS = Number(Deno.args[0] ?? 9);
/** Runs of each case before the measurement: in a worker that runs many backtests, all code is compiled. */
const WARM_UPS = 5;
/** Enough for all columns of one run. */
const POOL_BYTES_MAX = 1 << 28;

interface Case {
  readonly name: string;
  readonly strategy: "sma" | "rsi" | "random";
  readonly fee: number;
  readonly stopLossLevel: number;
  readonly takeProfitLevel: number;
  /** The goal for buffers reused / C with memory reused; null: none is set. */
  readonly goal: number | null;
}

const STOPS = { fee: 0, stopLossLevel: 0.002, takeProfitLevel: 0.004, goal: 2 };
const CASES: readonly Case[] = [
  { name: "sma-cross", strategy: "sma", fee: 0, stopLossLevel: 0, takeProfitLevel: 0, goal: 1.5 },
  { name: "sma-cross with a fee", strategy: "sma", fee: 0.00001, stopLossLevel: 0, takeProfitLevel: 0, goal: null },
  { name: "sma-cross with stops", strategy: "sma", ...STOPS },
  { name: "rsi-reversion with stops", strategy: "rsi", ...STOPS },
  { name: "random orders with stops", strategy: "random", ...STOPS, goal: null },
];

/**
 * Seeded random orders: at one close of 16 all working orders are cancelled, and a market, limit or stop order (or none)
 * against the open position replaces them.
 */
function randomOrders({ stopLossLevel, takeProfitLevel }: Case): Strategy {
  const draft = { ...newDraft(), stopLossFraction: stopLossLevel, takeProfitFraction: takeProfitLevel };
  let close: Float64Array = new Float64Array(0);
  let state = 1;
  return {
    warmup: 1,
    prepare(candles) {
      close = candles.close;
      state = 1;
    },
    decide(i, account, book) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      if (state >>> 28 !== 0) return;
      book.cancelAll();
      const kind = state >>> 26 & 3;
      if (kind === 0) return;
      const side = account.quantity > 0 ? -1 : account.quantity < 0 ? 1 : (state >>> 25 & 1) === 1 ? 1 : -1;
      const away = close[i]! * (state >>> 9 & 0xffff) * 2 ** -24;
      draft.side = side;
      draft.type = kind - 1;
      draft.limitPrice = close[i]! - side * away;
      draft.stopPrice = close[i]! + side * away;
      book.place(draft);
    },
  };
}

function strategyOf(test: Case): Strategy {
  const { stopLossLevel, takeProfitLevel } = test;
  const common = { direction: "both", stopLossLevel, takeProfitLevel };
  if (test.strategy === "sma") return smaCross.create({ fast: 10, slow: 30, ...common });
  if (test.strategy === "rsi") {
    return rsiReversion.create({ period: 14, oversold: 30, overbought: 70, exit: 50, ...common });
  }
  return randomOrders(test);
}

/** A seeded random walk without gaps. */
function walkCandles(): Candles {
  const column = () => new Float64Array(CANDLES);
  const candles = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  let state = 12345;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
  let price = 100;
  for (let i = 0; i < CANDLES; i++) {
    const close = price * (1 + (random() - 0.5) * 0.004);
    candles.time[i] = i * MINUTE_MS;
    candles.open[i] = price;
    candles.close[i] = close;
    candles.high[i] = Math.max(price, close) * (1 + random() * 0.001);
    candles.low[i] = Math.min(price, close) * (1 - random() * 0.001);
    candles.volume[i] = 100;
    price = close < 20 || close > 500 ? 100 : close;
  }
  return candles;
}

function inputOf(candles: Candles, test: Case, pool: BufferPool | null) {
  return {
    candles,
    firstIndex: 0,
    timeframeMs: MINUTE_MS,
    initialBalance: BALANCE,
    execution: resolveExecution({ commission: test.fee, marginCall: false }, "crypto"),
    strategy: strategyOf(test),
    control: null,
    finer: null,
    pool,
  };
}

type Input = ReturnType<typeof inputOf>;

/** The end of a run, which must be the same in C. */
interface End {
  readonly equity: number;
  readonly trades: number;
}

/** The part of a run that C does, too, with its trades as columns. */
function simulateAlone(input: Input): End {
  const { ledger, orders } = simulate(input, input.execution, null);
  const { tag } = orders.finish();
  ledger.log.finish(tag);
  const end = { equity: ledger.equity, trades: ledger.log.count - ledger.open.count };
  input.pool?.reclaim(new Set());
  return end;
}

function warmUp(candles: Candles): void {
  for (const test of CASES) {
    for (const pool of [null, new BufferPool(POOL_BYTES_MAX)]) {
      const input = inputOf(candles, test, pool);
      for (let k = 0; k < WARM_UPS; k++) {
        simulateAlone(input);
        run(input);
        pool?.reclaim(new Set());
      }
    }
  }
}

/** Processor time of all threads. */
function measureMs<T>(work: () => T): { ms: number; end: T } {
  const before = process.cpuUsage();
  const end = work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, end };
}

/** Compiles the C program; null where there is no compiler. */
async function compile(folder: string): Promise<string | null> {
  const source = new URL("engine_bench.c", import.meta.url).pathname;
  const program = `${folder}/engine_bench`;
  try {
    const args = ["-O3", "-march=native", "-ffp-contract=off", "-o", program, source, "-lm"];
    const { success } = await new Deno.Command("cc", { args }).output();
    return success ? program : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function writeCandles(path: string, { time, open, high, low, close }: Candles): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  for (const column of [Float64Array.of(CANDLES), time, open, high, low, close]) {
    let bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
    while (bytes.length > 0) bytes = bytes.subarray(await file.write(bytes));
  }
}

/** One run of the C program. */
async function runC(program: string, data: string, test: Case, reuse: boolean): Promise<{ ms: number; end: End }> {
  const levels = [test.fee, test.stopLossLevel, test.takeProfitLevel].map(String);
  const args = [data, test.strategy, "3", reuse ? "1" : "0", ...levels];
  const { stdout } = await new Deno.Command(program, { args }).output();
  // The first runs warm up the pages of the candles; the simulator's are warm already.
  const [, , ms = "", end = ""] = new TextDecoder().decode(stdout).trim().split("\n");
  const [equity, trades] = end.split(" ").map(Number);
  return { ms: Number(ms), end: { equity: equity!, trades: trades! } };
}

async function print(rows: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<void> {
  const lines = Object.entries(rows).map(([name, cells]) =>
    `${name}: ${Object.entries(cells).map(([key, value]) => `${key} ${value}`).join(", ")}\n`
  );
  await Deno.stdout.write(new TextEncoder().encode(lines.join("")));
}

function checkSame(simulated: End, c: End): void {
  if (Math.abs(simulated.equity - c.equity) <= 1e-9 * c.equity && simulated.trades === c.trades) return;
  throw new Error(
    `Cannot compare speeds: the simulator ends at ${JSON.stringify(simulated)}, and C at ${JSON.stringify(c)}`,
  );
}

async function measureCase(candles: Candles, test: Case, program: string | null, data: string) {
  const input = inputOf(candles, test, null);
  const pooled = inputOf(candles, test, new BufferPool(POOL_BYTES_MAX));
  const times = {
    c: new Array<number>(),
    reused: new Array<number>(),
    simulate: new Array<number>(),
    pooled: new Array<number>(),
    run: new Array<number>(),
  };
  for (let k = 0; k < RUNS; k++) {
    const c = program === null ? null : await runC(program, data, test, false);
    const reused = program === null ? null : await runC(program, data, test, true);
    const simulated = measureMs(() => simulateAlone(input));
    if (c !== null) checkSame(simulated.end, c.end);
    times.simulate.push(simulated.ms);
    times.pooled.push(measureMs(() => simulateAlone(pooled)).ms);
    times.c.push(c?.ms ?? NaN);
    times.reused.push(reused?.ms ?? NaN);
  }
  // Measured separately: otherwise the collector would free the garbage of one in the time of the other.
  for (let k = 0; k < RUNS; k++) times.run.push(measureMs(() => run(input)).ms);
  const c = median(times.c);
  const reused = median(times.reused);
  const simulateMs = median(times.simulate);
  const pooledMs = median(times.pooled);
  return {
    "C ms": c.toFixed(1),
    "simulate ms": simulateMs.toFixed(1),
    ratio: (simulateMs / c).toFixed(2),
    "run ms": median(times.run).toFixed(1),
    "C with memory reused ms": reused.toFixed(1),
    "ratio to that": (simulateMs / reused).toFixed(2),
    "simulate with buffers reused ms": pooledMs.toFixed(1),
    "its ratio to C with memory reused": (pooledMs / reused).toFixed(2),
    goal: test.goal === null ? "none" : `at most ${test.goal}`,
    "M candles/s of run": (CANDLES / median(times.run) / 1000).toFixed(1),
  };
}

const folder = await Deno.makeTempDir();
try {
  const candles = walkCandles();
  const program = await compile(folder);
  const data = `${folder}/candles`;
  if (program !== null) await writeCandles(data, candles);
  warmUp(candles);
  for (const test of CASES) await print({ [test.name]: await measureCase(candles, test, program, data) });
} finally {
  await Deno.remove(folder, { recursive: true });
}

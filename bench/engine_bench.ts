/**
 * Measures the simulator beside the same rules in plain C (engine_bench.c, compiled by `cc`) on a million candles of
 * one minute. Both run in turn on the same candles; the figures are medians of processor time and their ratio.
 *
 * `deno run --allow-all bench/engine_bench.ts [runs]`. Without a C compiler the simulator is measured alone.
 *
 * `simulate` is the work of both: averages (summed in pairs and rounded once), decisions, fills, fees, trades with their
 * worst and best prices, orders, equity and position, all as the columns of a result. Each number must be the same in C, to
 * the last bit. `run` adds every metric, which C does not compute. Processor time is fair on a busy machine; the
 * simulator's includes the garbage collector's and the compiler's threads. C takes half of its time to get memory from the
 * kernel. `C with memory reused` and `simulate with buffers reused` do not: a long-lived worker's columns come back once a
 * result is encoded.
 *
 * The aim is a ratio of 1.5 (sma-cross) and 2 (with stops), both with memory reused. It is missed. The same rules in plain
 * JavaScript (plain_rules.ts) take 1.4 times as long as C, which is the least in V8: it compares with jumps for a trade's worst
 * and best prices, where C does not jump, and half of these go astray. The simulator takes 1.7 times as long as plain JavaScript,
 * and 2 times with stops. By a profile, the difference is in some 20 functions that 39,000 orders and trades pass, none above
 * 1.5 ms: the rules of many orders, trades and costs are spread over these. V8 inlines only a part of them, and C holds one
 * order at a time where the simulator has a book.
 */
import process from "node:process";
import type { Candles } from "../engine/candles.ts";
import { BufferPool } from "../engine/buffer_pool.ts";
import { resolveExecution } from "../engine/execution.ts";
import { rsi } from "../engine/indicators/rsi.ts";
import { sma } from "../engine/indicators/sma.ts";
import { run, simulate } from "../engine/run.ts";
import { LIMIT, newDraft, STOP, type Strategy } from "../engine/strategy.ts";
import { rsiReversion } from "../strategies/builtin/rsi_reversion.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";
import { compileC, readLines, writeCandles } from "./c_program.ts";
import { median } from "./measure.ts";
import { PlainRun } from "./plain_rules.ts";

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
      draft.limitPrice = draft.type === LIMIT ? close[i]! - side * away : NaN;
      draft.stopPrice = draft.type === STOP ? close[i]! + side * away : NaN;
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

/** The part of a run that C does, too: orders and trades as columns. */
function simulateAlone(input: Input): void {
  columnsOf(input);
  input.pool?.reclaim(new Set());
}

/** The columns of a run, in the order in which C writes them. */
function columnsOf(input: Input) {
  const { ledger, orders, equity, position } = simulate(input, input.execution, null);
  const placed = orders.finish();
  const trades = ledger.log.finish(placed.tag);
  const { quantity, entryTime, entryPrice, exitTime, exitPrice, fees, pnl, mae, mfe } = trades;
  const { time, limitPrice, stopPrice, filledQuantity, price, fillTime } = placed;
  return [
    ...[equity, position],
    ...[quantity, entryTime, entryPrice, exitTime, exitPrice, fees, pnl, trades.return, mae, mfe],
    ...[trades.candles, trades.side, trades.exitReason, trades.ambiguous],
    ...[time, placed.quantity, limitPrice, stopPrice, filledQuantity, price, fillTime],
    ...[placed.side, placed.type, placed.status, placed.reason],
  ];
}

/** The same in plain JavaScript; null for a case that it does not know. Its columns are the last run's. */
function plainOf(candles: Candles, test: Case): { readonly work: () => void; readonly plain: PlainRun } | null {
  if (test.strategy === "random") return null;
  const plain = new PlainRun(candles, { ...test, keepsExcursions: true });
  const pool = new BufferPool(POOL_BYTES_MAX);
  const { close } = candles;
  const work = () => {
    if (test.strategy === "rsi") plain.runStrength(BALANCE, rsi(close, 14, pool));
    else plain.runAverages(BALANCE, sma(close, 10, pool), sma(close, 30, pool), 30);
    pool.reclaim();
  };
  return { work, plain };
}

function warmUp(candles: Candles): void {
  for (const test of CASES) {
    const plain = plainOf(candles, test);
    for (let k = 0; k < WARM_UPS; k++) plain?.work();
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
function measureMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Processor time of one run of the C program, in milliseconds. */
async function runC(program: string, data: string, test: Case, reuse: boolean): Promise<number> {
  // The first runs warm up the pages of the candles; the simulator's are warm already.
  const lines = await readLines(program, argumentsOfC(data, test, "3", reuse));
  return Number(lines[2]);
}

function argumentsOfC(data: string, test: Case, runs: string, reuse: boolean): string[] {
  const levels = [test.fee, test.stopLossLevel, test.takeProfitLevel].map(String);
  return [data, test.strategy, runs, reuse ? "1" : "0", ...levels];
}

async function print(rows: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<void> {
  const lines = Object.entries(rows).map(([name, cells]) =>
    `${name}: ${Object.entries(cells).map(([key, value]) => `${key} ${value}`).join(", ")}\n`
  );
  await Deno.stdout.write(new TextEncoder().encode(lines.join("")));
}

/** Expects that C has made the same numbers, each of them, to the last bit. */
async function checkSame(program: string, data: string, test: Case, input: Input): Promise<void> {
  const path = `${data}-result`;
  await readLines(program, [...argumentsOfC(data, test, "1", true), path]);
  compare(test, columnsOf(input), new Float64Array((await Deno.readFile(path)).buffer));
}

/** Expects the simulator's columns in a row of values. */
function compare(test: Case, columns: ReturnType<typeof columnsOf>, values: ArrayLike<number>): void {
  let at = 0;
  for (const [n, column] of columns.entries()) {
    for (let k = 0; k < column.length; k++, at++) {
      if (values[at] === column[k] || (Number.isNaN(values[at]) && Number.isNaN(column[k]))) continue;
      throw new Error(
        `Cannot compare speeds of ${test.name}: column ${n}, row ${k} is ${column[k]}, not ${values[at]}`,
      );
    }
  }
  if (at !== values.length) throw new Error(`Cannot compare speeds of ${test.name}: there are ${values.length} values`);
}

async function measureCase(candles: Candles, test: Case, program: string | null, data: string) {
  const input = inputOf(candles, test, null);
  const pooled = inputOf(candles, test, new BufferPool(POOL_BYTES_MAX));
  if (program !== null) await checkSame(program, data, test, input);
  const plain = plainOf(candles, test);
  plain?.work();
  if (plain !== null) compare(test, columnsOf(input), plain.plain.columns().flatMap((column) => [...column]));
  const times = {
    c: new Array<number>(),
    reused: new Array<number>(),
    simulate: new Array<number>(),
    pooled: new Array<number>(),
    plain: new Array<number>(),
    run: new Array<number>(),
  };
  for (let k = 0; k < RUNS; k++) {
    const c = program === null ? null : await runC(program, data, test, false);
    const reused = program === null ? null : await runC(program, data, test, true);
    times.simulate.push(measureMs(() => simulateAlone(input)));
    times.pooled.push(measureMs(() => simulateAlone(pooled)));
    times.plain.push(plain === null ? NaN : measureMs(plain.work));
    times.c.push(c ?? NaN);
    times.reused.push(reused ?? NaN);
  }
  // Measured separately: otherwise the collector would free the garbage of one in the time of the other.
  for (let k = 0; k < RUNS; k++) times.run.push(measureMs(() => run(input)));
  const c = median(times.c);
  const reused = median(times.reused);
  const simulateMs = median(times.simulate);
  const pooledMs = median(times.pooled);
  const plainMs = median(times.plain);
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
    "plain JavaScript ms": plain === null ? "none" : plainMs.toFixed(1),
    ...(plain === null ? {} : {
      "its ratio to C": (plainMs / reused).toFixed(2),
      "simulate's ratio to plain JavaScript": (pooledMs / plainMs).toFixed(2),
    }),
    "M candles/s of run": (CANDLES / median(times.run) / 1000).toFixed(1),
  };
}

const folder = await Deno.makeTempDir();
try {
  const candles = walkCandles();
  const program = await compileC("engine_bench", folder);
  const data = `${folder}/candles`;
  if (program !== null) await writeCandles(data, candles);
  warmUp(candles);
  for (const test of CASES) await print({ [test.name]: await measureCase(candles, test, program, data) });
} finally {
  await Deno.remove(folder, { recursive: true });
}

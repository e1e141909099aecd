/**
 * The simulator beside the same rules in plain C (engine_bench.c, compiled by `cc`) on a million candles of one minute: both in
 * turn on the same candles, in medians of processor time, which is fair on a busy machine.
 *
 * `deno run --allow-all bench/engine_bench.ts [runs]`. Without a C compiler the simulator is measured alone.
 *
 * A simulation is the work of both: averages (summed in pairs and rounded once), decisions, fills, fees, trades with their worst
 * and best prices, orders, equity and position, all as the columns of a result. Each number must be the same in C, to the last
 * bit. Both reuse the memory of the run before, as a worker does. A run adds every metric, which C does not compute.
 */
import type { Candles } from "../engine/candles.ts";
import { BufferPool } from "../engine/buffer_pool.ts";
import { resolveExecution } from "../engine/execution.ts";
import { run, simulate } from "../engine/run.ts";
import { LIMIT, newDraft, STOP, type Strategy } from "../engine/strategy.ts";
import { rsiReversion } from "../strategies/builtin/rsi_reversion.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";
import { measureCpu, median, report } from "./measure.ts";

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

function warmUp(candles: Candles): void {
  for (const test of CASES) {
    const pool = new BufferPool(POOL_BYTES_MAX);
    const input = inputOf(candles, test, pool);
    for (let k = 0; k < WARM_UPS; k++) {
      simulateAlone(input);
      run(input);
      pool.reclaim(new Set());
    }
  }
}

/** Processor time of one run of the C program, in milliseconds. */
async function runC(program: string, data: string, test: Case): Promise<number> {
  // The first runs warm up the pages of the candles; the simulator's are warm already.
  const lines = await readLines(program, argumentsOfC(data, test, "3"));
  return Number(lines[2]);
}

function argumentsOfC(data: string, test: Case, runs: string): string[] {
  const levels = [test.fee, test.stopLossLevel, test.takeProfitLevel].map(String);
  return [data, test.strategy, runs, ...levels];
}

/** Expects that C has made the same numbers, each of them, to the last bit. */
async function checkSame(program: string, data: string, test: Case, input: Input): Promise<void> {
  const path = `${data}-result`;
  await readLines(program, [...argumentsOfC(data, test, "1"), path]);
  const values = new Float64Array((await Deno.readFile(path)).buffer);
  const columns = columnsOf(input);
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

async function measureCase(candles: Candles, test: Case, program: string | null, data: string): Promise<void> {
  const input = inputOf(candles, test, new BufferPool(POOL_BYTES_MAX));
  if (program !== null) await checkSame(program, data, test, inputOf(candles, test, null));
  const [c, ours, whole]: number[][] = [[], [], []];
  for (let k = 0; k < RUNS; k++) {
    ours!.push(measureCpu(() => simulateAlone(input)));
    if (program !== null) c!.push(await runC(program, data, test));
  }
  // Measured separately: otherwise the collector would free the garbage of one in the time of the other.
  for (let k = 0; k < RUNS; k++) {
    whole!.push(measureCpu(() => run(input)));
    input.pool?.reclaim(new Set());
  }
  const simulation = { name: "its simulation", value: median(ours!) };
  await report({
    measure: `${test.name}: simulation`,
    ours: simulation.value,
    reference: program === null ? null : { name: "the same in C", value: median(c!) },
    goal: program === null || test.goal === null ? null : { of: "ratio", most: test.goal },
  });
  await report({ measure: `${test.name}: run with every metric`, ours: median(whole!), reference: simulation });
}

const folder = await Deno.makeTempDir();
try {
  const candles = walkCandles();
  const program = await compileC(folder);
  const data = `${folder}/candles`;
  if (program !== null) await writeCandles(data, candles);
  warmUp(candles);
  for (const test of CASES) await measureCase(candles, test, program, data);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/** Compiles a C program of this folder. @returns Its path; null where there is no compiler. */
async function compileC(folder: string): Promise<string | null> {
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

/** Writes candles as columns of doubles: their count first, then time, open, high, low and close. */
async function writeCandles(path: string, { time, open, high, low, close }: Candles): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  for (const column of [Float64Array.of(time.length), time, open, high, low, close]) {
    let bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
    while (bytes.length > 0) bytes = bytes.subarray(await file.write(bytes));
  }
}

/** The lines that a program prints. @throws When it fails. */
async function readLines(program: string, args: readonly string[]): Promise<string[]> {
  const { stdout, stderr, success } = await new Deno.Command(program, { args: [...args] }).output();
  const decoder = new TextDecoder();
  if (!success) {
    throw new Error(`Cannot compare speeds: ${program} failed with ${args.join(" ")}: ${decoder.decode(stderr)}`);
  }
  return decoder.decode(stdout).trim().split("\n");
}

/**
 * sma-cross over a million candles of one minute: the simulator beside the same rules in plain C (engine_bench.c), compiled
 * here with what `cc` is, in turns, on the same candles; medians, and their ratio.
 *
 * `deno run --allow-all bench/engine_bench.ts [runs]`. Without a C compiler the simulator is measured alone.
 *
 * `simulate` is what both do: averages, decisions, fills, fees, trades with their worst and best prices, orders, equity,
 * position. `run` adds what C does not: every metric. The C program is told to end at the same equity, and must.
 */
import type { Candles } from "../engine/candles.ts";
import { resolveExecution } from "../engine/execution.ts";
import { run } from "../engine/run.ts";
import { Simulation } from "../engine/simulation.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";

const CANDLES = 1_000_000;
const MINUTE_MS = 60_000;
const BALANCE = 1_000_000;
const RUNS = Number(Deno.args[0] ?? 9);

interface Case {
  readonly name: string;
  readonly fee: number;
  readonly stopLossLevel: number;
  readonly takeProfitLevel: number;
}

const CASES: readonly Case[] = [
  { name: "no costs", fee: 0, stopLossLevel: 0, takeProfitLevel: 0 },
  { name: "a fee", fee: 0.00001, stopLossLevel: 0, takeProfitLevel: 0 },
  { name: "stop loss and take profit", fee: 0, stopLossLevel: 0.002, takeProfitLevel: 0.004 },
];

/** A walk that a seed decides, without gaps. */
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

function inputOf(candles: Candles, { fee, stopLossLevel, takeProfitLevel }: Case) {
  return {
    candles,
    firstIndex: 0,
    timeframeMs: MINUTE_MS,
    initialBalance: BALANCE,
    execution: resolveExecution({ commission: fee, marginCall: false }, "crypto"),
    strategy: smaCross.create({ fast: 10, slow: 30, direction: "both", stopLossLevel, takeProfitLevel }),
    control: null,
    finer: null,
  };
}

type Input = ReturnType<typeof inputOf>;

/** The part of a run that C does, too: its trades as columns included. */
function simulate(input: Input): number {
  const simulation = new Simulation(input);
  const { book, ledger } = simulation;
  input.strategy.prepare(input.candles);
  for (let i = 0; i < CANDLES && simulation.advance(i); i++) {
    if (i < input.strategy.warmup - 1) continue;
    input.strategy.decide(i, ledger, book);
    if (simulation.dirty && !simulation.settle(i)) break;
  }
  simulation.finish();
  ledger.log.finish(input.candles.time);
  simulation.orders.finish(input.candles.time);
  return ledger.equity;
}

function timeMs(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Compiles the C program; null where there is no compiler. */
async function compile(folder: string): Promise<string | null> {
  const source = new URL("engine_bench.c", import.meta.url).pathname;
  const program = `${folder}/engine_bench`;
  try {
    const args = ["-O3", "-march=native", "-o", program, source, "-lm"];
    const { success } = await new Deno.Command("cc", { args }).output();
    return success ? program : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function writeCandles(path: string, { open, high, low, close }: Candles): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  for (const column of [Float64Array.of(CANDLES), open, high, low, close]) {
    let bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
    while (bytes.length > 0) bytes = bytes.subarray(await file.write(bytes));
  }
}

/** One run of the C program: milliseconds, and the equity that it ends with. */
async function runC(program: string, data: string, test: Case): Promise<{ ms: number; equity: number }> {
  const levels = [test.fee, test.stopLossLevel, test.takeProfitLevel].map(String);
  const { stdout } = await new Deno.Command(program, { args: [data, "2", ...levels] }).output();
  // The first of two runs warms the candles' pages up, as the simulator's are.
  const [, ms = "", end = ""] = new TextDecoder().decode(stdout).trim().split("\n");
  return { ms: Number(ms), equity: Number(end.split(" ")[0]) };
}

async function print(rows: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<void> {
  const lines = Object.entries(rows).map(([name, cells]) =>
    `${name}: ${Object.entries(cells).map(([key, value]) => `${key} ${value}`).join(", ")}\n`
  );
  await Deno.stdout.write(new TextEncoder().encode(lines.join("")));
}

const folder = await Deno.makeTempDir();
try {
  const candles = walkCandles();
  const program = await compile(folder);
  const data = `${folder}/candles`;
  if (program !== null) await writeCandles(data, candles);
  const rows: Record<string, Record<string, string>> = {};
  for (const test of CASES) {
    const input = inputOf(candles, test);
    const times = { c: new Array<number>(), simulate: new Array<number>(), run: new Array<number>() };
    for (let k = 0; k < RUNS + 2; k++) {
      const c = program === null ? null : await runC(program, data, test);
      let equity = NaN;
      const simulateMs = timeMs(() => equity = simulate(input));
      const runMs = timeMs(() => run(input));
      if (c !== null && Math.abs(equity - c.equity) > 1e-6 * c.equity) {
        throw new Error(`The simulator ends at ${equity}, and C at ${c.equity}`);
      }
      // The first two warm the compiler up.
      if (k < 2) continue;
      times.simulate.push(simulateMs);
      times.run.push(runMs);
      if (c !== null) times.c.push(c.ms);
    }
    const c = median(times.c);
    rows[test.name] = {
      "C ms": c.toFixed(1),
      "simulate ms": median(times.simulate).toFixed(1),
      ratio: (median(times.simulate) / c).toFixed(2),
      "run ms": median(times.run).toFixed(1),
      "run / C": (median(times.run) / c).toFixed(2),
      "M candles/s": (CANDLES / median(times.run) / 1000).toFixed(1),
    };
  }
  await print(rows);
} finally {
  await Deno.remove(folder, { recursive: true });
}

/**
 * The trials of a slice in processor time, in turn with two programs that do the same trials on the same candles:
 *
 * - engine_scan.c: the same rules in C with memory reused. It makes every column that a trial needs and no metric, so it is held
 *   against the simulation alone, with the slice's averages and memory. plain_rules.ts is the same in plain JavaScript: it
 *   parts V8's share of the ratio from the simulator's.
 * - optimize_numpy.py: vectorised NumPy with about as many metrics as a trial keeps, held against the whole slice; and once more with
 *   four metrics alone.
 *
 * A third program, optimize_floor.ts, shows how far JavaScript itself is from the goals: NumPy's rules and metrics without a simulator.
 *
 * Before they are timed, all must end every trial with the simulator's equity and trades, C and plain_rules.ts to the last bit.
 *
 * `deno run --allow-all bench/optimize_engine_bench.ts [rounds]`. A row is left out without a C compiler or NumPy.
 */
import process from "node:process";
import { BufferPool } from "../engine/buffer_pool.ts";
import { ColumnCache } from "../engine/column_cache.ts";
import { resolveExecution } from "../engine/execution.ts";
import { sma } from "../engine/indicators/sma.ts";
import { run, simulate } from "../engine/run.ts";
import type { SliceTask } from "../workers/protocol.ts";
import { runSlice } from "../workers/sandbox/builtin_slice.ts";
import { compileC, readLines, writeCandles } from "./c_program.ts";
import { median, say } from "./measure.ts";
import { plainProgram } from "./optimize_floor.ts";
import { HOURS, inputsOf, MINUTES, pairsOf, type Scan } from "./optimize_scans.ts";
import { PlainRun } from "./plain_rules.ts";
import { readYear } from "./run_path_cases.ts";

const C_GOAL = 1.5;
const NUMPY_GOAL = 5;
const FEE = 0.0005;
const ROUNDS = Number(Deno.args[0] ?? 7);
const POOL_BYTES_MAX = 1 << 28;
const COLUMN_BYTES_MAX = 1 << 26;
/** Debian's packages go to its own Python, which may not be the first of the PATH. */
const PYTHONS = ["/usr/bin/python3", "python3"];
const NUMPY = new URL("optimize_numpy.py", import.meta.url).pathname;
// Sums of NumPy's averages are rounded at each candle, and it trades parts of lots.
const NUMPY_TOLERANCE = 1e-6;
// C knows no margin calls, and no crosses through an exact touch.
const execution = resolveExecution({ commission: FEE, marginCall: false, crossThroughTouch: false }, "crypto");
const year = readYear();

const folder = await Deno.makeTempDir();
try {
  const c = await compileC("engine_scan", folder);
  if (c === null) await say("Without a C compiler (`cc`), the rows of C are left out.");
  const python = await findNumpy();
  if (python === null) await say("Without NumPy, its rows are left out: `apt-get install python3-numpy`.");
  for (const scan of [HOURS, MINUTES]) await measureScan(scan, { c, python, folder });
} finally {
  await Deno.remove(folder, { recursive: true });
}

interface Programs {
  readonly c: string | null;
  readonly python: string | null;
  readonly folder: string;
}

/** A scan by one of the programs. @returns Milliseconds of processor time. */
type Timed = () => Promise<number>;

async function measureScan(scan: Scan, { c, python, folder }: Programs): Promise<void> {
  const data = `${folder}/${scan.timeframe}`;
  await writeCandles(data, year.candles[scan.timeframe]);
  checkPlain(scan);
  const kinds: Record<string, Timed> = {
    simulate: timeSimulations(scan),
    slice: timeSlice(scan),
    rules: timeRules(scan),
    plainTrades: timePlain(scan, false),
    plain: timePlain(scan, true),
  };
  if (c !== null) {
    await checkEnds(scan, c, argumentsOf(scan, data, 1), { result: `${data}-c`, numbers: 2, tolerance: 0 });
    kinds["c"] = async () => lastOf(await readLines(c, argumentsOf(scan, data, 2)));
  }
  for (const wanted of python === null ? [] : ["all", "few"]) {
    const args = (scans: number) => [NUMPY, ...argumentsOf(scan, data, scans), wanted];
    const expected = { result: `${data}-numpy`, numbers: 4, tolerance: NUMPY_TOLERANCE };
    await checkEnds(scan, python!, args(1), expected);
    kinds[wanted] = async () => lastOf(await readLines(python!, args(2)));
  }
  const times = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, time] of Object.entries(kinds)) times.get(name)!.push(await time());
  }
  const ms = Object.fromEntries([...times].map(([name, values]) => [name, median(values)]));
  await printScan(scan, ms);
}

async function printScan({ name }: Scan, ms: Readonly<Record<string, number>>): Promise<void> {
  const { simulate = NaN, rules = NaN, slice = NaN, plain = NaN, plainTrades = NaN, c, all, few } = ms;
  await say(`${name}: ${slice.toFixed(0)} ms in a slice, ${simulate.toFixed(0)} ms of them simulation`);
  await say(`  slice: ${(slice / plain).toFixed(2)} x a plain program in JavaScript of ${plain.toFixed(0)} ms`);
  const [metrics, plainMetrics] = [slice - simulate, plain - plainTrades];
  await say(
    `  metrics and columns to store: ${(metrics / plainMetrics).toFixed(2)} x its ${plainMetrics.toFixed(0)} ms`,
  );
  await say(
    `  simulation: ${(simulate / rules).toFixed(2)} x C's program in plain JavaScript of ${rules.toFixed(0)} ms`,
  );
  if (c !== undefined) {
    const ratio = (simulate / c).toFixed(2);
    await say(`  simulation: ${ratio} x C with memory reused of ${c.toFixed(0)} ms, goal at most ${C_GOAL} x`);
    await say(`  C's program in plain JavaScript: ${(rules / c).toFixed(2)} x C`);
    await say(`  with all metrics, which C does not compute: ${(slice / c).toFixed(2)} x`);
  }
  if (all === undefined || few === undefined) return;
  const timesAsFast = (numpy: number) => `${(numpy / slice).toFixed(2)} times as fast as NumPy, ${numpy.toFixed(0)} ms`;
  await say(`  slice: ${timesAsFast(all)} with as many metrics, goal at least ${NUMPY_GOAL} times`);
  await say(`  the plain program: ${(all / plain).toFixed(2)} times as fast`);
  await say(`  slice: ${timesAsFast(few)} with four metrics`);
}

function timePlain(scan: Scan, measures: boolean): Timed {
  return () =>
    timeCpu(() => {
      const program = plainProgram(year.candles[scan.timeframe], FEE);
      for (const { fast, slow } of pairsOf(scan)) {
        program.trade(fast, slow);
        if (measures) program.measure();
      }
    });
}

/** Expects the ends of the plain program, as checkEnds does of the others. */
function checkPlain(scan: Scan): void {
  const program = plainProgram(year.candles[scan.timeframe], FEE);
  const ends = pairsOf(scan).flatMap(({ fast, slow }) => {
    program.trade(fast, slow);
    const { account, days, trades } = program.measure();
    return [account.final_equity, trades.trades, account.max_drawdown, days.sharpe];
  });
  compareEnds(scan, "the plain program", ends, { numbers: 4, tolerance: NUMPY_TOLERANCE });
}

function timeSimulations(scan: Scan): Timed {
  const pool = new BufferPool(POOL_BYTES_MAX);
  return () => {
    const inputs = inputsOf(scan, year, execution);
    return timeCpu(() => {
      pool.columns = new ColumnCache(COLUMN_BYTES_MAX);
      for (const input of inputs) {
        // As in a slice: no metric reads the details.
        simulate({ ...input, pool, keepsDetails: false }, execution, null);
        pool.reclaim();
      }
      pool.columns = null;
    });
  };
}

/** Checks every trial's end once and then times all trials of plain_rules.ts without a check. */
function timeRules(scan: Scan): Timed {
  const candles = year.candles[scan.timeframe];
  const inputs = inputsOf(scan, year, execution);
  const rules = { fee: FEE, stopLossLevel: 0, takeProfitLevel: 0, keepsExcursions: false };
  const plain = new PlainRun(candles, rules);
  const runAll = (check: (k: number) => void) => {
    const columns = new Map<number, Float64Array>();
    const averageOf = (period: number) => {
      const known = columns.get(period) ?? sma(candles.close, period);
      columns.set(period, known);
      return known;
    };
    for (const [k, { fast, slow }] of pairsOf(scan).entries()) {
      plain.runAverages(inputs[k]!.initialBalance, averageOf(fast), averageOf(slow), slow);
      check(k);
    }
  };
  runAll((k) => {
    const { ledger } = simulate(inputs[k]!, execution, null);
    const closed = plain.tradesCount - ledger.open.count;
    if (plain.equity.at(-1) === ledger.equity && closed === ledger.log.count - ledger.open.count) return;
    throw new Error(`Cannot compare speeds: plain JavaScript ends trial ${k} of ${scan.name} differently`);
  });
  return () => timeCpu(() => runAll(() => {}));
}

function timeSlice(scan: Scan): Timed {
  const pool = new BufferPool(POOL_BYTES_MAX);
  const [first] = inputsOf(scan, year, execution);
  const { strategy: _strategy, control: _control, ...settings } = first!;
  const own = { direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
  const trials = pairsOf(scan).map((pair, place) => ({
    place,
    point: place,
    parameters: { ...own, ...pair },
    lookback: 0,
  }));
  const task: SliceTask = {
    ...{ ...settings, slug: "sma-cross", finer: null, seed: 0, trials, budgetMs: Infinity, returnsMax: Infinity },
    objective: "sharpe",
    direction: "max",
    returnsStride: 1,
  };
  return () =>
    timeCpu(() => {
      const outcome = runSlice(task, new Int32Array(new SharedArrayBuffer(64)), pool);
      if (outcome.type !== "completed") throw new Error(`Cannot measure a slice: ${JSON.stringify(outcome)}`);
    });
}

/** How many numbers a program tells of each trial's end, and the share by which they may differ. */
interface Ends {
  readonly numbers: number;
  readonly tolerance: number;
}

async function checkEnds(
  scan: Scan,
  program: string,
  args: readonly string[],
  { result, ...expected }: Ends & { readonly result: string },
): Promise<void> {
  await readLines(program, [...args, result]);
  compareEnds(scan, program, new Float64Array((await Deno.readFile(result)).buffer), expected);
}

/** Expects the equity and trades of every trial, or of all but one in a hundred where a tolerance says that sums are rounded. */
function compareEnds(scan: Scan, program: string, ends: ArrayLike<number>, { numbers, tolerance }: Ends): void {
  const inputs = inputsOf(scan, year, execution);
  const isNear = (got: number, want: number) => Math.abs(got - want) <= tolerance * Math.abs(want);
  const wrong = inputs.filter((input, k) => {
    const { final_equity, trades, max_drawdown, sharpe } = run(input).metrics;
    const want = [final_equity, trades, max_drawdown, sharpe].slice(0, numbers);
    return !want.every((value, n) => isNear(ends[k * numbers + n]!, value ?? NaN));
  });
  if (ends.length === inputs.length * numbers && wrong.length <= (tolerance === 0 ? 0 : inputs.length / 100)) return;
  throw new Error(`Cannot compare speeds: ${program} ends ${wrong.length} of ${inputs.length} trials differently`);
}

function argumentsOf({ fast, slow }: Scan, data: string, scans: number): string[] {
  const steps = [fast, slow].flatMap(({ first, step, count }) => [first, step, count]);
  return [data, ...[...steps, scans, FEE].map(String)];
}

/** The first scan warms the pages of the candles up; this process's are warm. */
function lastOf(lines: readonly string[]): number {
  return Number(lines.at(-1));
}

/** Processor time of all threads, in milliseconds. */
function timeCpu(work: () => void): Promise<number> {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return Promise.resolve((user + system) / 1000);
}

/** A Python that has NumPy; null where there is none. */
async function findNumpy(): Promise<string | null> {
  for (const python of PYTHONS) {
    try {
      if ((await new Deno.Command(python, { args: ["-c", "import numpy"], stderr: "null" }).output()).success) {
        return python;
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}

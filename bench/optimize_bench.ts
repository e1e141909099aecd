/**
 * An optimization over HTTP to a process of its own, from its submission to its end, beside the engine alone doing the same trials one
 * after the other, and beside a floor: the same slices and the measure of luck on bare threads. On an embedded database, and on
 * PostgreSQL. The clock's ratios hold on a quiet machine alone; the processor's do on any.
 *
 * `deno run --allow-all bench/optimize_bench.ts [rounds]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { decodeColumns } from "../db/codec/columns.ts";
import { resolveExecution } from "../engine/execution.ts";
import { measureTrial } from "../engine/run.ts";
import { fixedMs } from "../market/timeframes.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";
import type { TestClient } from "../tests/support/client.ts";
import { startProcess } from "../tests/support/process.ts";
import { Pool } from "../workers/backtest/pool.ts";
import type { Outcome } from "../workers/common/outcome.ts";
import type { SliceTask } from "../workers/common/protocol.ts";
import { divide } from "../workers/optimization/divide.ts";
import { onBothDatabases } from "./both_databases.ts";
import { median, readCpuMs, report, type Taken, timeWork } from "./measure.ts";
import { optimizeToEnd } from "./optimize_to_end.ts";
import { readYear } from "./run_path_cases.ts";

const RATIO_GOAL = 1.2;
const HOURS_GOAL_MS = 1000;
/** Limits of the time that measuring luck adds: in milliseconds, or as a share of the trials' own time. */
const LUCK_MS_MAX = 1000;
const LUCK_SHARE_MAX = 0.1;
const MS_MAX = 600_000;
const LIMITS = { deadlineMs: MS_MAX, waitMs: MS_MAX, signal: new AbortController().signal, onProgress: () => {} };
const rounds = Number(Deno.args[0] ?? 5);
const year = await readYear();
const cores = navigator.hardwareConcurrency;

/** Equal steps of a period. */
interface Steps {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** Trials with each pair of periods. */
interface Scan {
  readonly name: string;
  readonly timeframe: "1h" | "1m";
  readonly fast: Steps;
  readonly slow: Steps;
}

const HOURS: Scan = {
  name: "1,000 trials over a year of 1h",
  timeframe: "1h",
  fast: { first: 5, step: 1, count: 20 },
  slow: { first: 30, step: 4, count: 50 },
};

const MINUTES: Scan = {
  name: "100 trials over a year of 1m",
  timeframe: "1m",
  fast: { first: 60, step: 12, count: 10 },
  slow: { first: 240, step: 48, count: 10 },
};

const valuesOf = ({ first, step, count }: Steps) => Array.from({ length: count }, (_, k) => first + k * step);

/** The pairs of periods, in the order of the trials. */
function pairsOf({ fast, slow }: Scan): readonly { readonly fast: number; readonly slow: number }[] {
  return valuesOf(fast).flatMap((each) => valuesOf(slow).map((other) => ({ fast: each, slow: other })));
}

/** The runs of the trials for the engine alone. */
function inputsOf(scan: Scan) {
  const execution = resolveExecution({}, "crypto");
  return pairsOf(scan).map((pair) => ({
    candles: year.candles[scan.timeframe],
    firstIndex: 0,
    initialBalance: 1_000_000,
    execution,
    timeframeMs: fixedMs(scan.timeframe),
    assetClass: "crypto" as const,
    strategy: smaCross.create({ ...pair, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 }, execution),
    control: null,
  }));
}

/** The trials of an optimization and the measure of their luck on warm threads, without HTTP, jobs and database. */
class BareTrials {
  readonly #threads: number;
  readonly #pool: Pool;

  /** @param threads One a core. */
  constructor(threads: number) {
    this.#threads = threads;
    this.#pool = new Pool(threads);
  }

  /** Runs the trials, a part on each thread, and then measures their luck there. @returns Milliseconds of the second part. */
  async run(scan: Scan): Promise<number> {
    const task = taskOf(scan);
    const parts = divide({ from: 0, until: task.trials.length }, this.#threads)
      .map(({ from, until }) => ({ ...task, trials: task.trials.slice(from, until) }));
    const done = await Promise.all(parts.map(async (part) => completed(await this.#pool.runSlice(part, LIMITS))));
    const returns = done.flatMap((slice) => {
      const all = decodeColumns(slice.returns).returns!;
      const shared = new Float64Array(new SharedArrayBuffer(all.byteLength));
      shared.set(all);
      const days = shared.length / slice.done;
      return Array.from({ length: slice.done }, (_, i) => shared.subarray(i * days, (i + 1) * days));
    });
    const rates = { periodsPerYear: task.execution.periodsPerYear ?? NaN, riskFreeRate: 0 };
    const trials = {
      ...{
        trials: returns.length,
        returns,
        numbers: returns.map((_, i) => i + 1),
        best: 0,
        trades: 100,
        plateau: 1,
        seed: 0,
      },
      ...{ objective: "sharpe", direction: "max" as const, benchmark: returns[0] ?? null },
    };
    const begun = performance.now();
    completed(await this.#pool.measureLuck({ ...trials, ...rates }, LIMITS));
    return performance.now() - begun;
  }

  close(): void {
    this.#pool.close();
  }
}

const bareTrials = new BareTrials(cores);
await onBothDatabases(year, measure);
bareTrials.close();

async function measure(kind: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const service = await startProcess("serve", { WORKERS: String(cores), ...environment });
  try {
    const client = service.client();
    await client.signUp();
    for (const scan of [HOURS, MINUTES]) {
      // The service's code becomes quick with use.
      for (let k = 0; k < 2; k++) {
        await optimize(client, scan);
        await bareTrials.run(scan);
      }
      const all: Record<"ours" | "engine" | "bare", Taken[]> = { ours: [], engine: [], bare: [] };
      const luckMs: number[] = [];
      for (let k = 0; k < rounds; k++) {
        all.engine.push(await timeWork(() => inputsOf(scan).forEach((input) => void measureTrial(input))));
        all.bare.push(await timeWork(async () => void luckMs.push(await bareTrials.run(scan))));
        const cpuMs = readCpuMs(service.pid);
        const ms = await optimize(client, scan);
        all.ours.push({ ms, cpuMs: readCpuMs(service.pid) - cpuMs });
      }
      const [ours, bare] = [medianOf(all.ours), medianOf(all.bare)];
      await reportScan(`${kind}: ${scan.name}`, ours, medianOf(all.engine), bare);
      await reportLuck(scan.name, { withMs: bare.ms, luckMs: median(luckMs) });
    }
  } finally {
    await service.end("SIGTERM");
  }
}

async function reportScan(name: string, ours: Taken, engine: Taken, bare: Taken): Promise<void> {
  const goal = { of: "ratio", most: RATIO_GOAL } as const;
  const onAll = { name: "engine alone, on all cores", value: engine.ms / cores };
  await report({ measure: name, ours: ours.ms, reference: onAll, goal });
  if (name.endsWith(HOURS.name)) {
    await report({ measure: `${name}, in all`, ours: ours.ms, goal: { of: "ours", most: HOURS_GOAL_MS } });
  }
  const cpu = `${name}, processor time`;
  await report({ measure: cpu, ours: ours.cpuMs, reference: { name: "engine alone", value: engine.cpuMs }, goal });
  await report({ measure: name, ours: ours.ms, reference: { name: "bare slices and luck", value: bare.ms } });
  await report({ measure: cpu, ours: ours.cpuMs, reference: { name: "bare slices and luck", value: bare.cpuMs } });
}

/** The same trials with the measure of luck and without it, in one run. */
async function reportLuck(name: string, { withMs, luckMs }: { readonly withMs: number; readonly luckMs: number }) {
  const withoutMs = withMs - luckMs;
  await report({
    measure: `${name}, with luck`,
    ours: withMs,
    reference: { name: "without it", value: withoutMs },
    goal: { of: "ours", most: withoutMs + Math.max(LUCK_MS_MAX, LUCK_SHARE_MAX * withoutMs) },
  });
}

function medianOf(all: readonly Taken[]): Taken {
  return { ms: median(all.map(({ ms }) => ms)), cpuMs: median(all.map(({ cpuMs }) => cpuMs)) };
}

/** Optimizes over HTTP. @returns Milliseconds from the submission to the end. */
async function optimize(client: TestClient, scan: Scan): Promise<number> {
  const spaceOf = ({ first, step, count }: Steps) => ({ min: first, max: first + (count - 1) * step, step });
  const { takenMs } = await optimizeToEnd(client, {
    ...{ symbol: "WARM", exchange: "BENCH", start_date: "2024-01-01", end_date: "2025-01-01", trials_max: 100_000 },
    ...{ initial_balance: 1_000_000, strategy: "SMA Cross" },
    parameters: { timeframe: scan.timeframe },
    space: { fast: spaceOf(scan.fast), slow: spaceOf(scan.slow) },
  });
  return takenMs;
}

function taskOf(scan: Scan): SliceTask {
  const [input] = inputsOf(scan);
  if (input === undefined) throw new RangeError(`Cannot run ${scan.name}: it has no trial`);
  const { strategy: _strategy, control: _control, ...settings } = input;
  const own = { direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
  return {
    ...settings,
    slug: "sma-cross",
    own,
    trials: pairsOf(scan).map((pair, place) => ({ place, point: place, parameters: pair, lookback: 0 })),
    finer: null,
    seed: 0,
    budgetMs: MS_MAX,
    returnsMax: Infinity,
    returnsStride: 1,
    objective: "sharpe",
    direction: "max",
  };
}

function completed<Value extends object>(outcome: Outcome<Value>) {
  if (outcome.type !== "completed") throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
  return outcome;
}

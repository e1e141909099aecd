/** The trials of an optimization and the measure of their luck, without HTTP, jobs and database: no service does with less. */
import { decodeColumns } from "../db/codec/columns.ts";
import { Pool } from "../workers/backtest/pool.ts";
import type { Outcome } from "../workers/outcome.ts";
import type { SliceTask } from "../workers/protocol.ts";
import { divide } from "../workers/research/divide.ts";
import { inputsOf, pairsOf, type Scan } from "./optimize_scans.ts";
import type { Year } from "./run_path_cases.ts";

const MS_MAX = 600_000;
const LIMITS = {
  deadlineMs: MS_MAX,
  waitMs: MS_MAX,
  signal: new AbortController().signal,
  onProgress: () => {},
};

/** The warm threads of a service. */
export class BareTrials {
  readonly #threads: number;
  readonly #pool: Pool;

  /** @param threads One a core. */
  constructor(threads: number) {
    this.#threads = threads;
    this.#pool = new Pool(threads);
  }

  /** Runs the trials, a part on each thread, and then measures their luck there. */
  async run(scan: Scan, year: Year): Promise<void> {
    const task = taskOf(scan, year);
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
    completed(await this.#pool.measureLuck({ trials: returns.length, returns, best: 0, plateau: 1, ...rates }, LIMITS));
  }

  close(): void {
    this.#pool.close();
  }
}

function taskOf(scan: Scan, year: Year): SliceTask {
  const [input] = inputsOf(scan, year);
  if (input === undefined) throw new RangeError(`Cannot run ${scan.name}: it has no trial`);
  const { strategy: _strategy, control: _control, ...settings } = input;
  const own = { direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
  return {
    ...settings,
    slug: "sma-cross",
    trials: pairsOf(scan).map((pair, place) => ({ place, point: place, parameters: { ...pair, ...own }, lookback: 0 })),
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

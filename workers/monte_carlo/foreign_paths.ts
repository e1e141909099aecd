/** Paths of candles on which a user's code runs: modules, scripts and endpoints. */
import type { FailedPaths } from "../../research/monte_carlo/request.ts";
import { SampleCollector } from "../../research/monte_carlo/path_sample.ts";
import type { MeasuredPath } from "../../research/monte_carlo/paths.ts";
import { RemoteRunner } from "../backtest/remote_runner.ts";
import type { Run } from "../backtest/runner.ts";
import type { EgressRules } from "../egress/guard.ts";
import { type Failed, type FailureCode, NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import { drawPaths, measurePath } from "../sandbox/path_runs.ts";
import type { CandlePathsTask, MadePaths, PathsCommon } from "../sandbox/paths_task.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import { type PathOutcome, SANDBOX_BYTES_MAX, type ScriptPathsJob, type WasmPathsJob } from "../sandbox/task.ts";
import { isJitless, refuseScript, type ScriptModes } from "../scripts/script_mode.ts";
import { makeWithin, type PathsLimits } from "./paths_limits.ts";

// A path may take this many times as long as the backtest took, and at least the time below: its process starts in that time, too.
const PATH_TIMES = 10;
const PATH_MS_MIN = 5000;

type CodeRun = Extract<Run, { readonly kind: "code" }>;
type RemotePathsRun = Extract<Run, { readonly kind: "remote" }>;

/** Everything that decides the paths of a simulation of a user's code. */
export interface ForeignPathsTask extends PathsCommon {
  readonly method: "foreign_candles";
  readonly run: CodeRun | RemotePathsRun;
  /** Of the real candles. */
  readonly task: CandlePathsTask["task"];
  /** Mean length of blocks, in candles. */
  readonly blockLength: number;
  /** Names the simulation to the endpoint. */
  readonly id: string;
  /** Milliseconds that the backtest took. */
  readonly durationMs: number;
}

/**
 * Runs a user's code on paths. Code runs in one process; a path that hangs or grows ends it, and the next path begins another. An
 * endpoint is called for one path at a time.
 */
export class ForeignPaths {
  readonly #remote: RemoteRunner;
  readonly #scripts: ScriptModes;

  constructor(egress: EgressRules, scripts: ScriptModes) {
    this.#remote = new RemoteRunner(egress);
    this.#scripts = scripts;
  }

  /** Makes the paths of a task. Those on which the strategy fails are counted, unless all do. @throws {RunError} When no path can run. */
  async make(task: ForeignPathsTask, limits: PathsLimits): Promise<Outcome<MadePaths>> {
    const { run } = task;
    const collected = new CollectedPaths(task);
    const within = {
      deadlineMs: Math.min(Math.max(PATH_MS_MIN, PATH_TIMES * task.durationMs), limits.deadlineMs),
      pathsMs: limits.deadlineMs,
      memoryBytesMax: SANDBOX_BYTES_MAX,
      onProgress: () => {},
    };
    const make = async (signal: AbortSignal) =>
      run.kind === "code"
        ? await this.#runCode(task, run, collected, { ...within, signal })
        : await this.#callEndpoint(task, run, collected, { ...within, signal });
    return await makeWithin(limits, { count: task.runs, countDone: () => Math.max(0, collected.next - 1), make });
  }

  async #runCode(
    task: ForeignPathsTask,
    { job }: CodeRun,
    collected: CollectedPaths,
    limits: SandboxLimits,
  ): Promise<Outcome<MadePaths>> {
    const language = job.kind === "script" ? job.language : null;
    const refused = language === null ? null : await refuseScript(this.#scripts, language);
    if (refused !== null) throw refused;
    const jitless = language !== null && isJitless(this.#scripts, language);
    while (collected.isOpen) {
      const first = collected.next;
      const onPath = (outcome: PathOutcome) => collected.add(outcome);
      const outcome = await runInSandbox(toPathsJob(task, job, first), { ...limits, jitless, onPath });
      if (outcome.type === "completed") break;
      if (!endsPath(outcome)) return outcome;
      // A process may have grown by the paths before: this one is tried again in a process of its own.
      if (outcome.code === "STRATEGY_OUT_OF_MEMORY" && collected.next > first) continue;
      collected.add(outcome);
    }
    return collected.end();
  }

  async #callEndpoint(
    task: ForeignPathsTask,
    { run }: RemotePathsRun,
    collected: CollectedPaths,
    limits: SandboxLimits,
  ): Promise<Outcome<MadePaths>> {
    for (const candles of drawPaths({ ...pathsOf(task), from: 0 })) {
      if (!collected.isOpen) break;
      // An endpoint may keep what it made of a run's candles.
      const runId = `${task.id}-${collected.next}`;
      const path = { ...run, ...task.task, runId, candles, checksIntegrity: false };
      const outcome = await this.#remote.run(path, limits);
      if (outcome.type === "completed") collected.add({ type: "completed", ...measurePath(outcome.result, run) });
      else if (outcome.type === "failed") collected.add(outcome);
      else return outcome;
    }
    return collected.end();
  }
}

/** True if a process was ended for what its path did: others may do better. */
function endsPath(outcome: Outcome<object>): outcome is Failed {
  return outcome.type === "failed" && ["STRATEGY_TIMED_OUT", "STRATEGY_OUT_OF_MEMORY"].includes(outcome.code);
}

function toPathsJob(task: ForeignPathsTask, job: CodeRun["job"], from: number): WasmPathsJob | ScriptPathsJob {
  const { parametersJson, candlesMin } = job;
  const paths = { ...pathsOf(task), from, parametersJson, candlesMin };
  return job.kind === "run"
    ? { ...paths, kind: "run_paths", module: job.module }
    : { ...paths, kind: "script_paths", source: job.source, language: job.language };
}

function pathsOf({ task, runs, seed: pathSeed, blockLength }: ForeignPathsTask): Omit<CandlePathsTask, "from"> {
  return { task, pathSeed, blockLength, until: runs + 1 };
}

/** The paths of a simulation as they end, in order; the first one is the real run. */
class CollectedPaths {
  readonly #runs: number;
  readonly #sample: SampleCollector;
  readonly #failed = new Map<FailureCode, FailedPaths & { readonly code: FailureCode }>();
  #real: MeasuredPath | Failed | null = null;
  /** The path that ends next. */
  next = 0;

  constructor({ runs, ruinDrawdown, task: { candles, firstIndex, initialBalance } }: ForeignPathsTask) {
    const length = candles.time.length - firstIndex;
    this.#runs = runs;
    this.#sample = new SampleCollector({ sampling: "candle_blocks", runs, length, initialBalance, ruinDrawdown });
  }

  /** Paths are left, and a real run with which they can be compared. */
  get isOpen(): boolean {
    return this.next <= this.#runs && !(this.#real !== null && "code" in this.#real);
  }

  add(outcome: PathOutcome): void {
    const isReal = this.next++ === 0;
    if (isReal) this.#real = outcome;
    else if (outcome.type === "completed") this.#sample.add(outcome);
    else this.#countFailed(outcome);
  }

  end(): Outcome<MadePaths> {
    if (this.#real === null) return NOT_BEGUN;
    if ("code" in this.#real) return this.#real;
    const failed = [...this.#failed.values()];
    const [first] = failed;
    if (first !== undefined && failed.reduce((sum, { paths }) => sum + paths, 0) === this.#runs) {
      const { code, message } = first;
      return { type: "failed", code, message: `Cannot finish one of ${this.#runs} paths. The first: ${message}` };
    }
    return { type: "completed", samples: [this.#sample.finish(this.#real)], failed };
  }

  #countFailed({ code, message }: Failed): void {
    const { paths, ...same } = this.#failed.get(code) ?? { code, message, paths: 0 };
    this.#failed.set(code, { ...same, paths: paths + 1 });
  }
}

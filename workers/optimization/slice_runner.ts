import { TrialTable } from "../../db/codec/trial_table.ts";
import type { Db } from "../../db/client.ts";
import { readModule } from "../../db/modules.ts";
import type { Optimization } from "../../db/optimizations.ts";
import type { SandboxRuntime } from "../../db/schema.ts";
import { Pool, type RunLimits } from "../backtest/pool.ts";
import { type RemoteRun, RemoteRunner } from "../backtest/remote_runner.ts";
import { Slots } from "../backtest/slots.ts";
import { modeForOneMarket } from "../backtest/strategy_code.ts";
import type { RunSettings } from "../backtest/run_settings.ts";
import type { EgressRules } from "../egress/guard.ts";
import type { Execution } from "../../engine/execution.ts";
import { NOT_BEGUN, type Outcome, RunError } from "../common/outcome.ts";
import { executionOf, ownParameters } from "../../research/execution_axes.ts";
import type { LuckReport, Trials } from "../../research/overfitting.ts";
import type {
  CarriedTests,
  CarryTask,
  FoundPoints,
  PointsTask,
  PortfolioCarryTask,
  SliceRun,
  TrialTask,
} from "../common/protocol.ts";
import { isJitless, refuseScript, type ScriptModes } from "../scripts/script_mode.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import type { Spares } from "../sandbox/spares.ts";
import { SANDBOX_BYTES_MAX, type SandboxRun, type ScriptTrialsJob, type WasmTrialsJob } from "../sandbox/task.ts";
import { CollectedTrials, inStoredOrder } from "./collected_trials.ts";
import type { PortfolioSlice } from "./portfolio_slice.ts";
import { runPortfolioTrials } from "./portfolio_trials.ts";
import type { MarketTrials } from "./scan_slice.ts";
import type { SlicePlan } from "./slice_plan.ts";

// Slices wait for each other at most as long as one takes.
const WAIT_MS = 5000;
// Of a shorter slice, its storing and the beginning of the next one take a tenth and more.
const QUICK_SLICE_MS = 400;

/** The limits of a slice. */
export type SliceLimits = Pick<RunLimits, "deadlineMs" | "signal" | "onBegin">;

/** Loads a slice again with more candles before its range. */
type ReloadSlice = (lookback: number) => Promise<SlicePlan>;

type Runner = Pick<Optimization, "id" | "runtime" | "strategySlug" | "symbol" | "exchange">;

/** Runs the trials of slices, in threads and processes of their own, so that no backtest waits for one. */
export class SliceRunner {
  readonly #db: Db;
  readonly #runsMax: number;
  readonly #scripts: ScriptModes;
  readonly #slots: Slots;
  readonly #remote: RemoteRunner;
  readonly #spares: Spares | undefined;
  #pool: Pool | undefined;

  /**
   * @param runsMax How many slices compute at once.
   * @param spares Processes for users' code; the caller closes them. Absent: each slice starts its own.
   */
  constructor(db: Db, runsMax: number, egress: EgressRules, scripts: ScriptModes, spares?: Spares) {
    this.#scripts = scripts;
    this.#spares = spares;
    this.#db = db;
    this.#runsMax = runsMax;
    this.#slots = new Slots(runsMax);
    this.#remote = new RemoteRunner(egress);
  }

  /** How many slices to hold in advance, for the moment others end: none while they are long, so that other processes get them. */
  get slicesAhead(): number {
    return this.#pool?.isQuick(QUICK_SLICE_MS, QUICK_SLICE_MS) === true ? this.#runsMax : 0;
  }

  /**
   * Runs the first trials of a slice, as many as it has time for: `failed` is the end of the first one.
   *
   * @throws {RunError} When no trial can run.
   */
  async run(
    { id, runtime, strategySlug, symbol, exchange }: Runner,
    plan: SlicePlan,
    bounds: SliceLimits,
    reload: ReloadSlice,
  ): Promise<Outcome<SliceRun>> {
    const limits = { ...bounds, waitMs: WAIT_MS, onProgress: () => {} };
    if (runtime === null) {
      return await this.#startPool().runSlice({ ...plan.task, slug: strategySlug ?? "" }, limits);
    }
    if (!await this.#slots.take(limits)) return NOT_BEGUN;
    limits.onBegin?.();
    try {
      const within = { ...limits, memoryBytesMax: SANDBOX_BYTES_MAX, spares: this.#spares };
      return runtime.type === "remote"
        ? await this.#callEndpoint({ runId: id, instrument: { symbol, exchange }, ...runtime }, plan, within)
        : await this.#runCode(runtime, plan, within, reload);
    } finally {
      this.#slots.release();
    }
  }

  /**
   * Runs the first trials of a slice of several markets, dates or timeframes: code of users, those of the first alone.
   *
   * @throws {RunError} When no trial can run.
   */
  async runScan(
    record: Runner,
    markets: readonly MarketTrials[],
    bounds: SliceLimits,
  ): Promise<Outcome<SliceRun>> {
    if (record.runtime === null) {
      const limits = { ...bounds, waitMs: WAIT_MS, onProgress: () => {} };
      const slug = record.strategySlug ?? "";
      const tasks = markets.map((each) => "plan" in each ? { ...each.plan.task, slug } : each);
      return await this.#startPool().runSlices(tasks, limits);
    }
    const [first] = markets;
    if (first !== undefined && "plan" in first) {
      const { symbol, exchange, plan, reload } = first;
      return await this.run({ ...record, symbol, exchange }, plan, bounds, reload);
    }
    const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: 1 });
    for (const trial of first?.trials ?? []) table.addFailed(trial, first!.error);
    return { type: "completed", done: table.rows, ...table.encode() };
  }

  /**
   * Runs the first trials of a slice over many markets with one account.
   *
   * @throws {RunError} When no trial can run.
   */
  async runPortfolio(
    record: Optimization,
    settings: RunSettings,
    slice: PortfolioSlice,
    bounds: SliceLimits,
  ): Promise<Outcome<SliceRun>> {
    const limits = { ...bounds, waitMs: WAIT_MS, onProgress: () => {} };
    if (record.runtime === null) {
      const { seed: _seed, ...task } = slice.task;
      return await this.#startPool().runSlice({ ...task, ...slice.trials, slug: record.strategySlug ?? "" }, limits);
    }
    const language = record.runtime.type === "script" ? record.runtime.language ?? "typescript" : null;
    const refused = language === null ? null : await refuseScript(this.#scripts, language);
    if (refused !== null) throw refused;
    if (!await this.#slots.take(limits)) return NOT_BEGUN;
    limits.onBegin?.();
    try {
      const jitless = language !== null && isJitless(this.#scripts, language);
      const within = { ...limits, memoryBytesMax: SANDBOX_BYTES_MAX, jitless };
      return await runPortfolioTrials({ db: this.#db, remote: this.#remote, within }, record, settings, slice);
    } finally {
      this.#slots.release();
    }
  }

  async #runCode(
    runtime: Exclude<SandboxRuntime, { readonly type: "remote" }>,
    plan: SlicePlan,
    limits: SandboxLimits,
    reload: ReloadSlice,
  ): Promise<Outcome<SliceRun>> {
    const language = runtime.type === "script" ? runtime.language ?? "typescript" : null;
    const refused = language === null ? null : await refuseScript(this.#scripts, language);
    if (refused !== null) throw refused;
    const code = await readModule(this.#db, runtime.sha256);
    if (code === null) throw new RunError("STRATEGY_FAILED", `Cannot find the code ${runtime.sha256}`);
    const collected = new CollectedTrials(plan.task);
    const toJob = (
      { task: { trials, own, budgetMs, returnsMax, ...task }, lookbackWanted }: SlicePlan,
      canReload: boolean,
    ) => {
      const common = {
        parametersJson: trials.slice(collected.done).map(({ parameters }) =>
          JSON.stringify({ ...own, ...ownParameters(parameters) }, inStoredOrder)
        ),
        ...executionsOf(task.execution, trials.slice(collected.done)),
        candlesMin: runtime.minCandles,
        task,
        lookback: trials[0]?.lookback ?? 0,
        lookbackWanted,
        canReload,
        budgetMs,
        // Every `returnsStride`-th trial keeps its returns.
        returnsMax: returnsMax * task.returnsStride,
      };
      return runtime.type === "wasm"
        ? { ...common, kind: "run_trials", module: code } as const satisfies WasmTrialsJob
        : {
          ...common,
          kind: "script_trials",
          source: new TextDecoder().decode(code),
          language: language ?? "typescript",
        } as const satisfies ScriptTrialsJob;
    };
    const outcome = await runInSandbox(toJob(plan, true), {
      ...limits,
      jitless: language !== null && isJitless(this.#scripts, language),
      onTrial: (trial) => collected.add(trial),
      reload: async (lookback) => toJob(await reload(lookback), false),
    });
    return collected.end(outcome);
  }

  /** One trial at a time: an endpoint's own limits hold for each. */
  async #callEndpoint(
    runtime: Extract<SandboxRuntime, { readonly type: "remote" }> & Pick<RemoteRun, "runId" | "instrument">,
    { task: { trials, own, budgetMs, returnsMax: _returnsMax, returnsStride, ...task } }: SlicePlan,
    limits: SandboxLimits,
  ): Promise<Outcome<SliceRun>> {
    const until = performance.now() + budgetMs;
    const { objective, direction, ...settings } = task;
    const collected = new CollectedTrials({ trials, returnsStride, objective, direction });
    const mode = modeForOneMarket(runtime);
    const run = { ...settings, ...runtime, mode, checksIntegrity: false };
    for (const { parameters } of trials) {
      if (collected.done > 0 && performance.now() >= until) break;
      const outcome = await this.#attempt(
        {
          ...run,
          execution: executionOf(run.execution, parameters),
          parameters: { ...own, ...ownParameters(parameters) },
        },
        limits,
        collected.done > 0,
      );
      if (outcome === null) break;
      if (outcome.type === "completed") collected.add({ type: "completed", ...outcome.result });
      else if (outcome.type === "failed") collected.add(outcome);
      else return collected.end(outcome);
    }
    return collected.end({ type: "completed" });
  }

  /** Finds points in a thread: on the thread of HTTP, a long search would hold up every request. */
  async findPoints(task: PointsTask, signal: AbortSignal): Promise<Outcome<FoundPoints>> {
    return await this.#startPool().findPoints(task, { signal, waitMs: WAIT_MS });
  }

  /** Trades the test windows of an optimization as one account. */
  async carry(
    task: CarryTask | PortfolioCarryTask,
    limits: Pick<RunLimits, "deadlineMs" | "signal">,
  ): Promise<Outcome<CarriedTests>> {
    return await this.#startPool().carry(task, { ...limits, waitMs: WAIT_MS, onProgress: () => {} });
  }

  /** Measures how much of an optimization's best trial is luck. */
  async measureLuck(trials: Trials, signal: AbortSignal): Promise<Outcome<LuckReport>> {
    return await this.#startPool().measureLuck(trials, { signal, waitMs: WAIT_MS });
  }

  #startPool(): Pool {
    // Many services never run an optimization.
    return this.#pool ??= new Pool(this.#runsMax);
  }

  /**
   * Runs a trial of an endpoint.
   *
   * @param hasTrials The slice has others, which are to be stored.
   * @returns Null where the endpoint cannot be called any more: the next slice finds out why.
   * @throws {RunError} As RemoteRunner.run(), for the first trial of a slice.
   */
  async #attempt(run: RemoteRun, limits: SandboxLimits, hasTrials: boolean): Promise<Outcome<SandboxRun> | null> {
    try {
      return await this.#remote.run(run, limits);
    } catch (error) {
      if (hasTrials && error instanceof RunError) return null;
      throw error;
    }
  }

  /** Ends the warm threads; sandbox processes end by their signals. */
  close(): void {
    this.#pool?.close();
    this.#slots.close();
  }
}

/** The execution of each trial; nothing where it is the same for all. */
function executionsOf(
  common: Execution,
  trials: readonly TrialTask[],
): { readonly executions?: readonly Execution[] } {
  const executions = trials.map(({ parameters }) => executionOf(common, parameters));
  return executions.every((execution) => execution === common) ? {} : { executions };
}

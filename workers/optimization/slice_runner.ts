import { TrialTable } from "../../db/codec/trial_table.ts";
import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import type { SandboxRuntime } from "../../db/schema.ts";
import { Pool, type RunLimits } from "../backtest/pool.ts";
import { type RemoteRun, RemoteRunner } from "../backtest/remote_runner.ts";
import { Slots } from "../backtest/slots.ts";
import { modeForOneMarket } from "../backtest/strategy_code.ts";
import type { RunSettings } from "../backtest/run_settings.ts";
import type { EgressRules } from "../egress/guard.ts";
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
} from "../common/protocol.ts";
import type { ScriptModes } from "../scripts/script_mode.ts";
import type { SandboxLimits } from "../sandbox/process.ts";
import type { Spares } from "../sandbox/spares.ts";
import { SANDBOX_BYTES_MAX, type SandboxRun } from "../sandbox/task.ts";
import { type CarriedPlan, carryCode, type CodeRuntime, type CodeServices, runCodeTrials } from "./code_trials.ts";
import { CollectedTrials } from "./collected_trials.ts";
import type { PortfolioSlice } from "./portfolio_slice.ts";
import { runCodeAccounts, runRemoteAccounts } from "./portfolio_trials.ts";
import type { MarketTrials } from "./scan_slice.ts";
import type { SlicePlan } from "./slice_plan.ts";

// Slices wait for each other at most as long as one takes.
const WAIT_MS = 5000;
// Of a shorter slice, its storing and the beginning of the next one take a tenth and more.
const QUICK_SLICE_MS = 400;

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
        : await runCodeTrials(this.#code, runtime, plan, within, reload);
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

  /** Runs the first trials of a slice over many markets with one account. @throws {RunError} When no trial can run. */
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
    if (!await this.#slots.take(limits)) return NOT_BEGUN;
    limits.onBegin?.();
    try {
      const within = { ...limits, memoryBytesMax: SANDBOX_BYTES_MAX, spares: this.#spares };
      return record.runtime.type === "remote"
        ? await runRemoteAccounts({ db: this.#db, remote: this.#remote, within }, { record, settings, slice })
        : await runCodeAccounts(this.#code, record.runtime, slice, within);
    } finally {
      this.#slots.release();
    }
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

  /** The same of a module or a script. @throws {RunError} When it cannot be run. */
  async carryCode(
    runtime: CodeRuntime,
    plan: CarriedPlan,
    bounds: Pick<RunLimits, "deadlineMs" | "signal">,
    reload: (lookback: number) => Promise<CarriedPlan>,
  ): Promise<Outcome<CarriedTests>> {
    const limits = { ...bounds, waitMs: WAIT_MS, onProgress: () => {}, memoryBytesMax: SANDBOX_BYTES_MAX };
    if (!await this.#slots.take(limits)) return NOT_BEGUN;
    try {
      return await carryCode(this.#code, runtime, plan, { ...limits, spares: this.#spares }, reload);
    } finally {
      this.#slots.release();
    }
  }

  /** Measures how much of an optimization's best trial is luck. */
  async measureLuck(trials: Trials, signal: AbortSignal): Promise<Outcome<LuckReport>> {
    return await this.#startPool().measureLuck(trials, { signal, waitMs: WAIT_MS });
  }

  get #code(): CodeServices {
    return { db: this.#db, scripts: this.#scripts };
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

/** Trials of modules and scripts, and the tests of a walk-forward optimization that one account trades by them. */
import type { Db } from "../../db/client.ts";
import { readModule } from "../../db/modules.ts";
import type { SandboxRuntime } from "../../db/schema.ts";
import type { Execution } from "../../engine/execution.ts";
import { executionOf, ownParameters } from "../../research/execution_axes.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { CarriedTests, CarryTask, SliceRun, TrialsTask, TrialTask } from "../common/protocol.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import { RELOADS_MAX, type SandboxTask, type TrialOutcome } from "../sandbox/task.ts";
import type {
  MarketsTrialsRun,
  ScriptMarketsTrialsJob,
  ScriptTrialsJob,
  TrialsRun,
  WasmMarketsTrialsJob,
  WasmTrialsJob,
} from "../sandbox/trials_task.ts";
import { isJitless, refuseScript, type ScriptModes } from "../scripts/script_mode.ts";
import { runPastBroken } from "./broken_trials.ts";
import { CollectedTrials, inStoredOrder } from "./collected_trials.ts";
import type { SlicePlan } from "./slice_plan.ts";

export type CodeRuntime = Exclude<SandboxRuntime, { readonly type: "remote" }>;

/** Where code is read, and how scripts run. */
export interface CodeServices {
  readonly db: Db;
  readonly scripts: ScriptModes;
}

/** @returns True if the code runs without a compiler. @throws {RunError} Where its language cannot run here. */
async function requireMode(scripts: ScriptModes, runtime: SandboxRuntime): Promise<boolean> {
  if (runtime.type !== "script") return false;
  const language = runtime.language ?? "typescript";
  const refused = await refuseScript(scripts, language);
  if (refused !== null) throw refused;
  return isJitless(scripts, language);
}

/** Makes the jobs of some code. @throws {RunError} When it cannot be run. */
export async function openCode({ db, scripts }: CodeServices, runtime: CodeRuntime) {
  const jitless = await requireMode(scripts, runtime);
  const module = await readModule(db, runtime.sha256);
  if (module === null) throw new RunError("STRATEGY_FAILED", `Cannot find the code ${runtime.sha256}`);
  const { minCandles: candlesMin } = runtime;
  const script: Pick<ScriptTrialsJob, "source" | "language"> | null = runtime.type === "wasm"
    ? null
    : { source: new TextDecoder().decode(module), language: runtime.language ?? "typescript" };
  return {
    jitless,
    toJob: (run: Omit<TrialsRun, "candlesMin">): WasmTrialsJob | ScriptTrialsJob =>
      script === null
        ? { ...run, candlesMin, kind: "run_trials", module }
        : { ...run, candlesMin, kind: "script_trials", ...script },
    toMarketsJob: (run: Omit<MarketsTrialsRun, "candlesMin">): WasmMarketsTrialsJob | ScriptMarketsTrialsJob =>
      script === null
        ? { ...run, candlesMin, kind: "run_markets_trials", module }
        : { ...run, candlesMin, kind: "script_markets_trials", ...script },
  };
}

/** Runs the first trials of a slice, as many as it has time for. @throws {RunError} When none can run, or as runPastBroken(). */
export async function runCodeTrials(
  services: CodeServices,
  runtime: CodeRuntime,
  plan: SlicePlan,
  limits: SandboxLimits,
  reload: (lookback: number) => Promise<SlicePlan>,
): Promise<Outcome<SliceRun>> {
  const { jitless, toJob } = await openCode(services, runtime);
  const collected = new CollectedTrials(plan.task);
  const begun = performance.now();
  const jobOf = ({ task, lookbackWanted }: SlicePlan, reloads: number) => {
    const { trials: _trials, own: _own, budgetMs: _budgetMs, returnsMax: _returnsMax, ...settings } = task;
    const trials = describeTrials(task, task.execution, collected.done);
    const budgetMs = leftOf(trials.budgetMs, begun, reloads);
    return toJob({ ...trials, budgetMs, task: settings, lookbackWanted, canReload: reloads < RELOADS_MAX });
  };
  const run = () => {
    let reloads = 0;
    return runInSandbox(jobOf(plan, reloads), {
      ...limits,
      jitless,
      onTrial: (trial) => collected.add(trial),
      reload: async (lookback) => jobOf(await reload(lookback), ++reloads),
    });
  };
  return await runPastBroken(collected, run, limits.deadlineMs);
}

/** The rest of a slice's time for a job that continues another. */
export function leftOf(budgetMs: number, begun: number, reloads: number): number {
  return reloads === 0 ? budgetMs : Math.max(0, budgetMs - (performance.now() - begun));
}

/** The trials of a slice that are not done yet, as a process of code takes them. */
export function describeTrials(
  { trials, own, budgetMs, returnsMax, returnsStride }: TrialsTask,
  execution: Execution,
  done: number,
): Pick<TrialsRun, "parametersJson" | "executions" | "lookback" | "budgetMs" | "returnsMax"> {
  const left = trials.slice(done);
  return {
    parametersJson: left.map(({ parameters }) => toJson({ ...own, ...ownParameters(parameters) })),
    ...executionsOf(execution, left),
    lookback: trials[0]?.lookback ?? 0,
    budgetMs,
    // Every `returnsStride`-th trial keeps its returns.
    returnsMax: returnsMax * returnsStride,
  };
}

/** The tests that one account trades. */
export interface CarriedPlan {
  readonly task: SandboxTask;
  /** One at least. */
  readonly stages: CarryTask["stages"];
  /** Candles that were wanted before the tests. */
  readonly lookback: number;
}

/** Trades tests as one account. @throws {RunError} When the code cannot be run. */
export async function carryCode(
  services: CodeServices,
  runtime: CodeRuntime,
  plan: CarriedPlan,
  limits: SandboxLimits,
  reload: (lookback: number) => Promise<CarriedPlan>,
): Promise<Outcome<CarriedTests>> {
  const { jitless, toJob } = await openCode(services, runtime);
  let ended: TrialOutcome | undefined;
  const jobOf = ({ task, stages, lookback }: CarriedPlan, canReload: boolean) => {
    const [first = "{}", ...later] = stages.map(({ parameters }) => toJson(parameters));
    return toJob({
      parametersJson: [first],
      later: later.map((parametersJson, i) => ({ parametersJson, fromMs: stages[i + 1]!.fromMs })),
      // The first trial has all the time that there is.
      ...{ task, lookback: plan.lookback, lookbackWanted: lookback, canReload, budgetMs: 0, returnsMax: 0 },
    });
  };
  const outcome = await runInSandbox(jobOf(plan, true), {
    ...limits,
    jitless,
    onTrial: (trial) => ended = trial,
    reload: async (lookback) => jobOf(await reload(lookback), false),
  });
  if (outcome.type !== "completed") return outcome;
  if (ended?.type === "failed") return ended;
  if (ended?.type !== "completed" || ended.marks === undefined) {
    return { type: "broken", message: "its process traded no test" };
  }
  const { exposure } = ended.metrics;
  return { type: "completed", exposure: exposure ?? null, marks: ended.marks };
}

function toJson(parameters: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(parameters, inStoredOrder);
}

/** The execution of each trial; nothing where it is the same for all. */
function executionsOf(
  common: Execution,
  trials: readonly TrialTask[],
): { readonly executions?: readonly Execution[] } {
  const executions = trials.map(({ parameters }) => executionOf(common, parameters));
  return executions.every((execution) => execution === common) ? {} : { executions };
}

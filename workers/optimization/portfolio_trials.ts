/** Trials of a user's code over many markets with one account. */
import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import type { RemoteRunner } from "../backtest/remote_runner.ts";
import type { RunSettings } from "../backtest/run_settings.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { SliceRun, TrialTask } from "../common/protocol.ts";
import type { LoadedPortfolio } from "../portfolio/load_portfolio.ts";
import { findMarketsDecider } from "../portfolio/markets_decider.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import { RELOADS_MAX, type SandboxMarkets } from "../sandbox/task.ts";
import { executionOf, ownParameters } from "../../research/execution_axes.ts";
import { type CodeRuntime, type CodeServices, describeTrials, leftOf, openCode } from "./code_trials.ts";
import { runPastBroken } from "./broken_trials.ts";
import { CollectedTrials, inStoredOrder } from "./collected_trials.ts";
import type { PortfolioSlice } from "./portfolio_slice.ts";

/**
 * Runs the first trials of a slice of a module or a script, as many as it has time for, in one process.
 *
 * @throws {RunError} When no trial can run, or as runPastBroken().
 */
export async function runCodeAccounts(
  services: CodeServices,
  runtime: CodeRuntime,
  slice: PortfolioSlice,
  limits: SandboxLimits,
): Promise<Outcome<SliceRun>> {
  const { jitless, toMarketsJob } = await openCode(services, runtime);
  const collected = new CollectedTrials(slice.trials);
  const begun = performance.now();
  const jobOf = ({ task }: Pick<LoadedPortfolio, "task">, lookbackWanted: number | null, reloads: number) => {
    const trials = describeTrials(slice.trials, task.execution, collected.done);
    const budgetMs = leftOf(trials.budgetMs, begun, reloads);
    const canReload = reloads < RELOADS_MAX;
    return toMarketsJob({ ...trials, budgetMs, task, lookbackWanted: lookbackWanted ?? trials.lookback, canReload });
  };
  const run = () => {
    let reloads = 0;
    return runInSandbox(jobOf(slice, null, reloads), {
      ...limits,
      jitless,
      onTrial: (trial) => collected.add(trial),
      reload: async (lookback) => jobOf(await slice.reload(lookback), lookback, ++reloads),
    });
  };
  return await runPastBroken(collected, run, limits.deadlineMs);
}

interface RemoteServices {
  readonly db: Db;
  readonly remote: RemoteRunner;
  readonly within: SandboxLimits;
}

interface RemoteTrials {
  readonly record: Optimization;
  readonly settings: RunSettings;
  readonly slice: PortfolioSlice;
}

/**
 * Runs the first trials of a slice of an endpoint, as many as it has time for, one at a time: an endpoint's own limits hold for each.
 *
 * @throws {RunError} When no trial can run.
 */
export async function runRemoteAccounts(services: RemoteServices, given: RemoteTrials): Promise<Outcome<SliceRun>> {
  const { trials, budgetMs } = given.slice.trials;
  const until = performance.now() + budgetMs;
  const collected = new CollectedTrials(given.slice.trials);
  for (const trial of trials) {
    if (collected.done > 0 && performance.now() >= until) break;
    const outcome = await attempt(services, given, trial, collected.done > 0);
    if (outcome === null) break;
    if (outcome.type === "completed") collected.add({ type: "completed", ...outcome.result });
    else if (outcome.type === "failed") collected.add(outcome);
    else return collected.end(outcome);
  }
  return collected.end({ type: "completed" });
}

/**
 * @param hasTrials The slice has others, which are to be stored.
 * @returns Null where no trial can run any more: the next slice finds out why.
 */
async function attempt(
  { db, remote, within }: RemoteServices,
  { record, settings, slice: { task } }: RemoteTrials,
  { parameters }: TrialTask,
  hasTrials: boolean,
): Promise<Outcome<SandboxMarkets> | null> {
  const own = JSON.parse(JSON.stringify({ ...settings.own, ...ownParameters(parameters) }, inStoredOrder));
  try {
    const decider = await findMarketsDecider(db, record, { ...settings, own });
    const execution = executionOf(task.execution, parameters);
    const run = decider.toRun({ ...task, execution, checksIntegrity: false }, null);
    if (run.kind !== "remote") throw new TypeError(`Cannot run a trial of an endpoint as one of kind ${run.kind}`);
    return await remote.runMarkets(run.run, within);
  } catch (error) {
    if (hasTrials && error instanceof RunError) return null;
    throw error;
  }
}

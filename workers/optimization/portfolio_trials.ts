/** Trials of a user's code over many markets with one account: a process for each, as for a backtest. */
import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import type { RemoteRunner } from "../backtest/remote_runner.ts";
import type { RunSettings } from "../backtest/run_settings.ts";
import type { PortfolioRun } from "../backtest/runner.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { SliceRun, TrialTask } from "../common/protocol.ts";
import type { LoadedPortfolio } from "../portfolio/load_portfolio.ts";
import { findMarketsDecider } from "../portfolio/markets_decider.ts";
import { runInSandbox, type SandboxLimits } from "../sandbox/process.ts";
import type { SandboxMarkets } from "../sandbox/task.ts";
import { executionOf, ownParameters } from "../../research/execution_axes.ts";
import { CollectedTrials, inStoredOrder } from "./collected_trials.ts";
import type { PortfolioSlice } from "./portfolio_slice.ts";

interface TrialServices {
  readonly db: Db;
  readonly remote: RemoteRunner;
  readonly within: SandboxLimits;
}

/**
 * Runs the first trials of a slice, as many as it has time for.
 *
 * @throws {RunError} When no trial can run.
 */
export async function runPortfolioTrials(
  services: TrialServices,
  record: Optimization,
  settings: RunSettings,
  slice: PortfolioSlice,
): Promise<Outcome<SliceRun>> {
  const { trials, budgetMs } = slice.trials;
  const until = performance.now() + budgetMs;
  const collected = new CollectedTrials(slice.trials);
  for (const trial of trials) {
    if (collected.done > 0 && performance.now() >= until) break;
    const outcome = await attempt(services, { record, settings, slice, trial }, collected.done > 0);
    if (outcome === null) break;
    if (outcome.type === "completed") collected.add({ type: "completed", ...outcome.result });
    else if (outcome.type === "failed") collected.add(outcome);
    else return collected.end(outcome);
  }
  return collected.end({ type: "completed" });
}

interface Trial {
  readonly record: Optimization;
  readonly settings: RunSettings;
  readonly slice: PortfolioSlice;
  readonly trial: TrialTask;
}

/**
 * @param hasTrials The slice has others, which are to be stored.
 * @returns Null where no trial can run any more: the next slice finds out why.
 */
async function attempt(
  services: TrialServices,
  trial: Trial,
  hasTrials: boolean,
): Promise<Outcome<SandboxMarkets> | null> {
  try {
    return await runTrial(services, trial);
  } catch (error) {
    if (hasTrials && error instanceof RunError) return null;
    throw error;
  }
}

async function runTrial(
  { db, remote, within }: TrialServices,
  { record, settings, slice, trial }: Trial,
): Promise<Outcome<SandboxMarkets>> {
  const own = JSON.parse(JSON.stringify({ ...settings.own, ...ownParameters(trial.parameters) }, inStoredOrder));
  const decider = await findMarketsDecider(db, record, { ...settings, own });
  const toRun = ({ task, lookbackWanted }: Pick<LoadedPortfolio, "task" | "lookbackWanted">): PortfolioRun =>
    decider.toRun(
      { ...task, execution: executionOf(task.execution, trial.parameters), checksIntegrity: false },
      lookbackWanted,
    );
  const run = toRun(slice);
  if (run.kind === "remote") return await remote.runMarkets(run.run, within);
  if (run.kind !== "code") throw new TypeError(`Cannot run a trial of code as one of kind ${run.kind}`);
  const reload = async (lookback: number) => {
    const again = toRun(await slice.reload(lookback));
    if (again.kind !== "code") throw new TypeError(`Cannot continue a trial of code as one of kind ${again.kind}`);
    return again.job;
  };
  return await runInSandbox(run.job, { ...within, reload });
}

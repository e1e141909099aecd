import type { RunProgress } from "../../../engine/control.ts";
import { type Outcome, RunError } from "../../common/outcome.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { checkOrders, uncheckedIntegrity } from "../integrity.ts";
import type { SandboxRun } from "../task.ts";
import { RemoteAccount } from "./account.ts";
import { decideInBatches } from "./batch.ts";
import { RemoteClient } from "./client.ts";
import { BatchChecks } from "./integrity.ts";
import { decideInSteps } from "./step.ts";
import { checkSteps } from "./step_integrity.ts";

/** Warns of what an endpoint in batch mode may do. */
export const BATCH_NOTE =
  "The endpoint decided in batch mode: it got later candles together with those to decide on, and no account. See integrity.lookahead.";

/**
 * Runs a remote strategy: asks its endpoint for every decision, simulates them, and checks the endpoint's integrity.
 *
 * @param onProgress Called with the progress so far.
 * @returns The result, or the endpoint's failure.
 */
export async function runRemote(
  task: RemoteTask,
  onProgress: (progress: RunProgress) => void,
): Promise<Outcome<SandboxRun>> {
  const { checksIntegrity = true } = task;
  const client = new RemoteClient(task);
  const account = new RemoteAccount(task);
  const drawn = () => ({ log: client.plots.log, plots: client.plots.kept });
  try {
    if (task.mode === "batch") {
      const decisions = await decideInBatches(task, client, account, onProgress);
      const result = account.finish();
      if (!checksIntegrity) return { type: "completed", result, integrity: uncheckedIntegrity(result), ...drawn() };
      const integrity = {
        ...await new BatchChecks(task, client, decisions, result).run(),
        orders: checkOrders(result),
      };
      return { type: "completed", result: { ...result, notes: [...result.notes, BATCH_NOTE] }, integrity, ...drawn() };
    }
    const kept = await decideInSteps(task, client, account, onProgress);
    const result = account.finish();
    if (!checksIntegrity) return { type: "completed", result, integrity: uncheckedIntegrity(result), ...drawn() };
    const integrity = { ...await checkSteps(task, client, kept), orders: checkOrders(result) };
    return { type: "completed", result, integrity, ...drawn() };
  } catch (error) {
    if (error instanceof RunError) return { ...error.outcome, ...drawn() };
    throw error;
  } finally {
    client.close();
  }
}

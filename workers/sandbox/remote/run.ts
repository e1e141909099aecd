import type { RunProgress } from "../../../engine/control.ts";
import { run, type RunResult } from "../../../engine/run.ts";
import type { RemoteTask } from "../../protocol.ts";
import { checkOrders } from "../integrity.ts";
import type { SandboxAnswer } from "../task.ts";
import { replayStrategy } from "./actions.ts";
import { decideInBatches, type Decisions } from "./batch.ts";
import { RemoteClient, RemoteFailure } from "./client.ts";
import { BatchChecks } from "./integrity.ts";
import { decideInSteps } from "./step.ts";
import { checkSteps } from "./step_integrity.ts";

const BATCH_NOTE =
  "The endpoint decided in batch mode: it was given later candles together with those to decide on, and no account. See integrity.lookahead.";

/**
 * Runs a remote strategy: asks its endpoint for every decision, replays them in the simulator, and puts the endpoint to the test.
 *
 * @param onProgress Called with how far the run is.
 * @returns The result, or what was wrong with the endpoint.
 */
export async function runRemote(task: RemoteTask, onProgress: (progress: RunProgress) => void): Promise<SandboxAnswer> {
  const client = new RemoteClient(task);
  try {
    if (task.mode === "batch") {
      const decisions = await decideInBatches(task, client, onProgress);
      const result = replay(task, decisions);
      const integrity = { ...await new BatchChecks(task, client, decisions).run(), orders: checkOrders(result) };
      return { type: "done", result: { ...result, notes: [...result.notes, BATCH_NOTE] }, integrity, log: [] };
    }
    const decisions = await decideInSteps(task, client, onProgress);
    const result = replay(task, decisions);
    const integrity = { ...await checkSteps(task, client, decisions.kept), orders: checkOrders(result) };
    return { type: "done", result, integrity, log: [] };
  } catch (error) {
    if (error instanceof RemoteFailure) return { type: "failed", code: error.code, message: error.message };
    throw error;
  } finally {
    client.close();
  }
}

function replay(task: RemoteTask, { actions, first }: Decisions): RunResult {
  const { candles, firstIndex, timeframeMs, assetClass, initialBalance, execution, minCandles, finer = null } = task;
  const settings = { candles, firstIndex, timeframeMs, assetClass, initialBalance, execution, finer };
  const strategy = replayStrategy(actions, first, minCandles);
  return run({ ...settings, strategy, isReplay: true, control: null });
}

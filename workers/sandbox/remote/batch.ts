import type { RunProgress } from "../../../engine/control.ts";
import { RunError } from "../../outcome.ts";
import type { RemoteTask } from "../../protocol.ts";
import type { RemoteAccount } from "./account.ts";
import type { Action } from "./answer.ts";
import { describeCandle, IN_FLIGHT_MAX, type RemoteClient } from "./client.ts";
import { firstDecision, type Stretch, stretchFrom } from "./request.ts";

// The first requests are small, so that faults of an endpoint show at once. The integrity checks repeat the first.
const FIRST_COUNTS = [64, 256, 1024];
const COUNT = 4096;
// All actions are held until the run has its last decision.
const ACTIONS_MAX = 1_000_000;

/** An endpoint's decisions: a list of actions for each candle from index `first` on. */
export interface Decisions {
  readonly first: number;
  readonly actions: readonly (readonly Action[])[];
}

/**
 * Cuts a run into stretches. They depend on the run alone, so equal runs send equal requests. A long lookback makes them longer, so
 * that requests are not mostly history.
 */
export function planBatches(task: RemoteTask): readonly Stretch[] {
  const stretches: Stretch[] = [];
  const end = task.candles.time.length;
  for (let first = firstDecision(task); first < end;) {
    const count = FIRST_COUNTS[stretches.length] ?? Math.max(COUNT, task.lookbackCandles);
    const stretch = stretchFrom(first, Math.min(count, end - first), task.lookbackCandles);
    stretches.push(stretch);
    first = stretch.until;
  }
  return stretches;
}

/**
 * Asks for every decision of a run, several batches at a time, and lets the account follow them.
 *
 * @param onProgress Called with the progress after each batch.
 * @throws {RunError}
 */
export async function decideInBatches(
  task: RemoteTask,
  client: RemoteClient,
  account: RemoteAccount,
  onProgress: (progress: RunProgress) => void,
): Promise<Decisions> {
  const batches = planBatches(task);
  const first = firstDecision(task);
  const actions: (readonly Action[])[] = [];
  const underWay: Promise<readonly (readonly Action[])[]>[] = [];
  let candle = task.firstIndex;
  const follow = (until: number) => {
    for (; candle < until && account.advance(candle); candle++) {
      if (candle >= first) account.decide(candle, actions[candle - first]!);
    }
  };
  let actionsCount = 0;
  let next = 0;
  for (const batch of batches) {
    while (next < batches.length && underWay.length < IN_FLIGHT_MAX) underWay.push(start(client, batches[next++]!));
    for (const decided of await underWay.shift()!) {
      actionsCount += decided.length;
      actions.push(decided);
    }
    if (actionsCount > ACTIONS_MAX) {
      const where = `${task.endpoint.host} by ${describeCandle(task, batch.until - 1)}`;
      const message = `Cannot hold more than ${ACTIONS_MAX} actions in batch mode, reached for ${where}: use step mode`;
      throw new RunError("INVALID_SIGNAL", message);
    }
    follow(batch.until);
    onProgress(account.progressAt(batch.until - 1));
  }
  follow(task.candles.time.length);
  return { first, actions };
}

/** Starts a request whose failure is handled later, when its answer is awaited. */
function start(client: RemoteClient, batch: Stretch): Promise<readonly (readonly Action[])[]> {
  const answer = client.ask(batch);
  answer.catch(() => {});
  return answer;
}

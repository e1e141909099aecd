import type { RunProgress } from "../../../engine/control.ts";
import { ASKED_CANDLES_MAX } from "../../../engine/inputs.ts";
import { RunError } from "../../common/outcome.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import type { RemoteAccount } from "./account.ts";
import type { Action } from "./answer.ts";
import { type Answered, describeCandle, type RemoteClient } from "./client.ts";
import { IN_FLIGHT_MAX } from "./line.ts";
import { digestOf } from "./compare.ts";
import { firstDecision } from "./request.ts";
import { type Stretch, stretchFrom } from "./stretch.ts";
import { countStretch } from "./request_inputs.ts";

// The first requests are small, so that faults of an endpoint show at once. The integrity checks repeat the first.
const FIRST_COUNTS = [64, 256, 1024];
const COUNT = 4096;
/** Actions of a run in batch mode. */
export const ACTIONS_MAX = 2_000_000;
/** The decisions of an endpoint, for comparison: a digest of its actions for each candle from index `first` on. */
export interface Decisions {
  readonly first: number;
  readonly digests: Float64Array;
  /** A candle's index for each kind of action. */
  readonly kinds: ReadonlyMap<string, number>;
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
    const stretch = shorten(task, stretchFrom(first, Math.min(count, end - first), task.lookbackCandles));
    stretches.push(stretch);
    first = stretch.until;
  }
  return stretches;
}

/** Asks about fewer candles where their inputs have too many: one decision is never too long, since its submission was accepted. */
function shorten(task: RemoteTask, stretch: Stretch): Stretch {
  let { first, until } = stretch;
  while (until - first > 1 && countStretch(task, { ...stretch, until }) > ASKED_CANDLES_MAX) {
    until = first + ((until - first) >>> 1);
  }
  return { ...stretch, until };
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
  // The actions themselves would take more memory than the result of the run.
  const digests = new Float64Array(Math.max(0, task.candles.time.length - first));
  const underWay: Promise<Answered>[] = [];
  let candle = task.firstIndex;
  const follow = (until: number, begin: number, decided: readonly (readonly Action[])[]) => {
    for (; candle < until && account.advance(candle); candle++) {
      if (candle >= begin) account.decide(candle, decided[candle - begin]!);
    }
  };
  const kinds = new Map<string, number>();
  let actionsCount = 0;
  let next = 0;
  for (const batch of batches) {
    while (next < batches.length && underWay.length < IN_FLIGHT_MAX) underWay.push(start(client, batches[next++]!));
    const answer = await underWay.shift()!;
    const { decisions: decided } = answer;
    client.draw(batch, answer);
    decided.forEach((actions, n) => {
      actionsCount += actions.length;
      digests[batch.first - first + n] = digestOf(actions);
      for (const action of actions) kinds.set(kindOf(action), batch.first + n);
    });
    if (actionsCount > ACTIONS_MAX) {
      const where = `${task.endpoint.host} by ${describeCandle(task, batch.until - 1)}`;
      throw new RunError(
        "INVALID_SIGNAL",
        `Cannot take more than ${ACTIONS_MAX} actions of a run, reached for ${where}`,
      );
    }
    follow(batch.until, batch.first, decided);
    onProgress(account.progressAt(batch.until - 1));
  }
  follow(task.candles.time.length, task.candles.time.length, []);
  return { first, digests, kinds };
}

/** Tells kinds of actions apart. */
export function kindOf(action: Action): string {
  const fields = action.action === "order" || action.action === "replace" ? action.fields : {};
  return `${action.action} ${action.when} ${fields.type} ${fields.side}`;
}

/** Starts a request whose failure is handled later, when its answer is awaited. */
function start(client: RemoteClient, batch: Stretch): Promise<Answered> {
  const answer = client.ask(batch);
  answer.catch(() => {});
  return answer;
}

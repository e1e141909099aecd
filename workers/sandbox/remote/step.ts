import type { RunProgress } from "../../../engine/control.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { Random } from "../random.ts";
import type { RemoteAccount } from "./account.ts";
import type { Action } from "./answer.ts";
import type { RemoteClient } from "./client.ts";
import { firstDecision, writeRequest } from "./request.ts";
import { type Stretch, stretchFrom } from "./stretch.ts";

// The number of steps that are kept to ask them again, and their share of a run.
const KEPT_MAX = 32;
const KEPT_MIN = 4;
const KEPT_SHARE = 0.03;

/** A request in step mode with its answer. */
export interface Step {
  readonly stretch: Stretch;
  readonly request: string;
  readonly actions: readonly Action[];
}

/**
 * Asks for the decision on each candle with the account that the earlier decisions led to, and lets the account follow it.
 *
 * @param onProgress Called with the progress after each candle.
 * @returns A sample of the steps, to ask them again.
 * @throws {RunError}
 */
export async function decideInSteps(
  task: RemoteTask,
  client: RemoteClient,
  account: RemoteAccount,
  onProgress: (progress: RunProgress) => void,
): Promise<readonly Step[]> {
  const { candles, firstIndex } = task;
  const first = firstDecision(task);
  const keeper = new StepKeeper(task.seed, candles.time.length - first);
  for (let i = firstIndex; i < candles.time.length && account.advance(i); i++) {
    if (i < first) continue;
    const stretch = stretchFrom(i, 1, task.lookbackCandles);
    const request = writeRequest(task, stretch, account.state);
    const answer = await client.askWith(stretch, request);
    const [actions = []] = answer.decisions;
    client.draw(stretch, answer);
    keeper.offer({ stretch, request, actions });
    account.decide(i, actions);
    onProgress(account.progressAt(i));
  }
  return keeper.kept;
}

/** Keeps a fair sample of the steps, half of them with actions (reservoir sampling). */
export class StepKeeper {
  readonly #random: Random;
  readonly #halfMax: number;
  readonly #idle: Step[] = [];
  readonly #active: Step[] = [];
  #idleCount = 0;
  #activeCount = 0;

  constructor(seed: number, stepsCount: number) {
    this.#random = new Random(seed);
    this.#halfMax = Math.min(KEPT_MAX, Math.max(KEPT_MIN, Math.floor(stepsCount * KEPT_SHARE))) / 2;
  }

  get kept(): readonly Step[] {
    return [...this.#active, ...this.#idle];
  }

  offer(step: Step): void {
    if (step.actions.length > 0) this.#keep(this.#active, step, ++this.#activeCount);
    else this.#keep(this.#idle, step, ++this.#idleCount);
  }

  #keep(kept: Step[], step: Step, count: number): void {
    if (kept.length < this.#halfMax) kept.push(step);
    else {
      const place = this.#random.below(count);
      if (place < kept.length) kept[place] = step;
    }
  }
}

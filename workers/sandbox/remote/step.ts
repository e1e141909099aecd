import type { RunProgress } from "../../../engine/control.ts";
import { Simulation } from "../../../engine/simulation.ts";
import type { RemoteTask } from "../../protocol.ts";
import { Random } from "../random.ts";
import { ActionPlayer } from "./actions.ts";
import type { Action } from "./answer.ts";
import { type Decisions, firstDecision } from "./batch.ts";
import type { RemoteClient } from "./client.ts";
import { type Stretch, stretchFrom, writeRequest } from "./request.ts";

// How many requests are kept to be asked again, and the share of a run that this may be.
const KEPT_MAX = 32;
const KEPT_MIN = 4;
const KEPT_SHARE = 0.03;

/** A request of step mode with its answer. */
export interface Step {
  readonly stretch: Stretch;
  readonly request: string;
  readonly actions: readonly Action[];
}

/**
 * Asks for a decision a candle, each with the account as the decisions before have made it.
 *
 * @param onProgress Called with how far the run is.
 * @returns The decisions, which lead to the same account when they are replayed, and some steps to ask again.
 * @throws {RemoteFailure}
 */
export async function decideInSteps(
  task: RemoteTask,
  client: RemoteClient,
  onProgress: (progress: RunProgress) => void,
): Promise<Decisions & { readonly kept: readonly Step[] }> {
  const { candles, firstIndex } = task;
  const finer = task.execution.bothTouched === "magnify" ? task.finer ?? null : null;
  const simulation = new Simulation({ ...task, finer });
  const { book, ledger } = simulation;
  const player = new ActionPlayer();
  const first = firstDecision(task);
  const actions: (readonly Action[])[] = [];
  const keeper = new StepKeeper(task.seed, candles.time.length - first);
  for (let i = firstIndex; i < candles.time.length && simulation.advance(i); i++) {
    if (i < first) continue;
    const stretch = stretchFrom(i, 1, task.lookbackCandles);
    const state = { account: ledger, book, workingIds: player.workingIds(book) };
    const request = writeRequest(task, stretch, state);
    const [decided = []] = await client.askWith(stretch, request);
    actions.push(decided);
    keeper.offer({ stretch, request, actions: decided });
    player.play(decided, ledger, book);
    simulation.settle(i);
    onProgress({ candlesDone: i + 1 - firstIndex, equity: simulation.equity[i - firstIndex]! });
  }
  return { first, actions, kept: keeper.kept };
}

/** Keeps a fair sample of the steps as they pass, half of them from those that did something (reservoir sampling). */
class StepKeeper {
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

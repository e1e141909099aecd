import type { RunProgress } from "../../../engine/control.ts";
import { Simulation } from "../../../engine/simulation.ts";
import type { RemoteTask } from "../../protocol.ts";
import { ActionPlayer } from "./actions.ts";
import type { Action } from "./answer.ts";
import { firstDecision } from "./batch.ts";

/** The account of a batch run as far as its decisions are known: what will be simulated in the end, batch by batch. */
export class RemotePreview {
  readonly #task: RemoteTask;
  readonly #simulation: Simulation;
  readonly #player = new ActionPlayer();
  #next: number;
  #isOver = false;

  constructor(task: RemoteTask) {
    const finer = task.execution.bothTouched === "magnify" ? task.finer ?? null : null;
    this.#task = task;
    this.#simulation = new Simulation({ ...task, finer });
    this.#next = task.firstIndex;
  }

  /**
   * Goes on to a candle.
   *
   * @param until Index of the first candle that is not decided yet.
   * @param actions All decisions so far, from the first candle that is decided on.
   */
  advance(until: number, actions: readonly (readonly Action[])[]): RunProgress {
    const { firstIndex } = this.#task;
    const first = firstDecision(this.#task);
    const { book, ledger, equity } = this.#simulation;
    for (; this.#next < until && !this.#isOver; this.#next++) {
      this.#isOver = !this.#simulation.advance(this.#next);
      if (this.#isOver || this.#next < first) continue;
      this.#player.play(actions[this.#next - first]!, ledger, book);
      this.#isOver = !this.#simulation.settle(this.#next);
    }
    return { candlesDone: until - firstIndex, equity: equity[until - firstIndex - 1] ?? NaN };
  }
}

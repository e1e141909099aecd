import type { RunProgress } from "../../../engine/control.ts";
import { resultOf, type RunResult } from "../../../engine/run.ts";
import { Simulation } from "../../../engine/simulation.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { ActionPlayer } from "./actions.ts";
import type { Action } from "./answer.ts";
import type { StepState } from "./request.ts";

/** The simulated account of a remote run. It follows the decisions as they arrive and becomes the run's result. */
export class RemoteAccount {
  readonly #task: RemoteTask;
  readonly #simulation: Simulation;
  readonly #player = new ActionPlayer();
  #isOver = false;
  #i = -1;

  constructor(task: RemoteTask) {
    const finer = task.execution.bothTouched === "magnify" ? task.finer ?? null : null;
    this.#task = task;
    this.#simulation = new Simulation({ ...task, finer });
  }

  /** Brings the account to the close of candle `i`, one after the last. @returns False once nothing is left of the account. */
  advance(i: number): boolean {
    this.#i = i;
    this.#isOver ||= !this.#simulation.advance(i);
    return !this.#isOver;
  }

  /** Carries out the actions that were decided at the close of candle `i`, after `advance(i)`. */
  decide(i: number, actions: readonly Action[]): void {
    const { book, ledger } = this.#simulation;
    this.#player.play(actions, ledger, book);
    this.#isOver = !this.#simulation.settle(i);
  }

  /** The account as a step request describes it. */
  get state(): StepState {
    const { book, ledger } = this.#simulation;
    return { account: ledger, book, player: this.#player, i: this.#i, firstIndex: this.#task.firstIndex };
  }

  /** The progress of a run that has followed candle `i`. */
  progressAt(i: number): RunProgress {
    const row = i - this.#task.firstIndex;
    return { candlesDone: row + 1, equity: this.#simulation.equity[row] ?? NaN };
  }

  /** Ends the simulation after the last candle. */
  finish(): RunResult {
    this.#simulation.finish();
    return resultOf(this.#task, this.#simulation, this.#task.minCandles);
  }
}

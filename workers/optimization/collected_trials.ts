import { type TrialRanking, TrialTable } from "../../db/codec/trial_table.ts";
import { NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import type { SliceRun, TrialsTask, TrialTask } from "../common/protocol.ts";
import type { TrialOutcome } from "../sandbox/task.ts";

/** The trials of a slice as they end, in order. */
export class CollectedTrials {
  readonly #trials: readonly TrialTask[];
  readonly #table: TrialTable;
  readonly #refused: number[] = [];
  done = 0;

  constructor({ trials, ...ranking }: Pick<TrialsTask, "trials"> & TrialRanking) {
    this.#trials = trials;
    this.#table = new TrialTable(ranking);
  }

  /** How many have not ended. */
  get left(): number {
    return this.#trials.length - this.done;
  }

  add(outcome: TrialOutcome): void {
    const trial = this.#trials[this.done++];
    if (trial === undefined) throw new RangeError(`Cannot take a trial after the last one of ${this.#trials.length}`);
    if (outcome.type === "refused") this.#refused.push(trial.place);
    else if (outcome.type === "failed") this.#table.addFailed(trial, outcome);
    else this.#table.add(trial, outcome);
  }

  /**
   * The slice's own outcome.
   *
   * A process that ends before its time ends the trial that it had begun, and not those before. If it had run others and was not late,
   * that trial is tried again in a process of its own, as a backtest would be.
   *
   * @param outcome That of the process.
   */
  end(outcome: Outcome<object>): Outcome<SliceRun> {
    const isLate = outcome.type === "failed" && outcome.code === "STRATEGY_TIMED_OUT";
    if (isLate && this.left > 0) this.add(outcome);
    if (this.done === 0) return outcome.type === "completed" ? NOT_BEGUN : outcome;
    return { type: "completed", done: this.done, refused: this.#refused, ...this.#table.encode() };
  }
}

/** Parameters in the order in which a backtest's record keeps them: shorter names first. */
export function inStoredOrder(key: string, value: unknown): unknown {
  if (key !== "" || typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1)),
  );
}

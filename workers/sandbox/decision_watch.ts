import type { Deciding } from "./decision_calls.ts";
import type { SandboxJob } from "./task.ts";

/** No limit is lower: a collection of garbage may take as long. */
export const DECISION_MS_MIN = 2_000;
/** Of a run's time, or of a check's processor time: no honest decision takes so much. */
export const DECISION_SHARE = 1 / 20;

type Decision = Pick<Deciding, "calls" | "candle">;

/** The longest time of a decision in a run that may take so long: a twentieth of it. */
export function decisionMsMax(deadlineMs: number): number {
  return Math.max(DECISION_MS_MIN, deadlineMs * DECISION_SHARE);
}

/**
 * Ends a user's code that goes on for too long within one decision, long before its whole run is due. Time counts only while the code
 * decides, and only where both the clock and the processor have spent it: a machine that sleeps, is busy or is stopped by a debugger ends
 * nothing. Preparing is no decision.
 */
export class DecisionWatch {
  /** Opens of the range's candles; null: the job has many markets, or candles that are made up. */
  readonly #time: Float64Array | null;
  readonly #msMax: number;
  #last: Decision = { calls: 0, candle: 0 };
  #begun: { readonly atMs: number; readonly cpuMs: number } | null = null;
  #spentMs = 0;

  /** @param msMax The longest that a decision may take. */
  constructor(job: SandboxJob, msMax: number) {
    this.#time = "task" in job && "candles" in job.task && !("pathSeed" in job)
      ? job.task.candles.time.subarray(job.task.firstIndex)
      : null;
    this.#msMax = msMax;
  }

  /** @param cpuMs Processor time of the code's process. @returns Why the run is to end; null: it may go on. */
  check(deciding: Decision, cpuMs: number): string | null {
    const { calls, candle } = this.#last;
    const isSame = deciding.calls === calls && deciding.candle === candle;
    this.#last = deciding;
    this.#spentMs = 0;
    if (deciding.calls % 2 === 0) {
      this.#begun = null;
      return null;
    }
    const now = { atMs: performance.now(), cpuMs };
    if (this.#begun === null || !isSame) {
      this.#begun = now;
      return null;
    }
    this.#spentMs = Math.min(now.atMs - this.#begun.atMs, cpuMs - this.#begun.cpuMs);
    if (this.#spentMs <= this.#msMax) return null;
    return `Cannot go on${this.#nameCandle(candle)}: its decision took more than ${this.#msMax / 1000} s`;
  }

  /**
   * Why a job that is due ends by its own fault, where a busy machine gave it little time.
   *
   * @returns Null where its decision has not taken so long: then the machine is at fault.
   */
  explainDue(msMax: number): string | null {
    if (this.#spentMs <= msMax) return null;
    const spent = (this.#spentMs / 1000).toFixed(1);
    return `Cannot go on${
      this.#nameCandle(this.#last.candle)
    }: its decision had not ended after ${spent} s of computing`;
  }

  #nameCandle(candle: number): string {
    const time = this.#time?.[candle];
    if (time === undefined) return "";
    return ` at candle ${candle} of the range, counted from 0 (${new Date(time).toISOString()})`;
  }
}

import type { Deciding } from "./decision_calls.ts";
import type { SandboxJob } from "./task.ts";

/** No limit is lower: a collection of garbage may take as long. */
export const DECISION_MS_MIN = 2_000;
/** Of a run's time, or of a check's processor time: no honest decision takes so much. */
const DECISION_SHARE = 1 / 20;
/** Of a check's processor time, for what comes before the first decision. */
const PREPARING_SHARE = 1 / 10;
/** Of a check's time by the clock: the rest is for finding the line of code that does not end. */
export const LINE_AFTER = 2 / 3;

type Decision = Pick<Deciding, "calls" | "preparing" | "candle">;

/** The longest time of a decision in a run that may take so long: a twentieth of it. */
export function decisionMsMax(deadlineMs: number): number {
  return Math.max(DECISION_MS_MIN, deadlineMs * DECISION_SHARE);
}

/**
 * Ends a user's code that goes on for too long within one decision, long before its whole run is due. Time counts only while the code
 * decides, and only where both the clock and the processor have spent it: a machine that sleeps, is busy or is stopped by a debugger ends
 * nothing. Preparing is no decision, and counts in checks alone, once they are due.
 */
export class DecisionWatch {
  /** Opens of the range's candles; null: the job has many markets, or candles that are made up. */
  readonly #time: Float64Array | null;
  readonly #msMax: number;
  #last: Decision = { calls: 0, preparing: 0, candle: 0 };
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
    const { calls, preparing, candle } = this.#last;
    const isSame = deciding.calls === calls && deciding.preparing === preparing && deciding.candle === candle;
    this.#last = deciding;
    this.#spentMs = 0;
    if (deciding.calls % 2 === 0 && !this.#isPreparing) {
      this.#begun = null;
      return null;
    }
    const now = { atMs: performance.now(), cpuMs };
    if (this.#begun === null || !isSame) {
      this.#begun = now;
      return null;
    }
    this.#spentMs = Math.min(now.atMs - this.#begun.atMs, cpuMs - this.#begun.cpuMs);
    if (this.#isPreparing || this.#spentMs <= this.#msMax) return null;
    return `Cannot go on${this.#nameCandle(candle)}: its decision took more than ${this.#msMax / 1000} s`;
  }

  /**
   * Why a job that is due ends by its own fault, where a busy machine gave it little time.
   *
   * @param cpuMsMax The processor time of its check.
   * @returns Null where its decision, or what comes before, has not taken a good part of that: then the machine is at fault.
   */
  explainDue(cpuMsMax: number): string | null {
    if (this.#spentMs <= cpuMsMax * (this.#isPreparing ? PREPARING_SHARE : DECISION_SHARE)) return null;
    const late = `had not ended after ${(this.#spentMs / 1000).toFixed(1)} s of computing`;
    if (this.#isPreparing) return `Cannot begin: its lines before the first decision ${late}`;
    return `Cannot go on${this.#nameCandle(this.#last.candle)}: its decision ${late}`;
  }

  get #isPreparing(): boolean {
    return this.#last.preparing % 2 !== 0;
  }

  #nameCandle(candle: number): string {
    const time = this.#time?.[candle];
    if (time === undefined) return "";
    return ` at candle ${candle} of the range, counted from 0 (${new Date(time).toISOString()})`;
  }
}

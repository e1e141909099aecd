import type { SandboxJob } from "./task.ts";

/** A script that decides on one candle for longer will not end, while a whole run may take minutes. */
export const DECISION_MS_MAX = 30_000;

/** Ends a script that goes on for too long within one decision, long before its whole run is due. */
export class DecisionWatch {
  /** Opens of the range's candles; null: this job's decisions are not told. */
  readonly #time: Float64Array | null;
  readonly #msMax: number;
  #decided = 0;
  #begun: { readonly atMs: number; readonly cpuMs: number } | null = null;

  /** @param msMax The longest that a decision may take, both by the clock and in processor time. */
  constructor(job: SandboxJob, msMax: number) {
    this.#time = job.kind === "script" && "candles" in job.task
      ? job.task.candles.time.subarray(job.task.firstIndex)
      : null;
    this.#msMax = msMax;
  }

  /**
   * @param decided Candles of the range that were decided on. At 0 the script may still prepare; at all of them the
   * run is measured.
   * @returns Why the run is to end; null: it may go on.
   */
  check(decided: number, cpuMs: number): string | null {
    const time = this.#time;
    if (time === null || decided === 0 || decided >= time.length) return null;
    const atMs = performance.now();
    if (this.#begun === null || decided !== this.#decided) {
      this.#decided = decided;
      this.#begun = { atMs, cpuMs };
      return null;
    }
    if (Math.min(atMs - this.#begun.atMs, cpuMs - this.#begun.cpuMs) <= this.#msMax) return null;
    const candle = `candle ${decided} of the range, counted from 0 (${new Date(time[decided]!).toISOString()})`;
    return `Cannot go on at ${candle}: its decision took more than ${this.#msMax / 1000} s`;
  }
}

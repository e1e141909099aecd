import type { Optimization } from "../../db/optimizations.ts";
import { Pool, type RunLimits } from "../backtest/pool.ts";
import { type Outcome, RunError } from "../outcome.ts";
import type { SliceRun } from "../protocol.ts";
import type { SlicePlan } from "./slice_plan.ts";

// Slices wait for each other at most as long as one takes.
const WAIT_MS = 5000;

/** Runs the trials of slices: in warm threads of their own, so that no backtest waits for one. */
export class SliceRunner {
  readonly #runsMax: number;
  #pool: Pool | undefined;

  /** @param runsMax How many slices compute at once. */
  constructor(runsMax: number) {
    this.#runsMax = runsMax;
  }

  /** Runs the first trials of a slice, as many as it has time for: `failed` is the end of the first one. */
  async run(
    { runtime, strategySlug }: Pick<Optimization, "runtime" | "strategySlug">,
    { task }: SlicePlan,
    { deadlineMs, signal }: Pick<RunLimits, "deadlineMs" | "signal">,
  ): Promise<Outcome<SliceRun>> {
    const limits = { deadlineMs, signal, waitMs: WAIT_MS, onProgress: () => {} };
    if (runtime !== null || strategySlug === null) throw new RunError("STRATEGY_FAILED", "Cannot run trials of it yet");
    // Many services never run one.
    this.#pool ??= new Pool(this.#runsMax);
    return await this.#pool.runSlice({ ...task, slug: strategySlug }, limits);
  }

  /** Ends the warm threads. */
  close(): void {
    this.#pool?.close();
  }
}

import { TrialTable } from "../../db/codec/trial_table.ts";
import type { Completed, Failed } from "../common/outcome.ts";
import type { SliceRun, TrialTask } from "../common/protocol.ts";
import type { Stretch } from "./points.ts";
import type { SlicePlan } from "./slice_plan.ts";
import type { SliceResult } from "./slice_records.ts";

/** A slice's points that are done, before its job stores them. */
export type Simulated = Omit<SliceResult, "part" | "end" | "durationMs">;

/** The points of a stretch that an outcome has brought to an end. `failed` is the end of its first trial. */
export function toResult(
  { from, until: wholeUntil, trials, constrained, refused }: Stretch,
  plan: Pick<SlicePlan, "dates" | "dataSha256"> | null,
  outcome: Completed<SliceRun> | Failed | null,
): Omit<Simulated, "error"> {
  const { done, refused: refusedByItself = [], ...encoded } = outcome?.type === "completed"
    ? outcome
    : encodeFailed(trials[0], outcome);
  const until = trials[done]?.place ?? wholeUntil;
  const countBefore = (places: readonly number[]) => places.filter((place) => place < until).length;
  return {
    from,
    until,
    constrained: countBefore(constrained),
    refused: countBefore(refused) + refusedByItself.length,
    trials: plan?.dates == null ? encoded : { ...encoded, notes: { ...encoded.notes, dates: plan.dates } },
    dataSha256: plan?.dataSha256 ?? null,
  };
}

/** Trials that did not run; the first of them ends with the error. */
export function encodeFailed(trial: TrialTask | undefined, error: Failed | null): SliceRun {
  const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: 1 });
  if (trial !== undefined && error !== null) table.addFailed(trial, error);
  return { done: table.rows, ...table.encode() };
}

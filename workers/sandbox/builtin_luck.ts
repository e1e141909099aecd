import { isAskedToStop } from "../../engine/control.ts";
import { RunStopped } from "../../engine/run.ts";
import { measureOverfitting, type Trials } from "../../research/overfitting.ts";
import type { Completed } from "../outcome.ts";
import type { MeasuredLuck } from "../protocol.ts";

/**
 * Measures how much of an optimization's best trial is luck.
 *
 * @throws {RunStopped} When the control words ask for it.
 */
export function runLuck(trials: Trials, control: Int32Array): Completed<MeasuredLuck> {
  const overfitting = measureOverfitting(trials, () => {
    if (isAskedToStop(control)) throw new RunStopped(0);
  });
  return { type: "completed", overfitting };
}

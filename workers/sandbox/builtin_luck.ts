import { isAskedToStop } from "../../engine/control.ts";
import { RunStopped } from "../../engine/run.ts";
import { type LuckPart, measureLuckPart } from "../../research/overfitting.ts";
import type { Completed } from "../outcome.ts";
import type { LuckTask } from "../protocol.ts";

/**
 * Does a part of the work on an optimization's luck.
 *
 * @throws {RunStopped} When the control words ask for it.
 */
export function runLuckPart({ trials, ...splits }: LuckTask, control: Int32Array): Completed<LuckPart> {
  const part = measureLuckPart(trials, splits, () => {
    if (isAskedToStop(control)) throw new RunStopped(0);
  });
  return { type: "completed", ...part };
}

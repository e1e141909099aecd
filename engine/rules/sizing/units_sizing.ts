import type { Rules } from "../rules_of_run.ts";
import type { SizingInput } from "./sizing_model.ts";

/** As many units as asked. */
export function sizeByUnits({ size }: SizingInput, { lots }: Rules): number {
  return lots.roundDown(size);
}

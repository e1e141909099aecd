import type { SizingInput, SizingRules } from "./sizing_model.ts";

/** The number of units that was asked for. */
export function sizeByUnits({ size }: SizingInput, { lots }: SizingRules): number {
  return lots.roundDown(size);
}

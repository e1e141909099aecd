import type { SizingInput, SizingRules } from "./sizing_model.ts";

/** As many units as asked. */
export function sizeByUnits({ size }: SizingInput, { lots }: SizingRules): number {
  return lots.roundDown(size);
}

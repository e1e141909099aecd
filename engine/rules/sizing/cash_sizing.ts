import type { SizingInput, SizingRules } from "./sizing_model.ts";

/** The number of units that this money pays, fee included. */
export function sizeByCash({ size, price }: SizingInput, { lots, commission }: SizingRules): number {
  return lots.roundDown(commission.affordableUnits(size, price));
}

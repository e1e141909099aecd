import type { Rules } from "../rules_of_run.ts";
import type { SizingInput } from "./sizing_model.ts";

/** As many units as this money pays, fee included. */
export function sizeByCash({ size, price }: SizingInput, { lots, commission }: Rules): number {
  return lots.roundDown(commission.affordableUnits(size, price));
}

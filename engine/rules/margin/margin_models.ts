import { LeverageMargin, type LeverageSettings } from "./leverage_margin.ts";
import type { MarginModel } from "./margin_model.ts";

/** The model of these settings: one so far. A further one has its row here. */
export function marginModelOf(execution: LeverageSettings): MarginModel {
  return new LeverageMargin(execution);
}

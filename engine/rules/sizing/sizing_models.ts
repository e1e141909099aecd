import { SIZES_BY } from "../../strategy.ts";
import type { Rules } from "../rules_of_run.ts";
import { sizeByCash } from "./cash_sizing.ts";
import { sizeByEquityFraction } from "./equity_fraction_sizing.ts";
import { sizeByRiskFraction } from "./risk_fraction_sizing.ts";
import type { SizingInput, SizingModel } from "./sizing_model.ts";
import { sizeByUnits } from "./units_sizing.ts";

type Named = Exclude<(typeof SIZES_BY)[number], "default">;

const MODELS: Readonly<Record<Named, SizingModel>> = {
  units: sizeByUnits,
  equity_fraction: sizeByEquityFraction,
  cash: sizeByCash,
  risk_fraction: sizeByRiskFraction,
};

/** The models by an order's sizeBy, which is never `default` here. */
const BY_INDEX = SIZES_BY.map((name) => MODELS[name === "default" ? "equity_fraction" : name]);

/** Units of an order by the model that it names (SizingModel). */
export function sizeUnits(by: SizingInput, rules: Rules): number {
  return BY_INDEX[by.sizeBy]!(by, rules);
}

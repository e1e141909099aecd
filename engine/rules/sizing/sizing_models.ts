import { sizeByCash } from "./cash_sizing.ts";
import { sizeByEquityFraction } from "./equity_fraction_sizing.ts";
import { sizeByRiskFraction } from "./risk_fraction_sizing.ts";
import type { SizingModel } from "./sizing_model.ts";
import { sizeByUnits } from "./units_sizing.ts";

export const SIZING_TYPES = ["equity_fraction", "units", "cash", "risk_fraction"] as const;

export const SIZING_MODELS: Readonly<Record<(typeof SIZING_TYPES)[number], SizingModel>> = {
  equity_fraction: sizeByEquityFraction,
  units: sizeByUnits,
  cash: sizeByCash,
  risk_fraction: sizeByRiskFraction,
};

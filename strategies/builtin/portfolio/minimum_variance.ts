import type { MarketView } from "../../../engine/portfolio/portfolio.ts";
import { periodProperty, readNumber, schemaOf } from "../parameter_schema.ts";
import { memberWeights } from "./member_weights.ts";
import { everyProperty, EXPOSURE, MIN_TRADE, type PortfolioBuiltin, weightReasons } from "./portfolio_builtin.ts";
import { commonCloses } from "./returns.ts";
import { leastVariance, shrunkCovariance } from "./shrinkage.ts";

/** The mix of members that moved least. */
export const minimumVariance: PortfolioBuiltin = {
  slug: "minimum-variance",
  name: "Minimum Variance",
  description:
    "Risk control. Holds the mix of members whose last returns varied least, by their covariance shrunk towards equal variances without correlation (Ledoit and Wolf, 2004). No short positions. Nothing is held while members have too few closes in common.",
  reasons: weightReasons("its weight of least variance"),
  instruments: { min: 2, max: 200 },
  parameter_schema: schemaOf({
    lookback: periodProperty("Common returns in the covariance", 120, 10),
    every: everyProperty("month"),
    exposure: EXPOSURE,
    minTrade: MIN_TRADE,
  }),
  create(parameters) {
    const lookback = readNumber(parameters, "lookback");
    return memberWeights(parameters, lookback + 1, (members) => weigh(members, lookback));
  },
};

function weigh(members: readonly MarketView[], lookback: number): Float64Array {
  const closes = members.length === 0 ? null : commonCloses(members, lookback + 1);
  if (closes === null) return new Float64Array(members.length);
  return leastVariance(
    shrunkCovariance(closes.map((column) => column.subarray(1).map((close, k) => close / column[k]! - 1))),
  );
}

import type { MarketView } from "../../../engine/portfolio/portfolio.ts";
import { periodProperty, readNumber, schemaOf } from "../parameter_schema.ts";
import { linesIn, marketLines, marketValues } from "./decision_lines.ts";
import { memberWeights } from "./member_weights.ts";
import { everyProperty, EXPOSURE, MIN_TRADE, type PortfolioBuiltin, weightReasons } from "./portfolio_builtin.ts";
import { commonCloses } from "./returns.ts";
import { type Covariance, leastVariance, shrunkCovariance, volatilityOfMix } from "./shrinkage.ts";

// Of its volatility and that of equal parts.
const NO_MIX = [NaN, NaN] as const;

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
  create(parameters, plots) {
    const lookback = readNumber(parameters, "lookback");
    let mixes: readonly number[] = NO_MIX;
    return memberWeights(parameters, {
      ...{ warmup: lookback + 1, plots },
      weigh(members) {
        const covariance = covarianceOf(members, lookback);
        mixes = NO_MIX;
        if (covariance === null) return new Float64Array(members.length);
        const weights = leastVariance(covariance);
        if (plots !== undefined) {
          const equal = weights.map(() => 1 / weights.length);
          mixes = [volatilityOfMix(covariance, weights), volatilityOfMix(covariance, equal)];
        }
        return weights;
      },
      linesOf: (markets) => [
        ...linesIn("volatility", ["volatility of the mix", "volatility of equal parts"]),
        ...marketLines(markets, "weight"),
      ],
      valuesOf: (weights) => [...mixes, ...marketValues(weights)],
    });
  },
};

/** Null where members have too few closes in common. */
function covarianceOf(members: readonly MarketView[], lookback: number): Covariance | null {
  const closes = members.length === 0 ? null : commonCloses(members, lookback + 1);
  if (closes === null) return null;
  return shrunkCovariance(closes.map((column) => column.subarray(1).map((close, k) => close / column[k]! - 1)));
}

import { periodProperty, readNumber, schemaOf } from "../parameter_schema.ts";
import { marketLines, marketValues } from "./decision_lines.ts";
import { memberWeights } from "./member_weights.ts";
import { everyProperty, EXPOSURE, MIN_TRADE, type PortfolioBuiltin, weightReasons } from "./portfolio_builtin.ts";
import { volatilityOf } from "./returns.ts";

/** More of quiet instruments and less of volatile ones. */
export const inverseVolatility: PortfolioBuiltin = {
  slug: "inverse-volatility",
  name: "Inverse Volatility",
  description:
    "Risk parity without correlations. Weighs each member by 1 / the volatility of its last returns, so that each adds about the same risk. Members without movement are left out.",
  reasons: weightReasons("its weight by volatility"),
  instruments: { min: 1, max: null },
  parameter_schema: schemaOf({
    lookback: periodProperty("Returns in the volatility", 60, 2),
    every: everyProperty("month"),
    exposure: EXPOSURE,
    minTrade: MIN_TRADE,
  }),
  create(parameters, plots) {
    const lookback = readNumber(parameters, "lookback");
    // Empty where nobody looks: it takes no values then.
    let volatilities = new Float64Array(0);
    return memberWeights(parameters, {
      ...{ warmup: lookback + 1, plots },
      weigh(members) {
        volatilities.fill(NaN);
        return members.map((member) => {
          const volatility = volatilityOf(member, lookback);
          volatilities[member.index] = volatility;
          return Number.isNaN(volatility) ? 0 : 1 / volatility;
        });
      },
      linesOf(markets) {
        volatilities = new Float64Array(markets.length);
        return [...marketLines(markets, "volatility"), ...marketLines(markets, "weight")];
      },
      valuesOf: (weights) => [...marketValues(volatilities), ...marketValues(weights)],
    });
  },
};

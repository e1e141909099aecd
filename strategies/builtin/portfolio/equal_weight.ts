import { schemaOf } from "../parameter_schema.ts";
import { memberWeights } from "./member_weights.ts";
import { everyProperty, EXPOSURE, MIN_TRADE, type PortfolioBuiltin, weightReasons } from "./portfolio_builtin.ts";

/** The same weight for each member: the benchmark of every other portfolio. */
export const equalWeight: PortfolioBuiltin = {
  slug: "equal-weight",
  name: "Equal Weight",
  description:
    "Diversification. Holds every member with the same weight, and restores the weights once a period. It sells what has risen and buys what has fallen. The benchmark for every other portfolio.",
  reasons: weightReasons("its equal part"),
  instruments: { min: 1, max: null },
  parameter_schema: schemaOf({ every: everyProperty("month"), exposure: EXPOSURE, minTrade: MIN_TRADE }),
  create: (parameters) => memberWeights(parameters, 1, (members) => members.map(() => 1)),
};

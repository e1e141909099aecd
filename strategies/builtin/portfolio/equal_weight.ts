import { schemaOf } from "../parameter_schema.ts";
import { linesIn } from "./decision_lines.ts";
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
  create: (parameters, plots) =>
    memberWeights(parameters, {
      ...{ warmup: 1, weigh: (members) => members.map(() => 1), plots },
      linesOf: () => linesIn("weight", ["target", "most held", "least held"]),
      valuesOf(weights, members) {
        const held = members.map(({ weight }) => weight);
        if (held.length === 0) return [NaN, NaN, NaN];
        return [
          weights[members[0]!.index]!,
          held.reduce((a, b) => Math.max(a, b)),
          held.reduce((a, b) => Math.min(a, b)),
        ];
      },
    }),
};

import type { MarketView, PortfolioStrategy } from "../../../engine/portfolio/portfolio.ts";
import { type Parameters, readNumber } from "../parameter_schema.ts";
import type { DecisionLine, DecisionPlots } from "./decision_lines.ts";
import { readEvery, readMinTrade } from "./portfolio_builtin.ts";

/** How members are weighed. */
interface Weighing {
  /** Candles that a member needs. */
  readonly warmup: number;
  /** Weights of these members, in their order; they need not add up to 1: `exposure` scales their sum. All 0: nothing is held. */
  readonly weigh: (members: readonly MarketView[]) => ArrayLike<number>;
  /** Receives what is decided by; undefined: nobody looks. */
  readonly plots: DecisionPlots | undefined;
  readonly linesOf: (markets: readonly MarketView[]) => readonly DecisionLine[];
  /** The values of the lines at a decision. @param weights A target a market. */
  readonly valuesOf: (weights: Float64Array, members: readonly MarketView[]) => readonly number[];
}

/** A strategy that weighs the members with enough candles at the beginning of each period, and holds nothing else. */
export function memberWeights(
  parameters: Parameters,
  { warmup, weigh, plots, linesOf, valuesOf }: Weighing,
): PortfolioStrategy {
  const exposure = readNumber(parameters, "exposure");
  const minTrade = readMinTrade(parameters);
  let weights = new Float64Array(0);
  return {
    kind: "portfolio",
    warmup,
    every: readEvery(parameters),
    prepare(markets) {
      weights = new Float64Array(markets.length);
      plots?.begin(linesOf(markets));
    },
    decide(now, markets, _account, orders) {
      const members = markets.filter(({ isMember, i }) => isMember && i + 1 >= warmup);
      const found = weigh(members);
      let sum = 0;
      for (let k = 0; k < members.length; k++) sum += found[k]!;
      weights.fill(0);
      members.forEach(({ index }, k) => weights[index] = sum > 0 ? exposure * found[k]! / sum : 0);
      orders.target(weights, minTrade);
      plots?.add(now, valuesOf(weights, members));
    },
  };
}

import { periodProperty, readNumber, schemaOf } from "../parameter_schema.ts";
import {
  everyProperty,
  EXPOSURE,
  MIN_TRADE,
  type PortfolioBuiltin,
  readEvery,
  readMinTrade,
} from "./portfolio_builtin.ts";

/** The winners of the last months, in equal parts. */
export const momentumRotation: PortfolioBuiltin = {
  slug: "momentum-rotation",
  name: "Momentum Rotation",
  description:
    "Relative strength. Once a period it ranks the members by their return over the lookback, without the last days, and holds the best ones in equal parts. A member whose return is below the filter is not held: its part stays in cash.",
  instruments: { min: 2, max: null },
  parameter_schema: schemaOf({
    top: { type: "integer", description: "Members to hold", default: 3, minimum: 1, maximum: 1000 },
    lookback: periodProperty("Candles of the return", 126, 2),
    skip: {
      type: "integer",
      description: "Candles at the end of the lookback that do not count",
      default: 0,
      minimum: 0,
      maximum: 10_000,
    },
    filter: {
      type: "number",
      description: "The least return over the lookback that is held (0 is: no losers)",
      default: 0,
      minimum: -1,
      maximum: 100,
    },
    every: everyProperty("month"),
    exposure: EXPOSURE,
    minTrade: MIN_TRADE,
  }),
  create(parameters) {
    const top = readNumber(parameters, "top");
    const lookback = readNumber(parameters, "lookback");
    const skip = readNumber(parameters, "skip");
    const filter = readNumber(parameters, "filter");
    const exposure = readNumber(parameters, "exposure");
    const minTrade = readMinTrade(parameters);
    if (skip >= lookback) throw new RangeError(`skip must be less than lookback: ${skip} is not less than ${lookback}`);
    let weights = new Float64Array(0);
    let past = weights;
    let closes: Float64Array[] = [];
    return {
      kind: "portfolio",
      warmup: lookback + 1,
      every: readEvery(parameters),
      prepare(markets) {
        weights = new Float64Array(markets.length);
        past = new Float64Array(markets.length);
        closes = markets.map(({ candles: { close } }) => close);
      },
      decide(_now, markets, _account, orders) {
        // Reads of many markets wait for memory together if nothing is decided between them.
        for (const { isMember, i, index } of markets) {
          const close = closes[index]!;
          past[index] = isMember && i >= lookback ? close[i - skip]! / close[i - lookback]! - 1 : NaN;
        }
        const ranked = past.filter((value) => value >= filter).sort();
        const least = ranked[Math.max(0, ranked.length - top)] ?? Infinity;
        // Of equal ones those that are listed first are held.
        let ties = Math.min(top, ranked.length) - ranked.reduce((above, value) => value > least ? above + 1 : above, 0);
        for (let index = 0; index < past.length; index++) {
          const isHeld = past[index]! > least || (past[index] === least && ties-- > 0);
          weights[index] = isHeld ? exposure / top : 0;
        }
        orders.target(weights, minTrade);
      },
    };
  },
};

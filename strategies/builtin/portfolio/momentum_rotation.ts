import { linesIn, marketLines, marketValues } from "./decision_lines.ts";
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
  reasons: {
    long: "it is among the best, and less was held than its part",
    short: null,
    exit_long: "it left the best, or more was held than its part",
    exit_short: null,
  },
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
  create(parameters, plots) {
    const top = readNumber(parameters, "top");
    const lookback = readNumber(parameters, "lookback");
    const skip = readNumber(parameters, "skip");
    const filter = readNumber(parameters, "filter");
    const exposure = readNumber(parameters, "exposure");
    const minTrade = readMinTrade(parameters);
    if (skip >= lookback) throw new RangeError(`skip must be less than lookback: ${skip} is not less than ${lookback}`);
    let weights = new Float64Array(0);
    let past = weights;
    let best = weights;
    let closes: Float64Array[] = [];
    return {
      kind: "portfolio",
      warmup: lookback + 1,
      every: readEvery(parameters),
      prepare(markets) {
        weights = new Float64Array(markets.length);
        past = new Float64Array(markets.length);
        best = new Float64Array(Math.min(top, markets.length));
        closes = markets.map(({ candles: { close } }) => close);
        plots?.begin([...linesIn("momentum", ["filter", "least held"]), ...marketLines(markets, "momentum")]);
      },
      decide(now, markets, _account, orders) {
        // Reads of many markets wait for memory together if nothing is decided between them.
        for (const { isMember, i, index } of markets) {
          const close = closes[index]!;
          past[index] = isMember && i >= lookback ? close[i - skip]! / close[i - lookback]! - 1 : NaN;
        }
        let count = 0;
        for (const value of past) if (value >= filter) count = insert(best, count, value);
        const least = count > 0 ? best[count - 1]! : Infinity;
        // Of equal ones those that are listed first are held.
        let ties = 0;
        while (ties < count && best[count - 1 - ties] === least) ties++;
        for (let index = 0; index < past.length; index++) {
          const isHeld = past[index]! > least || (past[index] === least && ties-- > 0);
          weights[index] = isHeld ? exposure / top : 0;
        }
        orders.target(weights, minTrade);
        plots?.add(now, [filter, count > 0 ? least : NaN, ...marketValues(past)]);
      },
    };
  },
};

/** Inserts a value into the first `count` ones, the best ahead. @returns Their new count: the worst one goes where there is no room. */
function insert(best: Float64Array, count: number, value: number): number {
  if (count === best.length && value <= best[count - 1]!) return count;
  let place = Math.min(count, best.length - 1);
  for (; place > 0 && best[place - 1]! < value; place--) best[place] = best[place - 1]!;
  best[place] = value;
  return Math.min(count + 1, best.length);
}

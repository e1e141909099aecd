import { supertrend } from "../../engine/indicators/supertrend.ts";
import { wilderSettlingCandles } from "../../engine/indicators/wilder.ts";
import { entrySchema, periodProperty, positiveProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, priceLine } from "./builtin.ts";
import { signalStrategy } from "./signals.ts";

/** Within this many periods two Supertrends with different beginnings have met: it takes a turn or a new extreme of a band. */
const MEETING_PERIODS = 20;

/** Follows the Supertrend line from side to side. */
export const supertrendTurns: Builtin = {
  slug: "supertrend",
  name: "Supertrend",
  description:
    "Trend following. A line follows the market at a distance of several average true ranges and never moves away from it. Buys when a close breaks through the line from below; sells, or goes short, when a close breaks through from above. Always in the market when it may go short.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 400,
  parameter_schema: entrySchema({
    period: periodProperty("Candles of the average true range, smoothed with Wilder's weight 1 / period", 10),
    multiple: positiveProperty("Average true ranges between the middle of a candle and the line", 3, 100),
  }),
  reasons: {
    long: "the close broke above the line",
    short: "the close broke below the line",
    exit_long: "the close broke below the line",
    exit_short: "the close broke above the line",
  },
  lines(parameters, { high, low, close }) {
    const [period, multiple] = [readNumber(parameters, "period"), readNumber(parameters, "multiple")];
    return [priceLine("Supertrend", supertrend(high, low, close, period, multiple).line)];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const period = readNumber(parameters, "period");
    const multiple = readNumber(parameters, "multiple");
    const lookback = wilderSettlingCandles(period) + MEETING_PERIODS * period;
    return signalStrategy(parameters, rules, { warmup: period + 1, lookback }, ({ high, low, close }, pool) => {
      const { direction } = supertrend(high, low, close, period, multiple, pool);
      return {
        buys: (i) => direction[i]! > 0 && direction[i - 1]! < 0,
        sells: (i) => direction[i]! < 0 && direction[i - 1]! > 0,
        leavesLong: (i) => direction[i]! < 0,
        leavesShort: (i) => direction[i]! > 0,
      };
    });
  },
};

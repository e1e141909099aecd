import { sharedColumn } from "../../engine/buffer_pool.ts";
import { sma } from "../../engine/indicators/sma.ts";
import { crossStrategy } from "./crossing.ts";
import { DIRECTION, periodProperty, readNumber, STOP_LOSS_LEVEL, TAKE_PROFIT_LEVEL } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, priceLine } from "./builtin.ts";

/** Follows the trend of two simple moving averages. */
export const smaCross: Builtin = {
  slug: "sma-cross",
  name: "SMA Cross",
  description:
    "Trend following. Buys when the fast moving average of closes crosses above the slow one; sells, or goes short, when it crosses below. Earns in long trends and loses a little at each turn of a sideways market.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 31,
  default_config: {},
  parameter_schema: {
    type: "object",
    properties: {
      fast: periodProperty("Candles of the fast average", 10),
      slow: periodProperty("Candles of the slow average, more than those of the fast one", 30, 2),
      direction: DIRECTION,
      takeProfitLevel: TAKE_PROFIT_LEVEL,
      stopLossLevel: STOP_LOSS_LEVEL,
    },
    additionalProperties: false,
  },
  reasons: {
    long: "the fast average crossed above the slow one",
    short: "the fast average crossed below the slow one",
    exit_long: "the fast average crossed below the slow one",
    exit_short: "the fast average crossed above the slow one",
  },
  lines(parameters, { close }) {
    return ["fast", "slow"].map((name) => {
      const period = readNumber(parameters, name);
      return priceLine(`SMA ${period}`, sma(close, period));
    });
  },
  create(parameters, rules = DEFAULT_RULES) {
    const fast = readNumber(parameters, "fast");
    const slow = readNumber(parameters, "slow");
    if (fast >= slow) throw new RangeError(`fast must be less than slow: ${fast} is not less than ${slow}`);
    return crossStrategy(parameters, rules, { warmup: slow + 1 }, ({ close }, pool) => [
      sharedColumn(sma, close, fast, pool),
      sharedColumn(sma, close, slow, pool),
    ]);
  },
};

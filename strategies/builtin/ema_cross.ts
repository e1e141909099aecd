import { ema } from "../../engine/indicators/ema.ts";
import { crossStrategy } from "./crossing.ts";
import { DIRECTION, periodProperty, readNumber, STOP_LOSS_LEVEL, TAKE_PROFIT_LEVEL } from "./parameters.ts";
import type { Builtin } from "./strategy.ts";

/** Follows the trend that two exponential moving averages show. */
export const emaCross: Builtin = {
  slug: "ema-cross",
  name: "EMA Cross",
  description:
    "Trend following. Buys when the fast exponential moving average of closes crosses above the slow one; sells, or goes short, when it crosses below. Quicker to turn than the SMA cross, and quicker to be wrong in a sideways market.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 27,
  default_config: {},
  parameter_schema: {
    type: "object",
    properties: {
      fast: periodProperty("Candles of the fast average", 12),
      slow: periodProperty("Candles of the slow average; more than the fast one's", 26, 2),
      direction: DIRECTION,
      takeProfitLevel: TAKE_PROFIT_LEVEL,
      stopLossLevel: STOP_LOSS_LEVEL,
    },
    additionalProperties: false,
  },
  create(parameters) {
    const fast = readNumber(parameters, "fast");
    const slow = readNumber(parameters, "slow");
    if (fast >= slow) throw new RangeError(`fast must be less than slow, and ${fast} is not less than ${slow}`);
    return crossStrategy(parameters, slow + 1, ({ close }) => [ema(close, fast), ema(close, slow)]);
  },
};

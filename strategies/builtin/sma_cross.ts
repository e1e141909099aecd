import { sharedColumn } from "../../engine/buffer_pool.ts";
import { sma } from "../../engine/indicators/sma.ts";
import { averageLines, AVERAGES_REASONS, crossStrategy } from "./crossing.ts";
import { entrySchema, periodProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES } from "./builtin.ts";

/** Follows the trend of two simple moving averages. */
export const smaCross: Builtin = {
  slug: "sma-cross",
  name: "SMA Cross",
  description:
    "Trend following. Buys when the fast moving average of closes crosses above the slow one; sells, or goes short, when it crosses below. Earns in long trends and loses a little at each turn of a sideways market.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 31,
  parameter_schema: entrySchema({
    fast: periodProperty("Candles of the fast average", 10),
    slow: periodProperty("Candles of the slow average, more than those of the fast one", 30, 2),
  }),
  reasons: AVERAGES_REASONS,
  lines: (parameters, { close }) => averageLines("SMA", sma, parameters, close),
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

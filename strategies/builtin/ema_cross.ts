import { sharedColumn } from "../../engine/buffer_pool.ts";
import { ema, emaSettlingCandles } from "../../engine/indicators/ema.ts";
import { averageLines, AVERAGES_REASONS, crossStrategy } from "./crossing.ts";
import { entrySchema, periodProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES } from "./builtin.ts";

/** Follows the trend of two exponential moving averages. */
export const emaCross: Builtin = {
  slug: "ema-cross",
  name: "EMA Cross",
  description:
    "Trend following. Buys when the fast exponential moving average of closes crosses above the slow one; sells, or goes short, when it crosses below. Quicker to turn than the SMA cross, and quicker to be wrong in a sideways market. An average of N candles has the weight 2 / (N + 1) and starts at the simple mean of N.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 270,
  parameter_schema: entrySchema({
    fast: periodProperty("Candles of the fast average", 12),
    slow: periodProperty("Candles of the slow average, more than those of the fast one", 26, 2),
  }),
  reasons: AVERAGES_REASONS,
  lines: (parameters, { close }) => averageLines("EMA", ema, parameters, close),
  create(parameters, rules = DEFAULT_RULES) {
    const fast = readNumber(parameters, "fast");
    const slow = readNumber(parameters, "slow");
    if (fast >= slow) throw new RangeError(`fast must be less than slow: ${fast} is not less than ${slow}`);
    const needs = { warmup: slow + 1, lookback: emaSettlingCandles(slow) };
    return crossStrategy(
      parameters,
      rules,
      needs,
      ({ close }, pool) => [sharedColumn(ema, close, fast, pool), sharedColumn(ema, close, slow, pool)],
    );
  },
};

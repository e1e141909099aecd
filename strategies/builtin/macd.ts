import { emaSettlingCandles } from "../../engine/indicators/ema.ts";
import { macd } from "../../engine/indicators/macd.ts";
import { crossStrategy } from "./crossing.ts";
import { entrySchema, periodProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES } from "./builtin.ts";

/** Follows the momentum of the MACD. */
export const macdCross: Builtin = {
  slug: "macd",
  name: "MACD",
  description:
    "Momentum. Buys when the MACD line (fast less slow exponential moving average) crosses above its own average, the signal line; sells, or goes short, when it crosses below. An average of N candles has the weight 2 / (N + 1) and starts at the simple mean of N.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 370,
  parameter_schema: entrySchema({
    fast: periodProperty("Candles of the fast average", 12),
    slow: periodProperty("Candles of the slow average, more than those of the fast one", 26, 2),
    signal: periodProperty("Candles of the signal line: an average of the MACD line", 9, 2),
  }),
  reasons: {
    long: "the MACD crossed above its signal",
    short: "the MACD crossed below its signal",
    exit_long: "the MACD crossed below its signal",
    exit_short: "the MACD crossed above its signal",
  },
  lines(parameters, { close }) {
    const read = (name: string) => readNumber(parameters, name);
    const columns = macd(close, { fast: read("fast"), slow: read("slow"), signal: read("signal") });
    return [
      { name: "MACD", pane: "MACD", values: columns.macd },
      { name: "signal", pane: "MACD", values: columns.signal },
    ];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const fast = readNumber(parameters, "fast");
    const slow = readNumber(parameters, "slow");
    const signal = readNumber(parameters, "signal");
    if (fast >= slow) throw new RangeError(`fast must be less than slow: ${fast} is not less than ${slow}`);
    const needs = { warmup: slow + signal, lookback: emaSettlingCandles(slow) + emaSettlingCandles(signal) };
    return crossStrategy(parameters, rules, needs, ({ close }, pool) => {
      const columns = macd(close, { fast, slow, signal }, pool);
      return [columns.macd, columns.signal];
    });
  },
};

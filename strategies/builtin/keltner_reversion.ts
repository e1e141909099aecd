import { emaSettlingCandles } from "../../engine/indicators/ema.ts";
import { keltner } from "../../engine/indicators/keltner.ts";
import { wilderSettlingCandles } from "../../engine/indicators/wilder.ts";
import { entrySchema, periodProperty, positiveProperty, readNumber } from "./parameter_schema.ts";
import { bandLines, type Builtin, DEFAULT_RULES } from "./builtin.ts";
import { returnSignals, signalStrategy } from "./signals.ts";

/** Expects closes outside the Keltner channel to return to its middle. */
export const keltnerReversion: Builtin = {
  slug: "keltner-reversion",
  name: "Keltner Reversion",
  description:
    "Mean reversion. Buys when the close falls through the lower band of the Keltner channel and leaves once it is back at the middle; goes short when it rises through the upper band, and covers likewise. The bands widen with the range of the candles, not with the spread of the closes as Bollinger's do. Consider a stop loss.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 210,
  parameter_schema: entrySchema({
    period: periodProperty("Candles of the exponential average in the middle", 20),
    range: periodProperty("Candles of the average true range, smoothed with Wilder's weight 1 / period", 10),
    width: positiveProperty("Average true ranges from the middle to a band", 2, 100),
  }),
  reasons: {
    long: "the close fell below the lower band",
    short: "the close rose above the upper band",
    exit_long: "the close came back to the middle band",
    exit_short: "the close came back to the middle band",
  },
  lines(parameters, { high, low, close }) {
    const periods = { average: readNumber(parameters, "period"), range: readNumber(parameters, "range") };
    return bandLines(keltner(high, low, close, periods, readNumber(parameters, "width")));
  },
  create(parameters, rules = DEFAULT_RULES) {
    const periods = { average: readNumber(parameters, "period"), range: readNumber(parameters, "range") };
    const width = readNumber(parameters, "width");
    const needs = {
      warmup: Math.max(periods.average, periods.range) + 1,
      lookback: Math.max(emaSettlingCandles(periods.average), wilderSettlingCandles(periods.range)),
    };
    return signalStrategy(
      parameters,
      rules,
      needs,
      ({ high, low, close }, pool) => returnSignals(close, keltner(high, low, close, periods, width, pool)),
    );
  },
};

import { bollinger } from "../../engine/indicators/bollinger.ts";
import { entrySchema, periodProperty, positiveProperty, readNumber } from "./parameter_schema.ts";
import { bandLines, type Builtin, DEFAULT_RULES } from "./builtin.ts";
import { returnSignals, signalStrategy } from "./signals.ts";

/** Expects closes outside the Bollinger bands to return to their mean. */
export const bollingerReversion: Builtin = {
  slug: "bollinger-reversion",
  name: "Bollinger Reversion",
  description:
    "Mean reversion. Buys when the close falls through the lower Bollinger band and leaves once it is back at the middle one; goes short when it rises through the upper band, and covers likewise. In a crash the bands widen and the strategy keeps buying: consider a stop loss.",
  default_frequency: "DAILY",
  min_candles: 3,
  lookback_candles: 21,
  parameter_schema: entrySchema({
    period: periodProperty(
      "Candles of the simple average and of the standard deviation (of a population, as Bollinger has it)",
      20,
      2,
    ),
    width: positiveProperty("Standard deviations from the middle to a band", 2, 10),
  }),
  reasons: {
    long: "the close fell below the lower band",
    short: "the close rose above the upper band",
    exit_long: "the close came back to the middle band",
    exit_short: "the close came back to the middle band",
  },
  lines: (parameters, { close }) =>
    bandLines(bollinger(close, readNumber(parameters, "period"), readNumber(parameters, "width"))),
  create(parameters, rules = DEFAULT_RULES) {
    const period = readNumber(parameters, "period");
    const width = readNumber(parameters, "width");
    return signalStrategy(
      parameters,
      rules,
      { warmup: period + 1 },
      ({ close }, pool) => returnSignals(close, bollinger(close, period, width, pool)),
    );
  },
};

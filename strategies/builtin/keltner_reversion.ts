import { emaSettlingCandles } from "../../engine/indicators/ema.ts";
import { keltner } from "../../engine/indicators/keltner.ts";
import { wilderSettlingCandles } from "../../engine/indicators/wilder.ts";
import { DIRECTION, periodProperty, readNumber, STOP_LOSS_LEVEL, TAKE_PROFIT_LEVEL } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, priceLine } from "./builtin.ts";
import { signalStrategy } from "./signals.ts";

/** Expects closes outside the Keltner channel to return to its middle. */
export const keltnerReversion: Builtin = {
  slug: "keltner-reversion",
  name: "Keltner Reversion",
  description:
    "Mean reversion. Buys when the close falls through the lower band of the Keltner channel and leaves once it is back at the middle; goes short when it rises through the upper band, and covers likewise. The bands widen with the range of the candles, not with the spread of the closes as Bollinger's do. Consider a stop loss.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 210,
  default_config: {},
  parameter_schema: {
    type: "object",
    properties: {
      period: periodProperty("Candles of the exponential average in the middle", 20),
      range: periodProperty("Candles of the average true range, smoothed with Wilder's weight 1 / period", 10),
      width: {
        type: "number",
        description: "Average true ranges from the middle to a band",
        default: 2,
        exclusiveMinimum: 0,
        maximum: 100,
      },
      direction: DIRECTION,
      takeProfitLevel: TAKE_PROFIT_LEVEL,
      stopLossLevel: STOP_LOSS_LEVEL,
    },
    additionalProperties: false,
  },
  reasons: {
    long: "the close fell below the lower band",
    short: "the close rose above the upper band",
    exit_long: "the close came back to the middle band",
    exit_short: "the close came back to the middle band",
  },
  lines(parameters, { high, low, close }) {
    const periods = { average: readNumber(parameters, "period"), range: readNumber(parameters, "range") };
    const { upper, middle, lower } = keltner(high, low, close, periods, readNumber(parameters, "width"));
    return [priceLine("upper band", upper), priceLine("middle band", middle), priceLine("lower band", lower)];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const periods = { average: readNumber(parameters, "period"), range: readNumber(parameters, "range") };
    const width = readNumber(parameters, "width");
    const needs = {
      warmup: Math.max(periods.average, periods.range) + 1,
      lookback: Math.max(emaSettlingCandles(periods.average), wilderSettlingCandles(periods.range)),
    };
    return signalStrategy(parameters, rules, needs, ({ high, low, close }, pool) => {
      const { upper, middle, lower } = keltner(high, low, close, periods, width, pool);
      return {
        buys: (i) => close[i - 1]! >= lower[i - 1]! && close[i]! < lower[i]!,
        sells: (i) => close[i - 1]! <= upper[i - 1]! && close[i]! > upper[i]!,
        leavesLong: (i) => close[i]! >= middle[i]!,
        leavesShort: (i) => close[i]! <= middle[i]!,
      };
    });
  },
};

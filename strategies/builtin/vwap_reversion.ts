import { tradingDay } from "../../engine/indicators/trading_day.ts";
import { anchoredVwap, vwap } from "../../engine/indicators/vwap.ts";
import { DIRECTION, periodProperty, readNumber, STOP_LOSS_LEVEL, TAKE_PROFIT_LEVEL } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES } from "./builtin.ts";
import { signalStrategy } from "./signals.ts";

/** A trading day of a stock's minutes: the average of a day that is under way has its candles from the open on. */
const DAY_CANDLES = 390;

/** Expects closes far from the volume-weighted average price to return to it. */
export const vwapReversion: Builtin = {
  slug: "vwap-reversion",
  name: "VWAP Reversion",
  description:
    "Mean reversion. Buys when the close falls further below the volume-weighted average price than so many standard deviations, weighted by volume too, and leaves once it is back at the average; goes short above it, and covers likewise. The average is of the last candles, or with the anchor set to session of the trading day so far, which needs candles shorter than a day. Without volume it does not trade.",
  default_frequency: "HOURLY",
  min_candles: 3,
  lookback_candles: 21,
  default_config: {},
  parameter_schema: {
    type: "object",
    properties: {
      anchor: {
        type: "string",
        description: "rolling: the average of the last period of candles; session: of the trading day so far",
        default: "rolling",
        enum: ["rolling", "session"],
      },
      period: periodProperty("Candles of the rolling average", 20, 2),
      width: {
        type: "number",
        description: "Standard deviations from the average at which it enters",
        default: 2,
        exclusiveMinimum: 0,
        maximum: 10,
      },
      direction: DIRECTION,
      takeProfitLevel: TAKE_PROFIT_LEVEL,
      stopLossLevel: STOP_LOSS_LEVEL,
    },
    additionalProperties: false,
  },
  create(parameters, rules = DEFAULT_RULES) {
    const isDaily = parameters["anchor"] === "session";
    const period = readNumber(parameters, "period");
    const width = readNumber(parameters, "width");
    const needs = isDaily ? { warmup: 3, lookback: DAY_CANDLES } : { warmup: period + 1 };
    return signalStrategy(parameters, rules, needs, (candles, pool, days = null) => {
      const { close } = candles;
      const { mean, deviation } = isDaily
        ? anchoredVwap(candles, tradingDay(candles.time, days, pool).candle, pool)
        : vwap(candles, period, pool);
      // The first candle of a day has no deviation, and its close is no signal.
      const isLow = (i: number) => deviation[i]! > 0 && close[i]! < mean[i]! - width * deviation[i]!;
      const isHigh = (i: number) => deviation[i]! > 0 && close[i]! > mean[i]! + width * deviation[i]!;
      return {
        buys: (i) => isLow(i) && !isLow(i - 1),
        sells: (i) => isHigh(i) && !isHigh(i - 1),
        leavesLong: (i) => close[i]! >= mean[i]!,
        leavesShort: (i) => close[i]! <= mean[i]!,
      };
    });
  },
};

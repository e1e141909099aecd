import type { BufferPool } from "../../engine/buffer_pool.ts";
import type { Candles } from "../../engine/candles.ts";
import { tradingDay } from "../../engine/indicators/trading_day.ts";
import { anchoredVwap, vwap } from "../../engine/indicators/vwap.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import { entrySchema, type Parameters, periodProperty, positiveProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, priceLine } from "./builtin.ts";
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
  parameter_schema: entrySchema({
    anchor: {
      type: "string",
      description: "rolling: the average of the last period of candles; session: of the trading day so far",
      default: "rolling",
      enum: ["rolling", "session"],
    },
    period: periodProperty("Candles of the rolling average", 20, 2),
    width: positiveProperty("Standard deviations from the average at which it enters", 2, 10),
  }),
  reasons: {
    long: "the close fell far below the average price",
    short: "the close rose far above the average price",
    exit_long: "the close came back to the average price",
    exit_short: "the close came back to the average price",
  },
  lines(parameters, candles, days) {
    const { mean, deviation } = averages(parameters, candles, days, null);
    const width = readNumber(parameters, "width");
    return [
      priceLine("VWAP", mean),
      priceLine("upper band", mean.map((value, i) => value + width * deviation[i]!)),
      priceLine("lower band", mean.map((value, i) => value - width * deviation[i]!)),
    ];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const isDaily = parameters["anchor"] === "session";
    const width = readNumber(parameters, "width");
    const needs = isDaily ? { warmup: 3, lookback: DAY_CANDLES } : { warmup: readNumber(parameters, "period") + 1 };
    return signalStrategy(parameters, rules, needs, (candles, pool, days = null) => {
      const { close } = candles;
      const { mean, deviation } = averages(parameters, candles, days, pool ?? null);
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

/** The average price of the day so far, or of the last candles, and its deviation. */
function averages(
  parameters: Parameters,
  candles: Candles,
  days: TradingDayColumns | null,
  pool: BufferPool | null,
) {
  return parameters["anchor"] === "session"
    ? anchoredVwap(candles, tradingDay(candles.time, days, pool).candle, pool)
    : vwap(candles, readNumber(parameters, "period"), pool);
}

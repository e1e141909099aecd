import { crossesAbove } from "../../engine/indicators/cross.ts";
import { stochastic } from "../../engine/indicators/stochastic.ts";
import { entrySchema, levelProperty, periodProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, levelLine } from "./builtin.ts";
import { signalStrategy } from "./signals.ts";

/** Trades the turns of the stochastic oscillator at its extremes. */
export const stochasticTurns: Builtin = {
  slug: "stochastic",
  name: "Stochastic",
  description:
    "Mean reversion. Buys when %K crosses above %D while %D is below the oversold level; sells, or goes short, when it crosses below while %D is above the overbought level. Both lie between 0, the lowest low of the period, and 100, its highest high. A strong trend keeps the oscillator at one end: consider a stop loss.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 19,
  parameter_schema: entrySchema({
    period: periodProperty("Candles of the highest high and the lowest low", 14),
    slowing: periodProperty("Values in the mean that is %K; 1: the fast stochastic", 3),
    signal: periodProperty("Values of %K in the mean that is %D", 3, 2),
    oversold: levelProperty("Buys when %D is below this", 20),
    overbought: levelProperty("Sells when %D is above this", 80),
  }),
  reasons: {
    long: "%K crossed above %D below oversold",
    short: "%K crossed below %D above overbought",
    exit_long: "%K crossed below %D above overbought",
    exit_short: "%K crossed above %D below oversold",
  },
  lines(parameters, { high, low, close }) {
    const read = (name: string) => readNumber(parameters, name);
    const periods = { period: read("period"), slowing: read("slowing"), signal: read("signal") };
    const { k, d } = stochastic(high, low, close, periods);
    return [
      { name: "%K", pane: "Stochastic", values: k },
      { name: "%D", pane: "Stochastic", values: d },
      ...["oversold", "overbought"].map((name) => levelLine(name, "Stochastic", read(name), close.length)),
    ];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const periods = {
      period: readNumber(parameters, "period"),
      slowing: readNumber(parameters, "slowing"),
      signal: readNumber(parameters, "signal"),
    };
    const oversold = readNumber(parameters, "oversold");
    const overbought = readNumber(parameters, "overbought");
    if (oversold > overbought) {
      throw new RangeError(`oversold must not be above overbought: ${oversold} is above ${overbought}`);
    }
    const warmup = periods.period + periods.slowing + periods.signal - 1;
    // A cross may go through values that have met before.
    const needs = { warmup, lookback: warmup + 1 };
    return signalStrategy(parameters, rules, needs, ({ high, low, close }, pool) => {
      const { k, d } = stochastic(high, low, close, periods, pool);
      const turnsUp = (i: number) => d[i]! < oversold && crossesAbove(k, d, i, rules.crossThroughTouch);
      const turnsDown = (i: number) => d[i]! > overbought && crossesAbove(d, k, i, rules.crossThroughTouch);
      return { buys: turnsUp, sells: turnsDown, leavesLong: turnsDown, leavesShort: turnsUp };
    });
  },
};

import { adx, adxSettlingCandles } from "../../engine/indicators/adx.ts";
import { entrySchema, levelProperty, periodProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, levelLine } from "./builtin.ts";
import { signalStrategy } from "./signals.ts";

/** Follows the side of Wilder's directional movement while the ADX calls it a trend. */
export const adxTrend: Builtin = {
  slug: "adx-trend",
  name: "ADX Trend",
  description:
    "Trend following with a filter. Buys once +DI is above -DI and the ADX is at its threshold or above; goes short with the lines the other way round. Leaves when the lines change places. It stays out of sideways markets, and pays with late entries.",
  default_frequency: "DAILY",
  min_candles: 3,
  lookback_candles: 560,
  parameter_schema: entrySchema({
    period: periodProperty("Candles in Wilder's averages of the moves, the range and the ADX", 14),
    threshold: levelProperty("The least ADX that counts as a trend", 25),
  }),
  reasons: {
    long: "+DI above -DI, with an ADX at its threshold",
    short: "-DI above +DI, with an ADX at its threshold",
    exit_long: "-DI rose above +DI",
    exit_short: "+DI rose above -DI",
  },
  lines(parameters, { high, low, close }) {
    const { adx: strength, plus, minus } = adx(high, low, close, readNumber(parameters, "period"));
    return [
      { name: "ADX", pane: "ADX", values: strength },
      { name: "+DI", pane: "ADX", values: plus },
      { name: "-DI", pane: "ADX", values: minus },
      levelLine("threshold", "ADX", readNumber(parameters, "threshold"), close.length),
    ];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const period = readNumber(parameters, "period");
    const threshold = readNumber(parameters, "threshold");
    const needs = { warmup: 2 * period + 1, lookback: adxSettlingCandles(period) };
    return signalStrategy(parameters, rules, needs, ({ high, low, close }, pool) => {
      const { adx: strength, plus, minus } = adx(high, low, close, period, pool);
      const rises = (i: number) => strength[i]! >= threshold && plus[i]! > minus[i]!;
      const falls = (i: number) => strength[i]! >= threshold && minus[i]! > plus[i]!;
      return {
        buys: (i) => rises(i) && !rises(i - 1),
        sells: (i) => falls(i) && !falls(i - 1),
        leavesLong: (i) => minus[i]! > plus[i]!,
        leavesShort: (i) => plus[i]! > minus[i]!,
      };
    });
  },
};

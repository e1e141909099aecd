import { ichimoku } from "../../engine/indicators/ichimoku.ts";
import { entrySchema, periodProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, priceLine } from "./builtin.ts";
import { signalStrategy } from "./signals.ts";

/** Follows the trend of the Ichimoku lines outside of the cloud. */
export const ichimokuTrend: Builtin = {
  slug: "ichimoku",
  name: "Ichimoku",
  description:
    "Trend following. Buys once the conversion line is above the base line and the close above the cloud; goes short with the conversion line below the base line and the close below the cloud. Leaves when the two lines change places. Each line is the middle of the highest high and the lowest low of its period.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 78,
  parameter_schema: entrySchema({
    conversion: periodProperty("Candles of the conversion line (tenkan-sen)", 9),
    base: periodProperty("Candles of the base line (kijun-sen), more than those of the conversion line", 26, 2),
    span: periodProperty("Candles of the cloud's slower edge (senkou span B)", 52),
    displacement: periodProperty("Candles that the cloud is drawn ahead, the present one counted", 26),
  }),
  reasons: {
    long: "the close above the cloud, and the conversion line above the base line",
    short: "the close below the cloud, and the conversion line below the base line",
    exit_long: "the conversion line fell below the base line",
    exit_short: "the conversion line rose above the base line",
  },
  lines(parameters, { high, low }) {
    const read = (name: string) => readNumber(parameters, name);
    const periods = { conversion: read("conversion"), base: read("base"), span: read("span") };
    const { conversion, base, leadingA, leadingB } = ichimoku(high, low, periods, read("displacement"));
    return [
      priceLine("conversion", conversion),
      priceLine("base", base),
      priceLine("cloud A", leadingA),
      priceLine("cloud B", leadingB),
    ];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const periods = {
      conversion: readNumber(parameters, "conversion"),
      base: readNumber(parameters, "base"),
      span: readNumber(parameters, "span"),
    };
    const displacement = readNumber(parameters, "displacement");
    if (periods.conversion >= periods.base) {
      throw new RangeError(
        `conversion must be less than base: ${periods.conversion} is not less than ${periods.base}`,
      );
    }
    const warmup = Math.max(periods.base, periods.span) + displacement;
    return signalStrategy(parameters, rules, { warmup }, ({ high, low, close }, pool) => {
      const { conversion, base, leadingA, leadingB } = ichimoku(high, low, periods, displacement, pool);
      const rises = (i: number) => {
        return conversion[i]! > base[i]! && close[i]! > leadingA[i]! && close[i]! > leadingB[i]!;
      };
      const falls = (i: number) => {
        return conversion[i]! < base[i]! && close[i]! < leadingA[i]! && close[i]! < leadingB[i]!;
      };
      return {
        buys: (i) => rises(i) && !rises(i - 1),
        sells: (i) => falls(i) && !falls(i - 1),
        leavesLong: (i) => conversion[i]! < base[i]!,
        leavesShort: (i) => conversion[i]! > base[i]!,
      };
    });
  },
};

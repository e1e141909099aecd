import { sharedColumn } from "../../engine/buffer_pool.ts";
import { atr } from "../../engine/indicators/atr.ts";
import { crossesAbove } from "../../engine/indicators/cross.ts";
import { ema, emaSettlingCandles } from "../../engine/indicators/ema.ts";
import { wilderSettlingCandles } from "../../engine/indicators/wilder.ts";
import {
  DIRECTION,
  entryDraft,
  periodProperty,
  positiveProperty,
  readNumber,
  readShorts,
  schemaOf,
  TAKE_PROFIT_LEVEL,
} from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, priceLine } from "./builtin.ts";

/** Enters with the trend and leaves by a stop that trails by the market's range. */
export const atrTrend: Builtin = {
  slug: "atr-trend",
  name: "ATR Trend",
  description:
    "Trend following with a volatility stop. Buys when the close crosses above its exponential moving average, goes short when it crosses below, and leaves only by a trailing stop. The stop follows the best price at a distance of several average true ranges, measured at the entry: it is tight in quiet markets and wide in volatile ones.",
  default_frequency: "DAILY",
  min_candles: 2,
  lookback_candles: 510,
  parameter_schema: schemaOf({
    trend: periodProperty("Candles of the average that the close must cross", 50),
    atr: periodProperty("Candles of the average true range, smoothed with Wilder's weight 1 / period", 14),
    multiple: positiveProperty("Average true ranges between the best price and the trailing stop", 3, 100),
    direction: DIRECTION,
    takeProfitLevel: TAKE_PROFIT_LEVEL,
  }),
  reasons: {
    long: "the close crossed above the average",
    short: "the close crossed below the average",
    exit_long: null,
    exit_short: null,
  },
  lines(parameters, { high, low, close }) {
    const [trend, period] = [readNumber(parameters, "trend"), readNumber(parameters, "atr")];
    return [
      priceLine(`EMA ${trend}`, ema(close, trend)),
      { name: `ATR ${period}`, pane: "ATR", values: atr(high, low, close, period) },
    ];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const { crossThroughTouch } = rules;
    const trendPeriod = readNumber(parameters, "trend");
    const atrPeriod = readNumber(parameters, "atr");
    const multiple = readNumber(parameters, "multiple");
    const shorts = readShorts(parameters, rules);
    const entry = entryDraft(parameters);
    let close: Float64Array = new Float64Array(0);
    let trend: Float64Array = close;
    let ranges: Float64Array = close;
    return {
      warmup: Math.max(trendPeriod + 1, atrPeriod),
      lookback: Math.max(emaSettlingCandles(trendPeriod), wilderSettlingCandles(atrPeriod)),
      prepare(candles, pool) {
        close = candles.close;
        trend = sharedColumn(ema, close, trendPeriod, pool);
        ranges = atr(candles.high, candles.low, close, atrPeriod, pool);
      },
      decide(i, account, book) {
        if (account.quantity !== 0) return;
        const up = crossesAbove(close, trend, i, crossThroughTouch);
        if (!up && !(shorts && crossesAbove(trend, close, i, crossThroughTouch))) return;
        // Without any movement the distance is 0, and a stop at distance 0 would fill at once.
        if (!(ranges[i]! > 0)) return;
        entry.side = up ? 1 : -1;
        entry.trailDistance = multiple * ranges[i]!;
        book.place(entry);
      },
    };
  },
};

import { openingRange, type OpeningRangeColumns } from "../../engine/indicators/opening_range.ts";
import { tradingDay, type TradingDayCandles } from "../../engine/indicators/trading_day.ts";
import { STOP } from "../../engine/strategy.ts";
import {
  DIRECTION,
  entryDraft,
  periodProperty,
  readNumber,
  readShorts,
  schemaOf,
  TAKE_PROFIT_LEVEL,
} from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, priceLine } from "./builtin.ts";

/** Two trading days of a stock's minutes: the day before tells how long a day is, and has to be whole. */
const TWO_DAYS_CANDLES = 780;

/** Trades the breakout of the day's first candles, and is out by the end of the day. */
export const openingRangeBreakout: Builtin = {
  slug: "opening-range-breakout",
  name: "Opening Range Breakout",
  description:
    "Day trading. Once the first candles of a trading day have closed, a buy stop waits at their high and (both directions) a sell stop at their low, with the stop loss at the other edge; the first entry withdraws the other order. Leaves at the open of the day's last candle, which is expected after as many candles as the day before had. Needs candles shorter than a day.",
  default_frequency: "HOURLY",
  min_candles: 1,
  lookback_candles: 780,
  parameter_schema: schemaOf({
    range: periodProperty("Candles of the opening range, from the open of the trading day", 2),
    direction: DIRECTION,
    takeProfitLevel: TAKE_PROFIT_LEVEL,
  }),
  reasons: {
    long: "the price broke above the opening range",
    short: "the price broke below the opening range",
    exit_long: "the trading day ends",
    exit_short: "the trading day ends",
  },
  lines(parameters, { time, high, low }, days) {
    const range = openingRange(high, low, tradingDay(time, days).candle, readNumber(parameters, "range"));
    return [priceLine("opening high", range.upper), priceLine("opening low", range.lower)];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const period = readNumber(parameters, "range");
    const shorts = readShorts(parameters, rules);
    const entry = { ...entryDraft(parameters), type: STOP };
    const empty = new Float64Array(0);
    let range: OpeningRangeColumns = { upper: empty, lower: empty };
    let day: TradingDayCandles = { candle: empty, length: empty };
    return {
      warmup: 1,
      lookback: TWO_DAYS_CANDLES,
      prepare({ time, high, low }, pool, days = null) {
        day = tradingDay(time, days, pool);
        range = openingRange(high, low, day.candle, period, pool);
      },
      decide(i, { quantity }, book) {
        const candle = day.candle[i]!;
        // An order of the candle before the last one is filled at the open of the last.
        const isLate = candle >= day.length[i]! - 2;
        const isComplete = candle === period - 1;
        if (isLate || isComplete || candle < period || quantity !== 0) book.cancelAll();
        if (quantity !== 0 && (isLate || candle < period)) book.close(1, null);
        if (isLate || !isComplete) return;
        const [upper, lower] = [range.upper[i]!, range.lower[i]!];
        // A stop loss at the entry itself would fill at once.
        if (!(upper > lower)) return;
        entry.side = 1;
        entry.stopPrice = upper;
        entry.stopLoss = lower;
        book.place(entry);
        if (!shorts) return;
        entry.side = -1;
        entry.stopPrice = lower;
        entry.stopLoss = upper;
        book.place(entry);
      },
    };
  },
};

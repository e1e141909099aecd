import type { Instrument } from "../../db/instruments.ts";
import { type Hours, sessionWith } from "../../market/calendar/exchange_sessions.ts";
import { tradingDaysOf } from "../../market/calendar/trading_days.ts";
import { candleEnd, isDaily, type Timeframe } from "../../market/timeframes.ts";

/**
 * When each candle of a market begins and ends to trade, milliseconds since 1970: a day of a US stock closes at 16:00 in New York, one of
 * a coin at 24:00 UTC.
 */
export function instantsOf(
  instrument: Instrument,
  time: Float64Array,
  { timeframe, hours }: { readonly timeframe: Timeframe; readonly hours: Hours },
): { readonly opens: Float64Array; readonly closes: Float64Array } {
  const days = tradingDaysOf(sessionWith(instrument, hours));
  const [opens, closes] = [new Float64Array(time.length), new Float64Array(time.length)];
  for (let i = 0; i < time.length; i++) {
    const open = time[i]!;
    const end = candleEnd(open, timeframe);
    if (!isDaily(timeframe)) {
      opens[i] = open;
      closes[i] = Math.min(end, days.dayAtOrAfter(open).close);
      continue;
    }
    // A daily candle or a longer one is stamped with its first date. One of a date on which the market does not trade lasts all day.
    const [first, last] = [days.startOf(open), days.startOf(end)];
    const close = days.closeAtOrBefore(last);
    opens[i] = close > first ? days.dayAtOrAfter(first).open : first;
    closes[i] = close > first ? close : last;
  }
  return { opens, closes };
}

import { type Hours, sessionWith, type Traded } from "../../market/calendar/exchange_sessions.ts";
import { type TradingDays, tradingDaysOf } from "../../market/calendar/trading_days.ts";
import { candleEnd, isDaily, type Timeframe } from "../../market/timeframes.ts";

/** In shared memory, as groupByDay() has its columns. */
interface Instants {
  readonly opens: Float64Array;
  readonly closes: Float64Array;
}

interface Held {
  readonly days: TradingDays;
  readonly timeframe: Timeframe;
  readonly instants: Instants;
}

/** Of days and longer candles: the days of each are looked up in its calendar. */
const held = new WeakMap<Float64Array, Held>();

/**
 * When each candle of a market begins and ends to trade, milliseconds since 1970: a day of a US stock closes at 16:00 in New York, one of
 * a coin at 24:00 UTC.
 *
 * @param time Never changes.
 */
export function instantsOf(
  instrument: Traded,
  time: Float64Array,
  { timeframe, hours }: { readonly timeframe: Timeframe; readonly hours: Hours },
): Instants {
  const days = tradingDaysOf(sessionWith(instrument, hours));
  if (!isDaily(timeframe)) return { opens: time, closes: closesInside(days, time, timeframe) };
  const known = held.get(time);
  if (known?.days === days && known.timeframe === timeframe) return known.instants;
  const instants = instantsOfDays(days, time, timeframe);
  held.set(time, { days, timeframe, instants });
  return instants;
}

function closesInside(days: TradingDays, time: Float64Array, timeframe: Timeframe): Float64Array {
  const closes = sharedColumn(time.length);
  for (let i = 0; i < time.length; i++) {
    closes[i] = Math.min(candleEnd(time[i]!, timeframe), days.dayAtOrAfter(time[i]!).close);
  }
  return closes;
}

/** A daily candle or a longer one is stamped with its first date. One of a date on which the market does not trade lasts all day. */
function instantsOfDays(days: TradingDays, time: Float64Array, timeframe: Timeframe): Instants {
  const [opens, closes] = [sharedColumn(time.length), sharedColumn(time.length)];
  for (let i = 0; i < time.length; i++) {
    const [first, last] = [days.startOf(time[i]!), days.startOf(candleEnd(time[i]!, timeframe))];
    const close = days.closeAtOrBefore(last);
    opens[i] = close > first ? days.dayAtOrAfter(first).open : first;
    closes[i] = close > first ? close : last;
  }
  return { opens, closes };
}

function sharedColumn(length: number): Float64Array {
  return new Float64Array(new SharedArrayBuffer(length * Float64Array.BYTES_PER_ELEMENT));
}

import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import type { TradingDays } from "./trading_days.ts";
import { DAY_MS } from "../timeframes.ts";

/**
 * The trading days of candles, in shared memory: a message to a worker copies other columns of each market, which takes longer than a
 * run over days of hundreds of markets.
 *
 * A candle outside of the session belongs to the market's date, or to the next one that is traded.
 */
export function groupByDay(days: TradingDays, time: Float64Array): TradingDayColumns {
  const ends = new Int32Array(time.length);
  const dates = new Float64Array(time.length);
  let count = -1;
  let until = -Infinity;
  for (let i = 0; i < time.length; i++) {
    if (time[i]! >= until) {
      const date = days.dateOf(time[i]!);
      if (date !== dates[count]) dates[++count] = date;
      // The days that are not traded before it belong to it, too.
      until = days.startOf(date + DAY_MS);
    }
    ends[count] = i + 1;
  }
  const rows = count + 1;
  const shared = {
    ends: new Int32Array(new SharedArrayBuffer(rows * Int32Array.BYTES_PER_ELEMENT)),
    dates: new Float64Array(new SharedArrayBuffer(rows * Float64Array.BYTES_PER_ELEMENT)),
  };
  shared.ends.set(ends.subarray(0, rows));
  shared.dates.set(dates.subarray(0, rows));
  return shared;
}

interface Grouped {
  readonly days: TradingDays;
  readonly columns: TradingDayColumns;
}

const grouped = new WeakMap<Float64Array, Grouped>();

/** The same for times that never change: remembered for as long as they are, since to group a year of minutes takes milliseconds. */
export function groupByDayOnce(days: TradingDays, time: Float64Array): TradingDayColumns {
  const held = grouped.get(time);
  if (held?.days === days) return held.columns;
  const columns = groupByDay(days, time);
  grouped.set(time, { days, columns });
  return columns;
}

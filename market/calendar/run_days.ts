import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import type { BacktestResult } from "../../engine/result.ts";
import { isCoarser, isTimeframe } from "../timeframes.ts";
import { UTC_DAYS } from "./exchange_sessions.ts";
import { groupByDay } from "./group_by_day.ts";
import { tradingDaysOf } from "./trading_days.ts";

/**
 * The trading days on which a run's metrics count; null where they are days of UTC or longer.
 *
 * @param timeframe Of the run's parameters.
 * @param time Opens of the run's candles.
 */
export function daysOfRun(
  result: BacktestResult | null,
  timeframe: unknown,
  time: Float64Array,
): TradingDayColumns | null {
  const session = result?.data.session;
  if (session === undefined || typeof timeframe !== "string" || !isTimeframe(timeframe)) return null;
  if (isCoarser(timeframe, "1d")) return null;
  const { timezone, open, close, weekdays } = session;
  // A stored day is a date.
  const hours = timeframe === "1d" ? UTC_DAYS : { timezone, open, close, extended: null };
  return groupByDay(tradingDaysOf({ ...hours, weekdays: [...weekdays] }), time);
}

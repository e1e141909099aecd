import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import type { BacktestResult } from "../../engine/result.ts";
import type { Session } from "../../db/instruments.ts";
import { DAY_MS, isCoarser, isTimeframe, type Timeframe } from "../timeframes.ts";
import { sessionOf, type Traded, UTC_DAYS } from "./exchange_sessions.ts";
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
  return groupCandles({ ...session, weekdays: [...session.weekdays], extended: null }, timeframe, time);
}

/** The index after the last candle of each of a run's trading days: each candle is one where candles are longer than days. */
export function endsOfDays(
  result: BacktestResult | null,
  timeframe: unknown,
  time: Float64Array,
): Int32Array | readonly number[] {
  const days = daysOfRun(result, timeframe, time);
  if (days !== null) return days.ends;
  const dayOf = (i: number) => Math.floor(time[i]! / DAY_MS);
  const ends: number[] = [];
  for (let end = 1; end <= time.length; end++) if (end === time.length || dayOf(end) !== dayOf(end - 1)) ends.push(end);
  return ends;
}

/**
 * The trading days of candles that no service holds, by the session of their exchange or asset class; null where candles are longer
 * than a day.
 *
 * @param time Opens of the candles.
 */
export function daysOfCandles(traded: Traded, timeframe: Timeframe, time: Float64Array): TradingDayColumns | null {
  return groupCandles(sessionOf(traded), timeframe, time);
}

function groupCandles(session: Session, timeframe: Timeframe, time: Float64Array): TradingDayColumns | null {
  if (isCoarser(timeframe, "1d")) return null;
  const { weekdays } = session;
  // A stored day is a date.
  return groupByDay(tradingDaysOf(timeframe === "1d" ? { ...UTC_DAYS, weekdays } : session), time);
}

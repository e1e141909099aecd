import { sessionOf, type Traded } from "./exchange_sessions.ts";
import { isForexHoliday, isNewYorkHoliday } from "./holidays.ts";
import type { TradingDays } from "./trading_days.ts";
import { DAY_MS } from "../timeframes.ts";

const HOUR_MS = 3_600_000;

/**
 * True if a period without candles is missing data rather than a time without trade.
 *
 * For crypto, every period is missing data. For forex, a period is not if it is shorter than an hour (no quotes), inside Friday 21:00 to
 * Monday 00:00 UTC, or inside Christmas or New Year's Day. For stocks, it is not unless it holds a whole session that is no holiday in New
 * York, for instruments that trade by New York's time: nights, lunch breaks and minutes without a trade are normal.
 *
 * @param days The instrument's trading days.
 * @param fromMs The close of the candle before the period.
 * @param untilMs The open of the candle after it.
 */
export function isGap(instrument: Traded, days: TradingDays, fromMs: number, untilMs: number): boolean {
  if (untilMs <= fromMs) return false;
  const { assetClass } = instrument;
  if (assetClass === "crypto") return true;
  if (assetClass === "forex") {
    return untilMs - fromMs >= HOUR_MS && !isInsideForexRest(fromMs, untilMs) && !isInsideForexHoliday(fromMs, untilMs);
  }
  for (let day = days.dayAtOrAfter(fromMs); day.close <= untilMs; day = days.dayAtOrAfter(day.close)) {
    if (day.open >= fromMs && !isHoliday(instrument, day.date)) return true;
  }
  return false;
}

/**
 * True if an instrument's market is known to stay shut on a date. The holidays of New York and of currencies are known.
 *
 * @param date 00:00 UTC of the date, in milliseconds since 1970.
 */
export function isHoliday(instrument: Traded, date: number): boolean {
  if (instrument.assetClass === "crypto") return false;
  if (instrument.assetClass === "forex") return isForexHoliday(date / DAY_MS);
  return sessionOf(instrument).timezone === "America/New_York" && isNewYorkHoliday(date / DAY_MS);
}

function isInsideForexRest(fromMs: number, untilMs: number): boolean {
  const fridayOffset = (weekday(Math.floor(fromMs / DAY_MS)) + 2) % 7;
  const restStart = (Math.floor(fromMs / DAY_MS) - fridayOffset) * DAY_MS + 21 * HOUR_MS;
  return fromMs >= restStart && untilMs <= restStart + 51 * HOUR_MS;
}

// Trading ends on the evening before the holiday and begins in the night after it.
function isInsideForexHoliday(fromMs: number, untilMs: number): boolean {
  for (const day of [Math.floor(fromMs / DAY_MS), Math.floor(fromMs / DAY_MS) + 1]) {
    const start = day * DAY_MS;
    if (isForexHoliday(day) && fromMs >= start - 6 * HOUR_MS && untilMs <= start + 30 * HOUR_MS) return true;
  }
  return false;
}

/** 0 is Sunday; days are counted from 1970-01-01, a Thursday. */
function weekday(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

import type { AssetClass } from "../../db/instruments.ts";
import { isForexHoliday, isNewYorkHoliday } from "./holidays.ts";
import { DAY_MS } from "../timeframes.ts";

const HOUR_MS = 3_600_000;

// Forex closes from Friday 17:00 to Sunday 17:00 in New York, whose offset from UTC changes twice a year.
const newYork = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/New_York",
  weekday: "short",
  hour: "2-digit",
  hourCycle: "h23",
});

/**
 * The first moment at or after `timeMs` at which an asset class can trade; both in milliseconds since 1970.
 *
 * Crypto always trades. Stocks close on Saturday and Sunday (UTC), forex over its weekend. This function knows no holidays and no nights,
 * so its answer can be early but never late: a candle is held back rather than served incomplete.
 */
export function nextTradeTime(assetClass: AssetClass, timeMs: number): number {
  if (assetClass === "crypto") return timeMs;
  if (assetClass === "stock") {
    const day = Math.floor(timeMs / DAY_MS);
    return isWeekend(day) ? (weekday(day) === 6 ? day + 2 : day + 1) * DAY_MS : timeMs;
  }
  let time = timeMs;
  while (isForexWeekend(time)) time = (Math.floor(time / HOUR_MS) + 1) * HOUR_MS;
  return time;
}

/**
 * Whether a period without candles is missing data rather than a time without trade.
 *
 * For crypto, every period is missing data. For forex, a period is not if it is shorter than an hour (no quotes), inside Friday 21:00 to
 * Monday 00:00 UTC, or inside Christmas or New Year's Day. For stocks, it is not unless it holds a whole weekday (UTC) that is no holiday
 * in New York: nights, lunch breaks and minutes without a trade are normal.
 *
 * @param fromMs The close of the candle before the period.
 * @param untilMs The open of the candle after it.
 */
export function isGap(assetClass: AssetClass, fromMs: number, untilMs: number): boolean {
  if (untilMs <= fromMs) return false;
  if (assetClass === "crypto") return true;
  if (assetClass === "forex") {
    return untilMs - fromMs >= HOUR_MS && !isInsideForexRest(fromMs, untilMs) && !isInsideForexHoliday(fromMs, untilMs);
  }
  for (let day = Math.ceil(fromMs / DAY_MS); (day + 1) * DAY_MS <= untilMs; day++) {
    if (!isWeekend(day) && !isNewYorkHoliday(day)) return true;
  }
  return false;
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

function isForexWeekend(timeMs: number): boolean {
  const parts = newYork.formatToParts(timeMs);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? "";
  const hour = Number(part("hour"));
  switch (part("weekday")) {
    case "Fri":
      return hour >= 17;
    case "Sat":
      return true;
    case "Sun":
      return hour < 17;
    default:
      return false;
  }
}

/** 0 is Sunday; days are counted from 1970-01-01, a Thursday. */
function weekday(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

function isWeekend(day: number): boolean {
  return weekday(day) === 0 || weekday(day) === 6;
}

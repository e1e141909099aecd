import type { Session } from "../../db/instruments.ts";
import { FEED_LABELS } from "../../db/schema.ts";
import { type Hours, sessionOf, sessionWith, type Traded, UTC_DAYS } from "../calendar/exchange_sessions.ts";
import { type TradingDays, tradingDaysOf } from "../calendar/trading_days.ts";
import { bucketStart, bucketStartAtOrAfter, divides, isCoarser, isDaily, type Timeframe } from "../timeframes.ts";
import { Buckets } from "./buckets.ts";
import type { TimeRange } from "./time_ranges.ts";

/** An instrument, as far as it decides how its candles are made. */
type Made = Traded & { readonly provider: string };

/** The candles that are wanted of an instrument. */
export interface WantedCandles extends TimeRange {
  readonly timeframe: Timeframe;
  /** Default: regular. */
  readonly hours?: Hours | undefined;
}

/** True if a feed supplies the candles. An import does not tell when there was no trade, and the sample always trades. */
export function isFed({ provider }: { readonly provider: string }): boolean {
  return FEED_LABELS.some((label) => label === provider);
}

/**
 * True if stored candles of one timeframe should make those of another.
 *
 * A provider's hours of stocks and days of forex do not keep to the session, and no stored day has extended hours.
 */
export function canMake(
  instrument: Made,
  source: Timeframe,
  { timeframe, hours }: Pick<WantedCandles, "timeframe" | "hours">,
) {
  if (!divides(source, timeframe)) return false;
  if (instrument.assetClass === "crypto") return true;
  if (hours === "extended" && isDaily(source)) return false;
  if (!isFed(instrument)) return true;
  if (instrument.assetClass === "forex") return !isDaily(source);
  return isDaily(source) || !isCoarser(source, "30m");
}

const datedSessions = new WeakMap<Session, Session>();

/** The trading days that stored candles of a timeframe belong to: stored days are dates, and the rest is moments. */
export function daysOf(instrument: Traded, source: Timeframe, hours: Hours = "regular"): TradingDays {
  const session = sessionWith(instrument, hours);
  if (!isDaily(source)) return tradingDaysOf(session);
  const { weekdays } = sessionOf(instrument);
  const dated = datedSessions.get(session) ?? { ...UTC_DAYS, weekdays };
  datedSessions.set(session, dated);
  return tradingDaysOf(dated);
}

/** The buckets that stored candles of `source` go to. */
export function bucketsOf(
  instrument: Traded,
  source: Timeframe,
  wanted: Pick<WantedCandles, "timeframe" | "hours">,
): Buckets {
  return new Buckets(daysOf(instrument, source, wanted.hours), wanted.timeframe);
}

/**
 * The range of trading dates as candles are stamped: minutes, and candles with a date, keep to UTC; hours begin when the trading date does.
 *
 * @param dates 00:00 UTC of the first date and of the one after the last.
 */
export function rangeOfDates(instrument: Traded, timeframe: Timeframe, dates: TimeRange): TimeRange {
  if (timeframe === "1m" || isDaily(timeframe)) return { start: dates.start, end: dates.end };
  const days = tradingDaysOf(sessionOf(instrument));
  return { start: days.startOf(dates.start), end: days.startOf(dates.end) };
}

/** The range of stored candles of `source` that make the wanted ones which open in the wanted range. */
export function sourceRange(instrument: Traded, source: Timeframe, wanted: WantedCandles): TimeRange {
  const { timeframe, start, end } = wanted;
  if (source === timeframe) return { start, end };
  if (isDaily(timeframe) && !isDaily(source)) {
    const days = daysOf(instrument, source, wanted.hours);
    const startOf = (time: number) => days.startOf(bucketStartAtOrAfter(time, timeframe));
    return { start: startOf(start), end: startOf(end) };
  }
  const buckets = bucketsOf(instrument, source, wanted);
  return { start: buckets.ceil(start), end: buckets.ceil(end) };
}

/** The range of `source` to fetch for the wanted candles: on its own boundaries, and without what has not closed yet. */
export function rangeToFetch(instrument: Traded, source: Timeframe, wanted: WantedCandles, now: number): TimeRange {
  const { start, end } = sourceRange(instrument, source, wanted);
  const isMade = source !== wanted.timeframe;
  const over = isMade ? bucketsOf(instrument, source, wanted).floor(now) : now;
  return {
    start: isMade ? bucketStart(start, source) : bucketStartAtOrAfter(start, source),
    end: Math.min(bucketStartAtOrAfter(Math.min(end, over), source), bucketStart(now, source)),
  };
}

import type { TradingDays } from "../calendar/trading_days.ts";
import { bucketStart, bucketStartAtOrAfter, isDaily, shortestMs, type Timeframe } from "../timeframes.ts";

/** A stretch of time within one bucket, or between two. Milliseconds since 1970. */
interface Segment {
  /** Candles that open in [start, end) go to the bucket. */
  readonly start: number;
  readonly end: number;
  /** The timestamp of the bucket's candle; null for time outside of the session. Weeks have a segment for each day. */
  readonly label: number | null;
}

/**
 * The buckets of a timeframe in a session. Hours and minutes count from the open of the trading day; days, weeks and months have the
 * trading date as their timestamp.
 */
export class Buckets {
  readonly #days: TradingDays;
  readonly #timeframe: Timeframe;
  readonly #lengthMs: number;
  readonly #isDaily: boolean;

  constructor(days: TradingDays, timeframe: Timeframe) {
    this.#days = days;
    this.#timeframe = timeframe;
    this.#lengthMs = shortestMs(timeframe);
    this.#isDaily = isDaily(timeframe);
  }

  /** The segment that holds a moment. */
  segmentAt(timeMs: number): Segment {
    const { date, open, close } = this.#days.dayAtOrAfter(timeMs);
    if (timeMs < open) return { start: timeMs, end: open, label: null };
    if (this.#isDaily) return { start: open, end: close, label: bucketStart(date, this.#timeframe) };
    const start = open + Math.floor((timeMs - open) / this.#lengthMs) * this.#lengthMs;
    return { start, end: Math.min(start + this.#lengthMs, close), label: start };
  }

  /** The latest moment up to the given one at which a bucket ends or begins: all buckets before it are over. */
  floor(timeMs: number): number {
    const days = this.#days;
    const { date, open } = days.dayAtOrAfter(timeMs);
    if (this.#isDaily) {
      const start = days.startOf(bucketStart(date, this.#timeframe));
      return start < timeMs ? start : days.closeAtOrBefore(timeMs);
    }
    if (timeMs <= open) return days.closeAtOrBefore(timeMs);
    const { start } = this.segmentAt(timeMs);
    return start === open ? days.startOf(date) : start;
  }

  /** The first moment from the given one on that is inside no bucket. */
  ceil(timeMs: number): number {
    const day = this.#days.dayAtOrAfter(timeMs);
    if (!this.#isDaily) return timeMs <= day.open ? timeMs : this.segmentAt(timeMs - 1).end;
    const label = bucketStart(day.date, this.#timeframe);
    const start = this.#days.startOf(label);
    return timeMs <= start ? timeMs : this.#days.startOf(bucketStartAtOrAfter(label + 1, this.#timeframe));
  }
}

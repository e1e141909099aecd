import type { Session } from "../../db/instruments.ts";
import { DAY_MS } from "../timeframes.ts";

const MINUTE_MS = 60_000;
const DAYS_KEPT_MAX = 16_384;

/** One trading day, in milliseconds since 1970. */
interface TradingDay {
  /** 00:00 UTC of its date. */
  readonly date: number;
  /** When the date begins: with its open for a session over midnight, else with the market's midnight. */
  readonly start: number;
  /** The market trades in [open, close). */
  readonly open: number;
  readonly close: number;
}

/**
 * The trading days of a session, in absolute time. It knows no holidays: a day without candles is a day without trade.
 *
 * Each day is looked up in the time zone once, which costs some 50 microseconds.
 */
export class TradingDays {
  readonly #session: Session;
  readonly #openMs: number;
  readonly #closeMs: number;
  readonly #isOverMidnight: boolean;
  readonly #days = new Map<number, TradingDay>();
  #last: TradingDay = { date: NaN, start: NaN, open: NaN, close: NaN };

  constructor(session: Session) {
    this.#session = session;
    this.#openMs = millisecondsOf(session.open);
    this.#closeMs = millisecondsOf(session.close);
    this.#isOverMidnight = this.#closeMs <= this.#openMs;
  }

  /** Time inside the session as a fraction of all time. */
  get share(): number {
    const lengthMs = this.#closeMs - this.#openMs + (this.#isOverMidnight ? DAY_MS : 0);
    return lengthMs * this.#session.weekdays.length / (7 * DAY_MS);
  }

  /** The trading day that is open at a moment, or else the next one. */
  dayAtOrAfter(timeMs: number): TradingDay {
    if (timeMs >= this.#last.open && timeMs < this.#last.close) return this.#last;
    // The market's date is at most one day before that of UTC.
    for (let date = floorToDay(timeMs) - DAY_MS;; date += DAY_MS) {
      if (!this.isTraded(date)) continue;
      const day = this.#dayOf(date);
      if (timeMs < day.close) return this.#last = day;
    }
  }

  /** The close of the last trading day that has closed by a moment. */
  closeAtOrBefore(timeMs: number): number {
    // The market's date is at most one day after that of UTC.
    for (let date = floorToDay(timeMs) + DAY_MS;; date -= DAY_MS) {
      if (!this.isTraded(date)) continue;
      const { close } = this.#dayOf(date);
      if (close <= timeMs) return close;
    }
  }

  /** True if a date, given as its 00:00 UTC, falls on one of the session's weekdays. */
  isTraded(date: number): boolean {
    return this.#session.weekdays.includes(weekdayOf(date));
  }

  /** When a trading date begins. */
  startOf(date: number): number {
    return this.#dayOf(date).start;
  }

  /** The trading date of a moment; outside of the session the date of the market, or the next one that is traded. */
  dateOf(timeMs: number): number {
    if (timeMs >= this.#last.open && timeMs < this.#last.close) return this.#last.date;
    let date = floorToDay(timeMs) - DAY_MS;
    while (this.startOf(date + DAY_MS) <= timeMs) date += DAY_MS;
    while (!this.isTraded(date)) date += DAY_MS;
    return date;
  }

  #dayOf(date: number): TradingDay {
    const known = this.#days.get(date);
    if (known !== undefined) return known;
    const open = this.#instant((this.#isOverMidnight ? date - DAY_MS : date) + this.#openMs);
    const start = this.#isOverMidnight ? open : this.#instant(date);
    const day = { date, start, open, close: this.#instant(date + this.#closeMs) };
    if (this.#days.size >= DAYS_KEPT_MAX) this.#days.clear();
    this.#days.set(date, day);
    return day;
  }

  /** @param wallMs The market's wall clock, as if it were UTC. */
  #instant(wallMs: number): number {
    const { timezone } = this.#session;
    if (timezone === "UTC") return wallMs;
    const wall = Temporal.PlainDateTime.from(new Date(wallMs).toISOString().slice(0, -1));
    return wall.toZonedDateTime(timezone).epochMilliseconds;
  }
}

const known = new WeakMap<Session, TradingDays>();

/** The trading days of a session; those of an equal object are shared. */
export function tradingDaysOf(session: Session): TradingDays {
  const days = known.get(session) ?? new TradingDays(session);
  known.set(session, days);
  return days;
}

/** 1 is Monday, 7 is Sunday; 1970-01-01 was a Thursday. */
function weekdayOf(date: number): number {
  return ((Math.floor(date / DAY_MS) + 3) % 7 + 7) % 7 + 1;
}

function floorToDay(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS) * DAY_MS;
}

function millisecondsOf(time: string): number {
  const [hours, minutes] = time.split(":");
  return (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
}

import { bucketsOf, daysOf } from "../archive/made_candles.ts";
import { sessionOf, type Traded } from "../calendar/exchange_sessions.ts";
import { isHoliday } from "../calendar/trading_hours.ts";
import { bucketStart, candleEnd, DAY_MS, isDaily, shortestMs, type Timeframe, TIMEFRAME_MS } from "../timeframes.ts";

/** A time as a file writes it. */
interface WrittenTime {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The same without its offset: what the clock showed where it was written. */
  readonly local: number;
}

/** A way of stamping candles. */
interface Convention {
  /** Follows "stamped". */
  readonly name: string;
  /** The time that the candle is stored with; NaN where the convention does not fit. */
  readonly read: (written: WrittenTime) => number;
  /** The stored time of the candle that would hold the moment. */
  readonly nearest: (time: number) => number;
}

/**
 * Recognises how a file stamps its candles: each line rules out the conventions that it does not fit. Where several are left they agree on
 * the times so far.
 */
export class ConventionFinder {
  readonly #timeframe: Timeframe;
  #candidates: readonly Convention[];
  #isKnown = false;

  constructor(instrument: Traded, timeframe: Timeframe) {
    this.#timeframe = timeframe;
    this.#candidates = isDaily(timeframe)
      ? datedConventions(instrument, timeframe)
      : clockConventions(instrument, timeframe);
  }

  /** How the file stamps its candles, in words; null before its first candle. */
  get name(): string | null {
    return this.#isKnown ? `stamped ${this.#candidates[0]!.name}` : null;
  }

  /** The time to store a candle with; NaN for a time that no convention explains which fits the lines before. */
  read(written: WrittenTime): number {
    if (this.#isKnown && this.#candidates.length === 1) return this.#candidates[0]!.read(written);
    const fitting = this.#candidates.filter(({ read }) => !Number.isNaN(read(written)));
    if (fitting.length === 0) return NaN;
    this.#candidates = fitting;
    this.#isKnown = true;
    return fitting[0]!.read(written);
  }

  /** Why a time was refused, with the two nearest readings. */
  explain({ time }: WrittenTime): string {
    const readings = this.#candidates
      .map(({ name, nearest }) => ({ name, at: nearest(time) }))
      .sort((a, b) => Math.abs(a.at - time) - Math.abs(b.at - time));
    const distinct = readings.filter(({ at }, i) => readings.findIndex((other) => other.at === at) === i).slice(0, 2);
    const told = distinct.map(({ name, at }) => `${new Date(at).toISOString()} (${name})`).join(" or ");
    return `${new Date(time).toISOString()} is no opening time of a ${this.#timeframe} candle; the nearest: ${told}`;
  }
}

function clockConventions(instrument: Traded, timeframe: Timeframe): Convention[] {
  const lengthMs = shortestMs(timeframe);
  const byUtc = (time: number) => bucketStart(time, timeframe);
  const utc = { name: "by the clock of UTC", read: fits(byUtc), nearest: byUtc };
  if (timeframe === "1m") return [utc];
  const { timezone } = sessionOf(instrument);
  const inSession = (hours: "regular" | "extended") => {
    const buckets = bucketsOf(instrument, "1m", { timeframe, hours });
    return (time: number) => {
      const { label, end } = buckets.segmentAt(time);
      return label ?? end;
    };
  };
  const [regular, extended] = [inSession("regular"), inSession("extended")];
  const days = daysOf(instrument, "1m");
  const byMarket = (time: number) => {
    const start = days.startOf(Math.floor(time / DAY_MS) * DAY_MS);
    return start + Math.floor((time - start) / lengthMs) * lengthMs;
  };
  // Some files cut the hour of the clock in which the market opens.
  const cut = (time: number) => time === days.dayAtOrAfter(time).open ? time : byMarket(time);
  return [
    utc,
    { name: `from the open of the session (${timezone})`, read: fits(regular), nearest: regular },
    { name: `from the open of extended hours (${timezone})`, read: fits(extended), nearest: extended },
    { name: `by the clock of ${timezone}`, read: fits(byMarket), nearest: byMarket },
    { name: `by the clock of ${timezone}, with the open of the session`, read: fits(cut), nearest: cut },
  ];
}

function fits(open: (time: number) => number): Convention["read"] {
  return ({ time }) => open(time) === time ? time : NaN;
}

function datedConventions(instrument: Traded, timeframe: Timeframe): Convention[] {
  const { timezone } = sessionOf(instrument);
  const days = daysOf(instrument, "1m");
  const dateAt = (time: number) => Math.floor(time / DAY_MS) * DAY_MS;
  const byDay: Convention[] = [
    { name: "at 00:00 UTC of the date", read: ({ time }) => time === dateAt(time) ? time : NaN, nearest: dateAt },
  ];
  if (instrument.assetClass !== "crypto") {
    const open = ({ time }: WrittenTime) => {
      const day = days.dayAtOrAfter(time);
      return day.open === time ? day.date : NaN;
    };
    byDay.push({
      name: `at the open of the session (${timezone})`,
      read: open,
      nearest: (time) => days.dayAtOrAfter(time).open,
    });
  }
  if (instrument.assetClass === "stock") {
    byDay.push({
      name: "at 00:00 of the date where it was written",
      read: ({ local }) => local === dateAt(local) ? local : NaN,
      nearest: dateAt,
    }, {
      name: `at 00:00 of ${timezone}`,
      read: ({ time }) => {
        const date = dateAt(time + DAY_MS / 2);
        return days.startOf(date) === time ? date : NaN;
      },
      nearest: (time) => days.startOf(dateAt(time)),
    });
  }
  if (instrument.assetClass === "forex") byDay.push(eveningConvention);
  if (timeframe === "1M") return byDay.flatMap((convention) => monthlyConventions(convention, instrument));
  if (timeframe === "1w") return byDay.flatMap((convention) => weeklyConventions(convention, instrument));
  return byDay.map((convention) => ({ ...convention, read: onBoundary(convention.read, timeframe) }));
}

/** Brokers without summer time open their day at the same hour of UTC all year. */
const eveningConvention: Convention = {
  name: "at 21:00 or 22:00 UTC of the evening before",
  read: ({ time }) => {
    const hour = (time % DAY_MS + DAY_MS) % DAY_MS / TIMEFRAME_MS["1h"];
    return hour === 21 || hour === 22 ? time + (24 - hour) * TIMEFRAME_MS["1h"] : NaN;
  },
  nearest: (time) => Math.floor(time / DAY_MS + 0.5) * DAY_MS - 2 * TIMEFRAME_MS["1h"],
};

/** A week has the date of its Monday or of its first trading day; of forex also the date on which that day opens, a Sunday. */
function weeklyConventions({ name, read, nearest }: Convention, instrument: Traded): Convention[] {
  const days = daysOf(instrument, "1d");
  const isShut = (date: number) => !days.isTraded(date) || isHoliday(instrument, date);
  const weekOf = (date: number) => {
    const monday = bucketStart(date, "1w");
    let first = monday;
    while (first < date && isShut(first)) first += DAY_MS;
    return date === monday || (date === first && !isShut(date)) ? monday : NaN;
  };
  const readWeek = (daysBefore: number): Convention["read"] => (written) => {
    const date = read(written);
    return Number.isNaN(date) ? NaN : weekOf(date + daysBefore * DAY_MS);
  };
  const weekly: Convention = {
    name: `${name}, the Monday of its week or the first day that was traded`,
    read: readWeek(0),
    nearest: (time) => nearest(bucketStart(time, "1w")),
  };
  if (instrument.assetClass !== "forex") return [weekly];
  return [weekly, {
    name: `${name}, the Sunday on which its week opens`,
    read: readWeek(1),
    nearest: (time) => nearest(bucketStart(time + DAY_MS, "1w") - DAY_MS),
  }];
}

// Weekdays without trade at either end of a month: a holiday, or a week of them in some countries.
const HOLIDAYS_MAX = { crypto: 0, forex: 2, stock: 7 } as const;

/** Some exporters date a month by its first day and others by its last, in the calendar or as it was traded. */
function monthlyConventions({ name, read }: Convention, instrument: Traded): Convention[] {
  const days = daysOf(instrument, "1d");
  const isTurn = (from: number, until: number) => {
    let traded = 0;
    for (let date = from; date < until; date += DAY_MS) if (days.isTraded(date)) traded++;
    return traded <= HOLIDAYS_MAX[instrument.assetClass];
  };
  const readMonth = (isItsDate: (date: number, first: number) => boolean): Convention["read"] => (written) => {
    const date = read(written);
    if (Number.isNaN(date)) return NaN;
    const first = bucketStart(date, "1M");
    return isItsDate(date, first) ? first : NaN;
  };
  return [
    {
      name: `${name}, the first of its month or the first that was traded`,
      read: readMonth((date, first) => isTurn(first, date)),
      nearest: (time) => bucketStart(time, "1M"),
    },
    {
      name: `${name}, the last of its month or the last that was traded`,
      read: readMonth((date, first) => isTurn(date + DAY_MS, candleEnd(first, "1M"))),
      nearest: (time) => candleEnd(bucketStart(time, "1M"), "1M") - DAY_MS,
    },
  ];
}

/** Reads a date as `read` does, and refuses one that opens no candle. */
function onBoundary(read: Convention["read"], timeframe: Timeframe): Convention["read"] {
  return (written) => {
    const date = read(written);
    return bucketStart(date, timeframe) === date ? date : NaN;
  };
}

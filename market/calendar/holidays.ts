import { DAY_MS } from "../timeframes.ts";

const [SUNDAY, MONDAY, THURSDAY, SATURDAY] = [0, 1, 4, 6];

// Other days since 2000 on which the New York exchanges stayed shut: mourning, attacks, a storm.
const SHUT = new Set([
  "2001-09-11",
  "2001-09-12",
  "2001-09-13",
  "2001-09-14",
  "2004-06-11",
  "2007-01-02",
  "2012-10-29",
  "2012-10-30",
  "2018-12-05",
  "2025-01-09",
]);

/**
 * True if the New York stock exchanges stay shut on a weekday.
 *
 * @param day Days since 1970.
 * @see https://www.nyse.com/markets/hours-calendars, and NYSE rule 7.2 for days that fall on a weekend.
 */
export function isNewYorkHoliday(day: number): boolean {
  const date = new Date(day * DAY_MS);
  const iso = date.toISOString().slice(0, 10);
  const year = date.getUTCFullYear();
  return SHUT.has(iso) || holidaysOf(year).has(day);
}

/** True if the currency market is closed: Christmas and New Year's Day. @param day Days since 1970. */
export function isForexHoliday(day: number): boolean {
  const monthAndDay = new Date(day * DAY_MS).toISOString().slice(5, 10);
  return monthAndDay === "12-25" || monthAndDay === "01-01";
}

const holidaysByYear = new Map<number, ReadonlySet<number>>();

function holidaysOf(year: number): ReadonlySet<number> {
  const known = holidaysByYear.get(year);
  if (known !== undefined) return known;
  const newYear = dayOf(year, 0, 1);
  const holidays = new Set([
    // A New Year's Day on a Saturday moves to no other day.
    weekday(newYear) === SUNDAY ? newYear + 1 : newYear,
    nthWeekday(year, 0, MONDAY, 3),
    nthWeekday(year, 1, MONDAY, 3),
    easter(year) - 2,
    // The last Monday of May.
    nthWeekday(year, 5, MONDAY, 1) - 7,
    ...(year >= 2022 ? [observed(dayOf(year, 5, 19))] : []),
    observed(dayOf(year, 6, 4)),
    nthWeekday(year, 8, MONDAY, 1),
    nthWeekday(year, 10, THURSDAY, 4),
    observed(dayOf(year, 11, 25)),
  ]);
  holidaysByYear.set(year, holidays);
  return holidays;
}

function dayOf(year: number, month: number, day: number): number {
  return Date.UTC(year, month, day) / DAY_MS;
}

/** 0 is Sunday; 1970-01-01 was a Thursday. */
function weekday(day: number): number {
  return (((day + THURSDAY) % 7) + 7) % 7;
}

function nthWeekday(year: number, month: number, which: number, nth: number): number {
  const first = dayOf(year, month, 1);
  return first + ((which - weekday(first) + 7) % 7) + 7 * (nth - 1);
}

/** A holiday on a Saturday moves to Friday, one on a Sunday to Monday. */
function observed(day: number): number {
  return weekday(day) === SATURDAY ? day - 1 : weekday(day) === SUNDAY ? day + 1 : day;
}

/** Easter Sunday (the anonymous Gregorian computus; Meeus, "Astronomical Algorithms", chapter 8). */
function easter(year: number): number {
  const a = year % 19;
  const b = Math.floor(year / 100);
  const c = year % 100;
  const d = Math.floor(b / 4);
  const e = b % 4;
  const f = Math.floor((b + 8) / 25);
  const g = Math.floor((b - f + 1) / 3);
  const h = (19 * a + b - d - g + 15) % 30;
  const i = Math.floor(c / 4);
  const k = c % 4;
  const l = (32 + 2 * e + 2 * i - h - k) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const month = Math.floor((h + l - 7 * m + 114) / 31);
  return dayOf(year, month - 1, ((h + l - 7 * m + 114) % 31) + 1);
}

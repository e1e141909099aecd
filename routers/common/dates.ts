import { z } from "zod";
import { parseEpoch } from "../../market/csv/fields.ts";
import { DAY_MS } from "../../market/timeframes.ts";
import { AppError, mustBe } from "./errors.ts";

/**
 * An existing calendar date `YYYY-MM-DD`. JavaScript reads 2023-02-29 as 1 March, so the check is a round trip; PostgreSQL's calendar has
 * no year 0.
 */
export const dateSchema = z.string().refine(isCalendarDate, mustBe("a calendar date YYYY-MM-DD"))
  .meta({ format: "date" });

/** Milliseconds since 1970, in one of the years 1 to 9999. */
export const timeMsSchema = z.int().min(Date.parse("0001-01-01")).max(Date.parse("9999-12-31T23:59:59.999Z"));

function isCalendarDate(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

// Seconds, milliseconds, microseconds or nanoseconds since 1970, for times from 2001 to 2286: the digits tell which.
const EPOCH = /^(?:\d{10}|\d{13}|\d{16}|\d{19})$/;

/** A date, which is its 00:00Z, a moment in UTC or a time since 1970 in any unit; milliseconds since 1970. */
export const momentSchema = z.union(
  [dateSchema, z.iso.datetime(), z.string().regex(EPOCH)],
  mustBe("a date YYYY-MM-DD, a time in UTC such as 2024-01-31T09:30:00Z, or s, ms, us or ns since 1970"),
).transform((text) => EPOCH.test(text) ? epochMs(text) : Date.parse(text));

function epochMs(digits: string): number {
  const bytes = new TextEncoder().encode(digits);
  return Math.floor(parseEpoch(bytes, 0, bytes.length));
}

/** The JSON pointers of a range's dates, for the issues of an error. */
interface RangePaths {
  readonly start: string;
  readonly end: string;
  /** True if the range may end with the last moment of today. */
  readonly isTomorrowAllowed?: boolean;
}

/**
 * A half-open range of whole days, [start 00:00Z, end 00:00Z), as milliseconds since 1970.
 *
 * @throws AppError INVALID_DATE_RANGE where start is not before end, FUTURE_DATE_RANGE where either is after today (UTC); the
 * end may be tomorrow where the caller allows it.
 */
export function parseRange(startDate: string, endDate: string, paths: RangePaths): { start: number; end: number } {
  const start = Date.parse(`${startDate}T00:00:00Z`);
  const end = Date.parse(`${endDate}T00:00:00Z`);
  if (start >= end) {
    const message = `must be before ${paths.end.slice(1).replaceAll("/", ".")} ${endDate}, not ${startDate}`;
    throw new AppError("INVALID_DATE_RANGE", `Cannot use the range: ${paths.start} ${message}`, {
      issues: [{ path: paths.start, message }],
    });
  }
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const isTomorrow = paths.isTomorrowAllowed === true && start <= today;
  const endMax = isTomorrow ? today + DAY_MS : today;
  if (end > endMax) {
    const path = start > today ? paths.start : paths.end;
    const day = isTomorrow ? "tomorrow" : "today";
    const message = `must not be after ${day}, ${new Date(endMax).toISOString().slice(0, 10)} (UTC), but is ${
      start > today ? startDate : endDate
    }`;
    throw new AppError("FUTURE_DATE_RANGE", `Cannot use the range: ${path} ${message}`, {
      issues: [{ path, message }],
    });
  }
  return { start, end };
}

/** @throws AppError INVALID_DATE_RANGE where both ends of a range are given and the first is not before the second. */
export function requireRising(start: number | undefined, end: number | undefined, paths: RangePaths): void {
  if (start === undefined || end === undefined || start < end) return;
  const message = `must be before ${paths.end.slice(1)} ${new Date(end).toISOString()}, not ${
    new Date(start).toISOString()
  }`;
  throw new AppError("INVALID_DATE_RANGE", `Cannot use the range: ${paths.start} ${message}`, {
    issues: [{ path: paths.start, message }],
  });
}

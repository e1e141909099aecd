import { z } from "zod";
import { DAY_MS } from "../market/timeframes.ts";
import { AppError, mustBe } from "./errors.ts";

/**
 * An existing calendar date `YYYY-MM-DD`. JavaScript reads 2023-02-29 as 1 March, so the check is a round trip; PostgreSQL's calendar has
 * no year 0.
 */
export const dateSchema = z.string().refine(isCalendarDate, mustBe("a calendar date YYYY-MM-DD"));

function isCalendarDate(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The JSON pointers of a range's dates, for the issues of an error. */
export interface RangePaths {
  readonly start: string;
  readonly end: string;
}

/**
 * A half-open range of whole days, [start 00:00Z, end 00:00Z), as milliseconds since 1970.
 *
 * @throws AppError INVALID_DATE_RANGE where start is not before end, FUTURE_DATE_RANGE where either is after today (UTC).
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
  if (end > today) {
    const path = start > today ? paths.start : paths.end;
    const message = `must not be after today, ${new Date(today).toISOString().slice(0, 10)} (UTC), but is ${
      start > today ? startDate : endDate
    }`;
    throw new AppError("FUTURE_DATE_RANGE", `Cannot use the range: ${path} ${message}`, {
      issues: [{ path, message }],
    });
  }
  return { start, end };
}

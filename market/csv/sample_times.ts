import { DAY_MS, type Timeframe, TIMEFRAME_MS, TIMEFRAME_NAMES } from "../timeframes.ts";
import type { Dialect } from "./dialect.ts";
import { LineFields } from "./line_fields.ts";
import { TimeReader } from "./times.ts";

const MONTH_DAYS_MIN = 24;
const MONTH_DAYS_MAX = 31;
const WEEK_DAYS = 7;
// From a Wednesday after two holidays to the next Monday.
const WEEK_DAYS_MIN = 5;

/**
 * The times that the beginning of a file holds, in milliseconds since 1970, in the order of its lines, and whether they are times of day
 * that name no zone.
 */
export function readTimes(sample: Uint8Array, dialect: Dialect): { times: number[]; isZoneless: boolean } {
  const { headerLines, delimiter, columns: { time, clock } } = dialect;
  const reader = new TimeReader({ ...dialect, hasClock: clock !== null });
  const fields = new LineFields();
  const times: number[] = [];
  for (let from = 0, line = 1; from < sample.length; from = fields.end + 1, line++) {
    const count = fields.cut(sample, from, delimiter);
    if (line > headerLines && count > Math.max(time, clock ?? 0)) {
      const text = clock === null ? fields.text(time) : `${fields.text(time)} ${fields.text(clock)}`;
      const bytes = new TextEncoder().encode(text);
      const moment = clock === null ? reader.read(bytes, 0, bytes.length, true) : reader.readText(text);
      if (!Number.isNaN(moment)) times.push(moment);
    }
  }
  return { times, isZoneless: reader.isZoneless };
}

/** The timeframe whose candles are as long as the shortest step between two times; null where none is. */
export function guessTimeframe(times: readonly number[]): Timeframe | null {
  let step = Infinity;
  for (let i = 1; i < times.length; i++) {
    const between = Math.abs(times[i]! - times[i - 1]!);
    if (between > 0) step = Math.min(step, between);
  }
  // The distance of the first or last trading days of two months can be less than a month.
  if (step >= MONTH_DAYS_MIN * DAY_MS && step <= MONTH_DAYS_MAX * DAY_MS) return "1M";
  if (step >= WEEK_DAYS_MIN * DAY_MS && step <= WEEK_DAYS * DAY_MS) return "1w";
  return TIMEFRAME_NAMES.find((name) => name !== "1M" && TIMEFRAME_MS[name] === step) ?? null;
}

/** True if times of a week or more leave out Saturdays and Sundays. */
export function restsOnWeekends(times: readonly number[]): boolean {
  const days = new Set(times.map((time) => Math.floor(time / DAY_MS)));
  // 1970-01-01 was a Thursday.
  const isWeekend = (day: number) => (day + 4) % WEEK_DAYS === 0 || (day + 4) % WEEK_DAYS === WEEK_DAYS - 1;
  const [first, last] = [Math.min(...days), Math.max(...days)];
  return last - first >= WEEK_DAYS && ![...days].some(isWeekend);
}

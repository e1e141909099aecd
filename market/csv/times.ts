import { DAY_MS } from "../timeframes.ts";
import { clock, dayNumber, fieldText, parseEpoch, parseTime, type TimeUnit } from "./fields.ts";
import { LocalClock } from "./local_clock.ts";
import type { DateOrder } from "./terms.ts";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] as const;
const UTC = /^(UTC|[+-]00:00)$/;
const ISO_LENGTH = "2024-12-31 23:59:59".length;
const UPPER_Z = 0x5a;
const DATE =
  /^(?:(?<numbers>(\d{1,4})([-./])(\d{1,2})\3(\d{1,4}))|(?<compact>\d{8}(?!\d))|(?<month>[a-z]{3,9})\.? (\d{1,2}),? (\d{4})|(\d{1,2})[- ](?<monthAfter>[a-z]{3,9})\.?[- ](\d{4}))/i;
const CLOCK =
  /^(?:[T ]\s*)?(?:(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?|(\d\d)(\d\d)(\d\d)?)(?:\s?([AP])M)?(?:\s?(Z|UTC|GMT)?(?:([+-])(\d\d):?(\d\d)?)?)$/i;

/** A date as its text has it: three numbers in the order of the file, or with the year first or the month named. */
interface DateParts {
  /** Days since 1970, where the text alone says; else null. */
  readonly day: number | null;
  /** The two numbers before the year, where their order decides. */
  readonly first: number;
  readonly second: number;
  readonly year: number;
  readonly separator: string;
  readonly length: number;
}

/** Reads the date that a text begins with; null without one. */
export function parseDate(text: string): DateParts | null {
  const found = DATE.exec(text);
  if (found === null) return null;
  const length = found[0].length;
  const known = (day: number) => ({ day, first: NaN, second: NaN, year: NaN, separator: "", length });
  const { numbers, compact, month, monthAfter } = found.groups ?? {};
  const part = (index: number) => Number(found[index]);
  if (compact !== undefined) {
    return known(dayNumber(Number(compact.slice(0, 4)), Number(compact.slice(4, 6)), Number(compact.slice(6))));
  }
  if (month !== undefined) return known(dayNumber(part(9), monthNumber(month), part(8)));
  if (monthAfter !== undefined) return known(dayNumber(part(12), monthNumber(monthAfter), part(10)));
  if (numbers !== undefined && found[2]!.length === 4) return known(dayNumber(part(2), part(4), part(5)));
  if (found[5]!.length !== 4) return null;
  return { day: null, first: part(2), second: part(4), year: part(5), separator: found[3]!, length };
}

function monthNumber(name: string): number {
  // "Sept." is the one common abbreviation of four letters.
  return MONTHS.findIndex((month) => name.toLowerCase().startsWith(month)) + 1 || NaN;
}

/** Days since 1970 in an order; NaN for a date that does not exist. */
export function dayIn(parts: DateParts, order: DateOrder): number {
  if (parts.day !== null) return parts.day;
  if (order === "ymd") return NaN;
  const { first, second, year } = parts;
  return order === "dmy" ? dayNumber(year, second, first) : dayNumber(year, first, second);
}

/** How a file writes its times. */
interface TimeFormat {
  readonly dateOrder: DateOrder | null;
  readonly timeUnit: TimeUnit | null;
  readonly isUnitForced: boolean;
  /** Of times that name no zone. */
  readonly timezone: string;
  /** True if dates have their time of day in another column. */
  readonly hasClock: boolean;
}

/** Reads the times of a file, line by line. */
export class TimeReader {
  /** The moment before, and whether times decrease: an hour that the clock shows twice is read by them. */
  previous = -Infinity;
  isNewestFirst = false;
  /** The clock's time of the last line, as if it were UTC. */
  local = NaN;

  readonly #order: DateOrder;
  readonly #unit: TimeUnit | null;
  readonly #isUtc: boolean;
  readonly #timezone: string;
  readonly #zone: LocalClock;
  /** True while the quick reader of ISO times and numbers cannot be wrong. */
  #isPlain: boolean;
  /** The zone that the first time names; undefined before it, null if it names none. */
  #zoneSeen: string | null | undefined;
  #fault = "";

  constructor({ dateOrder, timeUnit, isUnitForced, timezone, hasClock }: TimeFormat) {
    this.#order = dateOrder ?? "ymd";
    this.#unit = isUnitForced ? timeUnit : null;
    this.#timezone = timezone;
    this.#isUtc = timezone === "UTC";
    this.#zone = new LocalClock(timezone);
    this.#isPlain = this.#isUtc && this.#unit === null && !hasClock;
  }

  /** Why the last time could not be read. */
  get fault(): string {
    return this.#fault;
  }

  /** True once a time of day was read that names no zone. */
  get isZoneless(): boolean {
    return this.#zoneSeen === null;
  }

  /** Reads a moment, in milliseconds since 1970; NaN for anything else. @param isLocalWanted True if `local` is set, too. */
  read(bytes: Uint8Array, from: number, until: number, isLocalWanted: boolean): number {
    if (this.#isPlain && !isLocalWanted && this.#zoneSeen !== undefined) {
      const isQuick = until - from === ISO_LENGTH || bytes[until - 1] === UPPER_Z;
      const time = isQuick ? parseTime(bytes, from, until) : NaN;
      if (!Number.isNaN(time)) return time;
    }
    const epoch = parseEpoch(bytes, from, until, this.#unit ?? undefined);
    if (!Number.isNaN(epoch)) return this.local = epoch;
    return this.readText(fieldText(bytes, from, until));
  }

  /** Reads a date with a time of day. */
  readText(text: string): number {
    this.#fault = `${
      JSON.stringify(text.slice(0, 60))
    } is not a time that exists (write 2024-12-31 or 2024-12-31 23:59)`;
    const date = parseDate(text);
    if (date === null) return NaN;
    const dayMs = dayIn(date, this.#order) * DAY_MS;
    if (date.length === text.length) return this.local = dayMs;
    const found = CLOCK.exec(text.slice(date.length));
    if (found === null) return NaN;
    this.local = dayMs + timeOfDay(found);
    if (Number.isNaN(this.local)) return NaN;
    const [, , , , , , , , , zone, sign, hours, minutes] = found;
    const isZoned = zone !== undefined || sign !== undefined;
    if (!this.#checkZone(isZoned, sign === undefined ? "UTC" : `${sign}${hours}:${minutes ?? "00"}`)) return NaN;
    if (!isZoned) return this.#isUtc ? this.local : this.#resolve(text);
    const [offsetHours, offsetMinutes] = [Number(hours ?? 0), Number(minutes ?? 0)];
    if (offsetHours > 18 || offsetMinutes > 59) return NaN;
    return this.local - (offsetHours * 60 + offsetMinutes) * 60_000 * (sign === "-" ? -1 : 1);
  }

  /** False for a time without a zone among times of another one than it would be read in. */
  #checkZone(isZoned: boolean, zone: string): boolean {
    const isOurs = this.#isUtc && UTC.test(zone);
    if (this.#zoneSeen === undefined) this.#zoneSeen = isZoned ? zone : null;
    // The file is not read quickly any more: a time without a zone could then be missed.
    const seen = this.#zoneSeen;
    if (isZoned && !isOurs) this.#isPlain = false;
    if (isZoned === (seen !== null)) return true;
    if (this.#isUtc && UTC.test(seen ?? zone)) return true;
    this.#fault = seen === null
      ? `names the zone ${zone}, and the times before it name none and are read in ${this.#timezone}: name one in each line, or in none`
      : `names no time zone, and the times before it do (${seen}): name one in each line, or in none`;
    return false;
  }

  #resolve(text: string): number {
    const [early, late] = this.#zone.momentsOf(this.local);
    if (early === undefined) {
      this.#fault = `${JSON.stringify(text)} does not exist in ${this.#timezone}: the clock skips it`;
      return NaN;
    }
    if (late === undefined) return early;
    if (this.isNewestFirst) return late < this.previous ? late : early;
    return early > this.previous ? early : late;
  }
}

function timeOfDay(found: RegExpExecArray): number {
  const part = (index: number) => Number(found[index] ?? 0);
  const half = found[8]?.toUpperCase();
  let hours = found[1] === undefined ? part(5) : part(1);
  const minutes = found[1] === undefined ? part(6) : part(2);
  const seconds = found[1] === undefined ? part(7) : part(3);
  if (half !== undefined) {
    if (hours < 1 || hours > 12) return NaN;
    hours = hours % 12 + (half === "P" ? 12 : 0);
  }
  return clock(hours, minutes, seconds) + Number(`0.${found[4] ?? 0}`) * 1000;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The years 1 to 9999: others have no parts. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;
/** Of a zone, whose offsets are kept. */
const DAYS_KEPT = 4096;
/** Parts of a time, as `utc` has them. */
export const LOCAL_PARTS = ["year", "month", "day", "weekday", "hour", "minute"] as const;

/**
 * The parts of times in a time zone, from the runtime's own tables: month 1 to 12, weekday 0 (Sunday) to 6.
 *
 * @param time Milliseconds since 1970; NaN where there is none.
 * @param zone A name of the IANA's, such as America/New_York, or an offset such as +05:30.
 * @returns The columns of LOCAL_PARTS; NaN outside of the years 1 to 9999.
 * @throws {RangeError} When there is no such time zone.
 */
export function localTime(time: Float64Array, zone: string): readonly Float64Array[] {
  const offsetAt = makeOffsets("local", zone);
  const columns = LOCAL_PARTS.map(() => new Float64Array(time.length));
  const [year, month, day, weekday, hour, minute] = columns;
  const local = new Date(0);
  for (let i = 0; i < time.length; i++) {
    local.setTime(time[i]! + offsetAt(time[i]!));
    year![i] = local.getUTCFullYear();
    month![i] = local.getUTCMonth() + 1;
    day![i] = local.getUTCDate();
    weekday![i] = local.getUTCDay();
    hour![i] = local.getUTCHours();
    minute![i] = local.getUTCMinutes();
  }
  return columns;
}

/**
 * The offsets of a zone, in milliseconds; NaN outside of the years 1 to 9999. A day that begins and ends with one offset is asked for once.
 *
 * @param asker Begins the message of an error.
 * @throws {RangeError} When there is no such time zone.
 */
export function makeOffsets(asker: string, zone: string): (time: number) => number {
  const format = formatOffsets(asker, zone);
  const ask = (time: number) => readOffset(format.format(time));
  const starts = new Map<number, number>();
  const startOf = (day: number): number => {
    const known = starts.get(day);
    if (known !== undefined) return known;
    if (starts.size === DAYS_KEPT) starts.clear();
    const offset = ask(day * DAY_MS);
    starts.set(day, offset);
    return offset;
  };
  let [from, offset, changes] = [NaN, NaN, false];
  return (time) => {
    if (!(time >= from && time < from + DAY_MS)) {
      if (!(time >= FIRST_MS && time <= LAST_MS)) return NaN;
      const day = Math.floor(time / DAY_MS);
      from = day * DAY_MS;
      offset = startOf(day);
      changes = offset !== startOf(day + 1);
    }
    return changes ? ask(time) : offset;
  };
}

function formatOffsets(asker: string, zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  } catch {
    const example = "use a name such as America/New_York or Europe/London";
    throw new RangeError(`${asker}: there is no time zone ${zone}: ${example}`);
  }
}

/** The milliseconds of "1/1/2024, GMT-05:00". */
function readOffset(text: string): number {
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = /GMT(?:([+-])(\d+)(?::(\d+))?(?::(\d+))?)?$/.exec(text) ??
    [];
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -size : size;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The years 1 to 9999: others have no parts. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;
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
  const offsetAt = makeOffsets(zone);
  const columns = LOCAL_PARTS.map(() => new Float64Array(time.length).fill(NaN));
  const [year, month, day, weekday, hour, minute] = columns;
  const local = new Date(0);
  for (let i = 0; i < time.length; i++) {
    const at = time[i]!;
    if (!(at >= FIRST_MS && at <= LAST_MS)) continue;
    local.setTime(at + offsetAt(at));
    year![i] = local.getUTCFullYear();
    month![i] = local.getUTCMonth() + 1;
    day![i] = local.getUTCDate();
    weekday![i] = local.getUTCDay();
    hour![i] = local.getUTCHours();
    minute![i] = local.getUTCMinutes();
  }
  return columns;
}

/** The offset of a zone at a time, in milliseconds. A day that begins and ends with one offset is asked for once. */
function makeOffsets(zone: string): (time: number) => number {
  const format = formatOffsets(zone);
  const ask = (time: number) => readOffset(format.format(time));
  let [from, to, offset, changes] = [NaN, NaN, 0, false];
  return (time) => {
    if (!(time >= from && time < to)) {
      from = Math.floor(time / DAY_MS) * DAY_MS;
      to = from + DAY_MS;
      offset = ask(from);
      changes = offset !== ask(to);
    }
    return changes ? ask(time) : offset;
  };
}

function formatOffsets(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  } catch {
    throw new RangeError(`local: there is no time zone ${zone}: use a name such as America/New_York or Europe/London`);
  }
}

/** The milliseconds of "1/1/2024, GMT-05:00". */
function readOffset(text: string): number {
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = /GMT(?:([+-])(\d+)(?::(\d+))?(?::(\d+))?)?$/.exec(text) ??
    [];
  const size = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === "-" ? -size : size;
}

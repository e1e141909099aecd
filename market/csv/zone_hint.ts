import { sessionWith, type Traded } from "../calendar/exchange_sessions.ts";
import { DAY_MS } from "../timeframes.ts";

// Enough to see the hours of a session; each look-up of a zone's clock costs some 50 microseconds.
const TIMES_MAX = 500;
const MINUTE_MS = 60_000;

/**
 * A hint that times without a zone, which are read as UTC, may be the exchange's own.
 *
 * @param times As read in UTC, of intraday candles, in milliseconds since 1970.
 * @returns Undefined unless, read by the exchange's clock, all of them lie in the regular or extended hours of a stock, and not as read.
 */
export function hintExchangeTime(times: readonly number[], instrument: Traded): string | undefined {
  if (instrument.assetClass !== "stock" || times.length < 2) return undefined;
  const stride = Math.ceil(times.length / TIMES_MAX);
  const some = times.filter((_, i) => i % stride === 0);
  const { timezone } = sessionWith(instrument, "regular");
  const local = some.map(timeOfDay);
  const moments = some.map((time) => {
    const shown = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(timezone);
    return (shown.hour * 60 + shown.minute) * MINUTE_MS;
  });
  const isLikely = (["regular", "extended"] as const).some((hours) => {
    const session = sessionWith(instrument, hours);
    const [open, close] = [parseClock(session.open), parseClock(session.close)];
    // A candle may be stamped with its open or its close.
    const fits = (clock: readonly number[]) => clock.every((time) => time >= open && time <= close);
    return fits(local) && !fits(moments);
  });
  if (!isLikely) return undefined;
  return `the times name no zone and are read as UTC; by the hours of the session they may be those of ${timezone}: ` +
    `import the file again with timezone=${timezone}, after deleting the instrument`;
}

function timeOfDay(time: number): number {
  return ((time % DAY_MS) + DAY_MS) % DAY_MS;
}

/** Milliseconds since midnight, of a session's `09:30`. */
function parseClock(text: string): number {
  const [hours, minutes] = text.split(":").map(Number);
  return (hours! * 60 + minutes!) * MINUTE_MS;
}

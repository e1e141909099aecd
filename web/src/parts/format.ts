/** Numbers and times as the console shows them. `−` is the minus sign, as wide as a digit. */

const NONE = "–";
const HUGE = 1e9;

const money = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const short = new Intl.NumberFormat("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const huge = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const exact = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 8 });

type Maybe = number | null | undefined;

/** `12,345.67`; from a billion on `1.23B`. */
export function formatMoney(value: Maybe, isSigned = false): string {
  return write(value, isSigned, (size) => size >= HUGE ? writeHuge(size) : money.format(size));
}

/** A fraction as a percentage: 0.01 is `1.00%`. */
export function formatPercent(value: Maybe, isSigned = false): string {
  return write(value, isSigned, (size) => `${size >= 1e4 ? writeHuge(size * 100) : money.format(size * 100)}%`);
}

/** The same with one digit less, for narrow places. */
export function formatShortPercent(value: Maybe): string {
  return write(value, true, (size) => `${size >= 1e4 ? writeHuge(size * 100) : short.format(size * 100)}%`);
}

/** Percents on the axis of a chart: −12.3 is `−12.3%`. */
export function formatAxisPercent(percent: number): string {
  return write(percent, false, (size) => `${size >= 1e6 ? writeHuge(size) : short.format(size)}%`);
}

/** How far something is: 0.123 is `12%`, and 1 alone is `100%`. */
export function formatProgress(fraction: number): string {
  return `${Math.floor(fraction * 100)}%`;
}

/** A fraction on an axis: 0.8 is `80%`. */
export function formatTickPercent(value: number): string {
  return `${formatExact(value * 100)}%`;
}

/** `1.23`. */
export function formatRatio(value: Maybe): string {
  return write(value, false, (size) => size >= HUGE ? writeHuge(size) : money.format(size));
}

/** `12,345`. */
export function formatCount(value: Maybe): string {
  return write(value, false, (size) => whole.format(size));
}

/** Up to eight significant digits, for prices and quantities. */
export function formatExact(value: Maybe): string {
  return write(value, false, (size) => size >= 1e12 ? writeHuge(size) : exact.format(size));
}

/** `2024-01-31`. @param time ISO 8601, or milliseconds since 1970. */
export function formatDate(time: string | number | null): string {
  return time === null ? NONE : new Date(time).toISOString().slice(0, 10);
}

/** `2024-01-31 23:59`; the place where it stands names the zone. @param zone IANA name. */
export function formatTime(time: string | number | null, zone = "UTC"): string {
  if (time === null) return NONE;
  if (zone === "UTC") return new Date(time).toISOString().slice(0, 16).replace("T", " ");
  // Sweden writes as ISO 8601 does.
  return new Date(time).toLocaleString("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
}

/** A text of the service with its instants as times of the console: `2024-12-31 23:00 UTC`. */
export function writeTimes(text: string): string {
  return text.replace(
    /\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)(?:\.\d+)?Z/g,
    (_, date, time, seconds) => `${date} ${time}${seconds === ":00" ? "" : seconds} UTC`,
  );
}

/** The name of a zone in a heading: `New York`. @param zone IANA name. */
export function shortZone(zone: string): string {
  return zone.slice(zone.lastIndexOf("/") + 1).replaceAll("_", " ");
}

/** `1.2 s`, `3 min 20 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${short.format(ms / 1_000)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** A long time in the largest two units that it has: `3 d 4 h`, `25 min`. */
export function formatSpan(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor(minutes / 60) % 24];
  const parts = [[days, "d"], [hours, "h"], [minutes % 60, "min"]] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 min";
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${whole.format(count)} ${unit}`).join(" ");
}

/** The colour of a profit or a loss; none for zero. */
export function toneClass(value: Maybe): string {
  return value === null || value === undefined || value === 0 ? "" : value > 0 ? "text-gain" : "text-loss";
}

/** `take_profit` as `take profit`. */
export function toWords(name: string): string {
  return name.replaceAll("_", " ");
}

function write(value: Maybe, isSigned: boolean, format: (size: number) => string): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  const text = format(Math.abs(value));
  const isZero = !/[1-9]/.test(text);
  if (isZero) return text;
  return `${value < 0 ? "−" : isSigned ? "+" : ""}${text}`;
}

function writeHuge(size: number): string {
  return size >= 1e15 ? size.toExponential(2) : huge.format(size);
}

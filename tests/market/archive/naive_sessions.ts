/** Markets and a slow builder of candles that share no code with the service: clock changes are rules of the calendar, written out. */

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/** A market by its minutes after its own midnight. */
export interface Market {
  readonly name: string;
  readonly exchange: string;
  readonly assetClass: "stock" | "forex" | "crypto";
  /** Minutes that local time is ahead of UTC at a moment. */
  readonly offset: (utc: number) => number;
  /** Local minutes of each day on which there are candles, early and late trade included; none on a holiday. */
  readonly minutes: (localDate: number) => readonly (readonly [from: number, until: number])[];
  readonly open: number;
  readonly close: number;
}

/** The Sunday on or after a date, as 00:00 UTC of it. */
function sundayFrom(year: number, month: number, day: number): number {
  let time = Date.UTC(year, month, day);
  while (new Date(time).getUTCDay() !== 0) time += DAY;
  return time;
}

const changes = new Map<string, readonly [summer: number, winter: number]>();

/** The clock changes of a year: each rule is worked out once. */
function changesOf(utc: number, rule: "US" | "EU"): readonly [summer: number, winter: number] {
  const year = new Date(utc).getUTCFullYear();
  const known = changes.get(`${rule}${year}`);
  if (known !== undefined) return known;
  const found = rule === "US"
    ? [sundayFrom(year, 2, 8) + 7 * 60 * MINUTE, sundayFrom(year, 10, 1) + 6 * 60 * MINUTE] as const
    : [sundayFrom(year, 2, 25) + 60 * MINUTE, sundayFrom(year, 9, 25) + 60 * MINUTE] as const;
  changes.set(`${rule}${year}`, found);
  return found;
}

function newYork(utc: number): number {
  const [summer, winter] = changesOf(utc, "US");
  return utc >= summer && utc < winter ? -240 : -300;
}

function berlin(utc: number): number {
  const [summer, winter] = changesOf(utc, "EU");
  return utc >= summer && utc < winter ? 120 : 60;
}

const iso = (date: number) => new Date(date).toISOString().slice(0, 10);
const isWorkday = (date: number) => ![0, 6].includes(new Date(date).getUTCDay());

const US_SHUT = new Set(
  ("2022-01-17 2022-02-21 2022-04-15 2022-05-30 2022-06-20 2022-07-04 2022-09-05 2022-11-24 2022-12-26 " +
    "2023-01-02 2023-01-16 2023-02-20 2023-04-07 2023-05-29 2023-06-19 2023-07-04 2023-09-04 2023-11-23 2023-12-25 " +
    "2024-01-01 2024-01-15 2024-02-19 2024-03-29 2024-05-27 2024-06-19 2024-07-04 2024-09-02 2024-11-28 2024-12-25")
    .split(" "),
);
const US_HALF = new Set("2022-11-25 2023-07-03 2023-11-24 2024-07-03 2024-11-29 2024-12-24".split(" "));
const XETRA_SHUT = new Set(
  "2022-04-15 2022-04-18 2022-12-26 2023-04-07 2023-04-10 2023-05-01 2023-12-25 2023-12-26 2024-01-01 2024-03-29 2024-04-01 2024-05-01 2024-12-24 2024-12-25 2024-12-26 2024-12-31"
    .split(" "),
);
const TSE_SHUT = new Set("2022-01-03 2023-01-02 2023-01-03 2024-01-01 2024-01-02 2024-01-03 2024-12-31".split(" "));

export const MARKETS: readonly Market[] = [
  {
    name: "GOOG",
    exchange: "NASDAQ",
    assetClass: "stock",
    offset: newYork,
    minutes(date) {
      if (!isWorkday(date) || US_SHUT.has(iso(date))) return [];
      return US_HALF.has(iso(date)) ? [[240, 780], [780, 781]] : [[240, 1200]];
    },
    open: 570,
    close: 960,
  },
  {
    name: "SAP",
    exchange: "XETRA",
    assetClass: "stock",
    offset: berlin,
    minutes(date) {
      if (!isWorkday(date) || XETRA_SHUT.has(iso(date))) return [];
      return iso(date).endsWith("12-30") ? [[540, 840]] : [[480, 1050], [1055, 1056]];
    },
    open: 540,
    close: 1050,
  },
  {
    name: "7203",
    exchange: "TSE",
    assetClass: "stock",
    offset: () => 540,
    minutes(date) {
      if (!isWorkday(date) || TSE_SHUT.has(iso(date))) return [];
      return [[540, 690], [750, iso(date) < "2024-11-05" ? 900 : 930]];
    },
    open: 540,
    close: 930,
  },
  {
    name: "EURUSD",
    exchange: "OTC",
    assetClass: "forex",
    offset: newYork,
    minutes(date) {
      const weekday = new Date(date).getUTCDay();
      if (weekday === 6 || iso(date).endsWith("12-25")) return [];
      if (weekday === 0) return [[1020, 1440]];
      return weekday === 5 ? [[0, 1020]] : [[0, 1440]];
    },
    open: 1020,
    close: 1020,
  },
  {
    name: "BTCUSDT",
    exchange: "BINANCE",
    assetClass: "crypto",
    offset: () => 0,
    minutes: () => [[0, 1440]],
    open: 0,
    close: 1440,
  },
];

/** The UTC opens of a market's minutes, from a date to before another. */
export function minutesOf(market: Market, from: string, until: string): number[] {
  const times: number[] = [];
  for (let date = Date.parse(from); date < Date.parse(until); date += DAY) {
    for (const [start, end] of market.minutes(date)) {
      // No market here trades while its clock changes, so one offset holds for the whole stretch.
      const local = date + start * MINUTE;
      const offset = market.offset(local - market.offset(local) * MINUTE);
      for (let minute = start; minute < end; minute++) times.push(date + (minute - offset) * MINUTE);
    }
  }
  return times;
}

/** The time on the market's own clock, as if it were UTC. */
export function localTime(market: Market, utc: number): number {
  return utc + market.offset(utc) * MINUTE;
}

/** The timestamp of the candle of `timeframe` that holds a minute, or null for none. */
export function naiveLabel(market: Market, timeframe: string, utc: number, local: number): number | null {
  const isOvernight = market.close <= market.open;
  // Seven hours later, a forex day begins at midnight.
  const shifted = isOvernight ? local + (1440 - market.open) * MINUTE : local;
  const date = Math.floor(shifted / DAY) * DAY;
  const minute = (shifted - date) / MINUTE;
  if (!isWorkday(date) && market.assetClass !== "crypto") return null;
  const [open, close] = isOvernight ? [0, 1440] : [market.open, market.close];
  if (minute < open || minute >= close) return null;
  const lengths: Record<string, number> = { "3m": 3, "5m": 5, "1h": 60, "2h": 120, "4h": 240, "6h": 360, "12h": 720 };
  const length = lengths[timeframe];
  if (length !== undefined) return utc - ((minute - open) % length) * MINUTE;
  if (timeframe === "1d") return date;
  if (timeframe === "1w") return date - ((new Date(date).getUTCDay() + 6) % 7) * DAY;
  return Date.UTC(new Date(date).getUTCFullYear(), new Date(date).getUTCMonth(), 1);
}

import { CsvError } from "./csv_error.ts";
import type { CsvColumns } from "./dialect.ts";
import { COLUMN_ROLES, type ColumnRole, VALUE_COLUMNS } from "./terms.ts";

/** The columns of times that stand for one another: a file has one of them. */
const TIME_COLUMNS = ["date", "timestamp", "time", "datetime"] as const;

/** The names of a role's column in lower case, the better ones first. */
const NAMES: Readonly<Record<Exclude<ColumnRole, "time" | "clock">, readonly string[]>> = {
  open: ["open", "<open>", "eröffnung", "eröffnungskurs", "erster"],
  high: ["high", "<high>", "hoch", "tageshoch"],
  low: ["low", "<low>", "tief", "tagestief"],
  close: ["close", "<close>", "close/last", "last", "price", "schluss", "schlusskurs", "zuletzt"],
  volume: ["volume", "<vol>", "<tickvol>", "vol.", "vol", "volumen"],
  ticker: ["ticker", "<ticker>", "symbol"],
};
/** Columns of times that count before those of TIME_COLUMNS: moments as a number, or with a zone in their name. */
const SURE_TIMES = ["window_start", "unix", "unix timestamp", "open_time", "gmt time", "local time", "<date>", "datum"];
const CLOCKS = ["<time>", "time", "zeit", "uhrzeit"];
const CLOCK = /^\d{1,2}:\d\d(:\d\d)?$|^\d{4}(\d\d)?$/;

/** A header's names in lower case, without the notes that a copied page adds to them. */
export function normalize(fields: readonly string[]): string[] {
  return fields.map((field) =>
    field.trim().toLowerCase().replace(/^((?:adj )?close)\s+(?:adjusted )?close price.*$/, "$1")
  );
}

/** True if a line has a name for each price. */
export function isHeader(names: readonly string[]): boolean {
  const isNamed = (role: keyof typeof NAMES) => NAMES[role].some((name) => names.includes(name));
  return isNamed("open") && isNamed("high") && isNamed("low") && isNamed("close");
}

/**
 * Finds the columns by name, in any order and case, and ignores others.
 *
 * @param fields The fields of the header line, without quotes.
 * @param rows Those of the first candles.
 * @throws {CsvError} With the name of a column that is missing or repeated.
 */
export function parseHeader(fields: readonly string[], rows: readonly (readonly string[])[], line: string): CsvColumns {
  const names = normalize(fields);
  const seen = `the header line is ${JSON.stringify(line.slice(0, 120))}`;
  const find = (role: keyof typeof NAMES): number | null => {
    const known = NAMES[role].filter((name) => names.includes(name));
    const name = role === "volume" ? chooseVolume(known, names, rows) : known[0];
    if (name === undefined) return null;
    const index = names.indexOf(name);
    // A file of several instruments has one column of each name for each of them.
    if (names.lastIndexOf(name) !== index) throw new CsvError(`Cannot use two columns ${name}: keep one; ${seen}`);
    return index;
  };
  const values = VALUE_COLUMNS.map((role) => {
    const index = find(role);
    if (index === null && role !== "volume") throw new CsvError(`Cannot find the column ${role}: ${seen}`);
    return index ?? -1;
  });
  const { time, clock } = findTime(names, rows, values, seen);
  return columnsOf(
    { time, clock, values, ticker: find("ticker"), count: names.length },
    fields.map((field) => field.trim()),
  );
}

/** MetaTrader counts ticks where an exchange gives no volume, and CryptoDataDownload names each of the two currencies. */
function chooseVolume(known: readonly string[], names: readonly string[], rows: readonly (readonly string[])[]) {
  const isUsed = (name: string) => rows.some((row) => Number(row[names.indexOf(name)]) !== 0);
  return known.find(isUsed) ?? known[0] ?? names.find((name) => name.startsWith("volume "));
}

function findTime(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  values: readonly number[],
  seen: string,
): { time: number; clock: number | null } {
  const sure = SURE_TIMES.find((name) => names.includes(name));
  const clock = CLOCKS.map((name) => names.indexOf(name)).find((index) =>
    index >= 0 && rows.length > 0 && rows.every((row) => CLOCK.test(row[index] ?? ""))
  );
  const times = TIME_COLUMNS.filter((name) => names.includes(name) && names.indexOf(name) !== clock);
  if (sure !== undefined) return { time: names.indexOf(sure), clock: clock ?? null };
  if (times.length > 1) {
    throw new CsvError(`Cannot choose the column of times, ${times.join(" or ")}: keep one; ${seen}`, {
      parameter: "columns",
    });
  }
  const [named] = times;
  // An unnamed first column is an index; yfinance names it by the row of prices above it.
  const isIndex = names[0] === "" || (names[0] === "price" && !values.includes(0));
  if (named === undefined && !isIndex) {
    throw new CsvError(
      `Cannot find the column of times (${TIME_COLUMNS.join(", ")}, or an unnamed first one): ${seen}`,
      { parameter: "columns" },
    );
  }
  return { time: named === undefined ? 0 : names.indexOf(named), clock: clock ?? null };
}

/** The columns of a file whose roles are known by their places. @param fields The header's names, else null. */
export function placeColumns(roles: readonly (ColumnRole | null)[], fields: readonly string[] | null): CsvColumns {
  const find = (role: ColumnRole) => {
    const index = roles.indexOf(role);
    return index < 0 ? null : index;
  };
  const values = VALUE_COLUMNS.map((role) => find(role) ?? -1);
  const count = roles.length;
  return columnsOf({ time: find("time") ?? 0, clock: find("clock"), values, ticker: find("ticker"), count }, fields);
}

function columnsOf(found: Omit<CsvColumns, "names">, fields: readonly string[] | null): CsvColumns {
  const { time, clock, values, ticker } = found;
  const [open, high, low, close, volume] = values;
  const indexes: Readonly<Record<ColumnRole, number | null | undefined>> = {
    time,
    clock,
    open,
    high,
    low,
    close,
    volume,
    ticker,
  };
  const name = (role: ColumnRole): string | null => {
    const index = indexes[role] ?? -1;
    return index < 0 ? null : fields?.[index] ?? String(index + 1);
  };
  const named = COLUMN_ROLES.map((role) => [role, name(role)] as const);
  const names: Record<ColumnRole, string | null> = {
    ...{ time: null, clock: null, open: null, high: null, low: null, close: null, volume: null, ticker: null },
    ...Object.fromEntries(named),
  };
  return { ...found, names };
}

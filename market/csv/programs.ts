import type { ColumnRole, DateOrder } from "./terms.ts";

/** The beginning of a file, cut into lines and fields. */
export interface FileHead {
  /** The lines before the header or the first candle. */
  readonly preamble: readonly string[];
  /** The header's names in lower case; null for a file without one. */
  readonly names: readonly string[] | null;
  /** The first field of the line after the header. */
  readonly second: string;
  /** The fields of the first candle. */
  readonly first: readonly string[];
}

/** A program that writes files of candles. */
interface Program {
  readonly name: string;
  readonly fits: (head: FileHead) => boolean;
  /** The columns of its files without a header. */
  readonly columns?: readonly (ColumnRole | null)[];
  /** The order of its dates, where the numbers may not say it. */
  readonly dateOrder?: DateOrder;
}

function has(...wanted: readonly string[]): Program["fits"] {
  return ({ names }) => wanted.every((name) => names?.includes(name) === true);
}

/** The programs whose files are recognised, the more particular ones first; "plain" is any other. */
const PROGRAMS = [
  { name: "yfinance", fits: (head) => head.names?.[0] === "price" && head.second.toLowerCase() === "ticker" },
  { name: "yfinance", fits: has("dividends", "stock splits") },
  { name: "yahoo", fits: has("adj close") },
  { name: "stooq", fits: has("<ticker>", "<per>", "<date>") },
  { name: "metatrader5", fits: has("<date>", "<open>"), dateOrder: "ymd" },
  {
    name: "metatrader4",
    fits: ({ names, first }) => names === null && first.length === 7 && /^\d{4}\.\d\d\.\d\d$/.test(first[0] ?? ""),
    columns: ["time", "clock", "open", "high", "low", "close", "volume"],
    dateOrder: "ymd",
  },
  { name: "dukascopy", fits: has("gmt time"), dateOrder: "dmy" },
  { name: "dukascopy", fits: has("local time"), dateOrder: "dmy" },
  {
    name: "cryptodatadownload",
    fits: ({ preamble }) => preamble.some((line) => /cryptodatadownload/i.test(line)),
  },
  { name: "polygon", fits: has("window_start") },
  { name: "investing", fits: has("price", "change %") },
  // Of the United States, in English alone.
  { name: "nasdaq", fits: has("close/last"), dateOrder: "mdy" },
  { name: "binance", fits: has("open_time", "close_time") },
  {
    name: "binance",
    fits: ({ names, first }) => names === null && first.length === 12 && /^\d{13,16}$/.test(first[0] ?? ""),
    columns: ["time", "open", "high", "low", "close", "volume", null, null, null, null, null, null],
  },
  { name: "tradingview", fits: has("time", "open", "high", "low", "close") },
  { name: "plain", fits: () => true },
] as const satisfies readonly Program[];

export type ProgramName = typeof PROGRAMS[number]["name"];
/** The names of programs in query parameters and answers. */
export const PROGRAM_NAMES: readonly ProgramName[] = [...new Set(PROGRAMS.map(({ name }) => name))];

/** The program that wrote a file. @param wanted A user's word, which its file must fit. */
export function findProgram(head: FileHead, wanted?: ProgramName): Program & { readonly name: ProgramName } | null {
  const programs: readonly (Program & { readonly name: ProgramName })[] = PROGRAMS;
  return programs.find(({ name, fits }) => (wanted === undefined || name === wanted) && fits(head)) ?? null;
}

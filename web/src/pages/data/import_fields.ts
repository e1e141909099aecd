/** The labels and choices of the form that imports a file, and the service's messages in their words. */
import { TIMEFRAMES } from "../../parts/candle_timeframes.ts";
import type { Option } from "../../parts/field.tsx";
import type { ImportRequest } from "./import_route.ts";

type ImportField = Exclude<keyof ImportRequest, "file">;

const RECOGNISED = { value: "", label: "as recognised" };

/** By the names of the import's query parameters. */
export const IMPORT_FIELDS = {
  symbol: { label: "Symbol" },
  exchange: { label: "Exchange" },
  assetClass: {
    label: "Class",
    options: [
      { value: "", label: "as held" },
      { value: "crypto", label: "crypto" },
      { value: "stock", label: "stock" },
      { value: "forex", label: "forex" },
    ],
  },
  timeframe: { label: "Timeframe", options: [RECOGNISED, ...TIMEFRAMES.map((value) => ({ value, label: value }))] },
  dateOrder: {
    label: "Dates",
    options: [
      RECOGNISED,
      { value: "dmy", label: "day, month, year" },
      { value: "mdy", label: "month, day, year" },
      { value: "ymd", label: "year, month, day" },
    ],
  },
  decimalMark: {
    label: "Decimals",
    options: [RECOGNISED, { value: "point", label: "1234.5" }, { value: "comma", label: "1234,5" }],
  },
  timezone: { label: "Time zone" },
  currency: { label: "Currency" },
  dialect: {
    label: "Program",
    options: [
      RECOGNISED,
      { value: "binance", label: "Binance" },
      { value: "cryptodatadownload", label: "CryptoDataDownload" },
      { value: "dukascopy", label: "Dukascopy" },
      { value: "investing", label: "Investing.com" },
      { value: "metatrader4", label: "MetaTrader 4" },
      { value: "metatrader5", label: "MetaTrader 5" },
      { value: "nasdaq", label: "Nasdaq.com" },
      { value: "polygon", label: "Polygon" },
      { value: "stooq", label: "Stooq" },
      { value: "tradingview", label: "TradingView" },
      { value: "yahoo", label: "Yahoo" },
      { value: "yfinance", label: "yfinance" },
      { value: "plain", label: "another one" },
    ],
  },
  columns: { label: "Columns" },
  timeUnit: {
    label: "Time unit",
    options: [
      RECOGNISED,
      { value: "s", label: "seconds" },
      { value: "ms", label: "milliseconds" },
      { value: "us", label: "microseconds" },
      { value: "ns", label: "nanoseconds" },
    ],
  },
} as const satisfies Record<ImportField, { readonly label: string; readonly options?: readonly Option[] }>;

// `send dateOrder=dmy`; a value ends before the punctuation of its sentence.
const ASSIGNED = new RegExp(String.raw`\b(send )?(${Object.keys(IMPORT_FIELDS).join("|")})=([^\s;]*[^\s;:,.])`, "g");

export function isImportField(name: string): name is ImportField {
  return Object.hasOwn(IMPORT_FIELDS, name);
}

/** A message that tells a client which parameters to send, such as `timezone=Asia/Tokyo`, for a reader of the form. */
export function inFormWords(message: string): string {
  return message.replace(ASSIGNED, (text, send: string | undefined, name: string, value: string) => {
    if (!isImportField(name)) return text;
    const field: { readonly label: string; readonly options?: readonly Option[] } = IMPORT_FIELDS[name];
    const choice = field.options?.find((each) => each.value === value);
    return `${send === undefined ? "" : "set "}${field.label} “${choice?.label ?? value}”`;
  });
}

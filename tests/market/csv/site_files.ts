/** A small file of each kind that sites and spreadsheets write, with invented numbers in its format. */
import type { Traded } from "../../../market/calendar/exchange_sessions.ts";
import type { Timeframe } from "../../../market/timeframes.ts";

/** A file and the reading that it must have. */
export interface SampleFile {
  readonly title: string;
  readonly timeframe: Timeframe;
  readonly instrument: Traded;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The opens of its candles, oldest first. */
  readonly times: readonly string[];
  /** Open, high, low, close and volume of the oldest candle. */
  readonly oldest: readonly number[];
  readonly convention: string;
  /** Of the answer's dialect, the parts that differ from a plain file of ISO dates. */
  readonly dialect: Readonly<Record<string, unknown>>;
}

export const STOCK: Traded = { assetClass: "stock", exchange: "NASDAQ" };
export const FOREX: Traded = { assetClass: "forex", exchange: "OTC" };
export const CRYPTO: Traded = { assetClass: "crypto", exchange: "BINANCE" };

const UTC_DATES = "stamped at 00:00 UTC of the date";
export const UTC_CLOCK = "stamped by the clock of UTC";
const AT_OPEN = "stamped at the open of the session (America/New_York)";
export const DAYS = ["2024-02-22T00:00Z", "2024-02-23T00:00Z"];
export const HOURS = ["2024-01-02T00:00Z", "2024-01-02T01:00Z"];
export const APPLE = [183.48, 184.96, 182.46, 184.37, 52292200];
export const EURO = [1.10427, 1.10481, 1.10402, 1.10437, 1234];

/** The bytes of a text; lines end as Windows ends them where the program is one of Windows. */
export function text(lines: readonly string[], end = "\n"): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(lines.map((line) => line + end).join(""));
}

const YAHOO = [
  "Date,Open,High,Low,Close,Adj Close,Volume",
  "2024-02-22,183.479996,184.960007,182.460007,184.369995,183.639999,52292200",
  "2024-02-23,185.009995,185.039993,182.229996,182.520004,181.797333,45119700",
];
/** Of sites and spreadsheets. */
export const SITE_FILES: readonly SampleFile[] = [
  {
    title: "Yahoo, the classic download",
    ...{ timeframe: "1d", instrument: STOCK, bytes: text(YAHOO), times: DAYS, convention: UTC_DATES },
    oldest: [183.479996, 184.960007, 182.460007, 184.369995, 52292200],
    dialect: { name: "yahoo" },
  },
  {
    title: "Yahoo, copied from the page",
    ...{ timeframe: "1d", instrument: STOCK, times: DAYS, oldest: APPLE, convention: UTC_DATES },
    bytes: text([
      "Date\tOpen\tHigh\tLow\tClose Close price adjusted for splits.\tAdj Close Adjusted close price adjusted for splits and dividend distributions.\tVolume",
      "Feb 23, 2024\t185.01\t185.04\t182.23\t182.52\t181.80\t45,119,700",
      "Feb 22, 2024\t183.48\t184.96\t182.46\t184.37\t183.64\t52,292,200",
    ]),
    dialect: { name: "yahoo", delimiter: "\t", date_order: null },
  },
  {
    title: "yfinance, a ticker's history",
    ...{ timeframe: "1d", instrument: STOCK, times: DAYS, oldest: APPLE },
    bytes: text([
      "Date,Open,High,Low,Close,Volume,Dividends,Stock Splits",
      "2024-02-22 00:00:00-05:00,183.48,184.96,182.46,184.37,52292200,0.0,0.0",
      "2024-02-23 00:00:00-05:00,185.01,185.04,182.23,182.52,45119700,0.0,0.0",
    ]),
    convention: "stamped at 00:00 of the date where it was written",
    dialect: { name: "yfinance" },
  },
  {
    title: "yfinance, with two lines below the header",
    ...{ timeframe: "1d", instrument: STOCK, times: DAYS, oldest: APPLE, convention: UTC_DATES },
    bytes: text([
      "Price,Close,High,Low,Open,Volume",
      "Ticker,AAPL,AAPL,AAPL,AAPL,AAPL",
      "Date,,,,,",
      "2024-02-22,184.37,184.96,182.46,183.48,52292200",
      "2024-02-23,182.52,185.04,182.23,185.01,45119700",
    ]),
    dialect: { name: "yfinance" },
  },
  {
    title: "Stooq, days without a volume",
    ...{ timeframe: "1d", instrument: FOREX, times: DAYS, convention: UTC_DATES },
    bytes: text([
      "Date,Open,High,Low,Close",
      "2024-02-22,1.0818,1.0888,1.0803,1.0823",
      "2024-02-23,1.0823,1.084,1.0812,1.0821",
    ], "\r\n"),
    oldest: [1.0818, 1.0888, 1.0803, 1.0823, 0],
    dialect: { name: "plain" },
  },
  {
    title: "Stooq, ASCII of its database",
    ...{ timeframe: "1h", instrument: CRYPTO, times: HOURS, oldest: EURO, convention: UTC_CLOCK },
    bytes: text([
      "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>",
      "EURUSD,60,20240102,000000,1.10427,1.10481,1.10402,1.10437,1234,0",
      "EURUSD,60,20240102,010000,1.10437,1.105,1.1042,1.1049,980,0",
    ], "\r\n"),
    dialect: { name: "stooq" },
  },
  {
    title: "TradingView, ISO times at the half hours of a session",
    ...{ timeframe: "1h", instrument: STOCK, oldest: APPLE },
    bytes: text([
      "time,open,high,low,close,Volume",
      "2024-03-08T15:30:00-05:00,183.48,184.96,182.46,184.37,52292200",
      "2024-03-11T09:30:00-04:00,185.01,185.04,182.23,182.52,45119700",
    ]),
    times: ["2024-03-08T20:30Z", "2024-03-11T13:30Z"],
    convention: "stamped from the open of the session (America/New_York)",
    dialect: { name: "tradingview" },
  },
  {
    title: "TradingView, unix times, days at the session's open",
    ...{ timeframe: "1d", instrument: STOCK, oldest: APPLE, convention: AT_OPEN },
    // 14:30 UTC before New York's clock changed, 13:30 after.
    bytes: text([
      "time,open,high,low,close,Volume",
      "1709908200,183.48,184.96,182.46,184.37,52292200",
      "1710163800,185.01,185.04,182.23,182.52,45119700",
    ]),
    times: ["2024-03-08T00:00Z", "2024-03-11T00:00Z"],
    dialect: { name: "tradingview", date_order: null, time_unit: "s" },
  },
  {
    title: "TradingView, forex without a volume, days at 17:00 of New York",
    ...{ timeframe: "1d", instrument: FOREX, convention: AT_OPEN },
    bytes: text([
      "time,open,high,low,close",
      "1709848800,1.0948,1.09809,1.09193,1.09388",
      "1710104400,1.09388,1.09465,1.09166,1.09261",
    ]),
    times: ["2024-03-08T00:00Z", "2024-03-11T00:00Z"],
    oldest: [1.0948, 1.09809, 1.09193, 1.09388, 0],
    dialect: { name: "tradingview", date_order: null, time_unit: "s" },
  },
  {
    title: "TradingView, forex in four hours from 17:00 of New York",
    ...{ timeframe: "4h", instrument: FOREX },
    bytes: text([
      "time,open,high,low,close",
      "1709848800,1.0948,1.09809,1.09193,1.09388",
      "1709863200,1.09388,1.09465,1.09166,1.09261",
    ]),
    times: ["2024-03-07T22:00Z", "2024-03-08T02:00Z"],
    oldest: [1.0948, 1.09809, 1.09193, 1.09388, 0],
    convention: "stamped from the open of the session (America/New_York)",
    dialect: { name: "tradingview", date_order: null, time_unit: "s" },
  },
  {
    title: "Investing.com, quoted, volumes in millions",
    ...{ timeframe: "1d", instrument: STOCK, times: DAYS, convention: UTC_DATES },
    bytes: text([
      '\uFEFF"Date","Price","Open","High","Low","Vol.","Change %"',
      '"02/23/2024","1,182.52","1,185.01","1,185.04","1,182.23","45.12M","-1.00%"',
      '"02/22/2024","1,184.37","1,183.48","1,184.96","1,182.46","52.29M","1.12%"',
    ]),
    oldest: [1183.48, 1184.96, 1182.46, 1184.37, 52290000],
    dialect: { name: "investing", date_order: "mdy" },
  },
  {
    title: "Nasdaq.com, prices in dollars, month first",
    ...{ timeframe: "1d", instrument: STOCK, convention: UTC_DATES, oldest: APPLE },
    bytes: text([
      "Date,Close/Last,Volume,Open,High,Low",
      "02/02/2024,$182.52,45119700,$185.01,$185.04,$182.23",
      "02/01/2024,$184.37,52292200,$183.48,$184.96,$182.46",
    ]),
    times: ["2024-02-01T00:00Z", "2024-02-02T00:00Z"],
    dialect: { name: "nasdaq", date_order: "mdy" },
  },
  {
    title: "German Excel, semicolons and decimal commas",
    ...{ timeframe: "1d", instrument: STOCK, times: DAYS, convention: UTC_DATES },
    // Excel writes the one-byte characters of Windows: an umlaut is no UTF-8.
    bytes: Uint8Array.from(
      "Datum;Eröffnung;Hoch;Tief;Schluss;Volumen\r\n22.02.2024;1.183,48;1.184,96;1.182,46;1.184,37;52.292.200\r\n23.02.2024;1.185,01;1.185,04;1.182,23;1.182,52;45.119.700\r\n",
      (letter) => letter.charCodeAt(0),
    ),
    oldest: [1183.48, 1184.96, 1182.46, 1184.37, 52292200],
    dialect: { name: "plain", delimiter: ";", date_order: "dmy", decimal_mark: "comma" },
  },
];

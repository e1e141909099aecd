/** A small file of each kind that exchanges, brokers and their programs write, with invented numbers in its format; then packed ones. */
import { gzipSync } from "node:zlib";
import { strToU8, zipSync } from "fflate";
import { APPLE, CRYPTO, DAYS, EURO, FOREX, HOURS, type SampleFile, STOCK, text, UTC_CLOCK } from "./site_files.ts";

const BITCOIN = [42283.58, 42554.57, 42261.02, 42475.23, 1271.68108];

function utf16(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  const units = Uint16Array.from(`\uFEFF${lines.join("\r\n")}\r\n`, (letter) => letter.charCodeAt(0));
  return new Uint8Array(units.buffer);
}

const METATRADER5 = [
  "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>",
  "2024.01.02\t00:00:00\t1.10427\t1.10481\t1.10402\t1.10437\t1234\t0\t2",
  "2024.01.02\t01:00:00\t1.10437\t1.10500\t1.10420\t1.10490\t980\t0\t2",
];
const BINANCE_ROWS = (unit: string) => [
  `1704067200000${unit},42283.58000000,42554.57000000,42261.02000000,42475.23000000,1271.68108000,1704070799999${unit},53957248.97378900,47134,682.57581000,28957416.81964500,0`,
  `1704070800000${unit},42475.23000000,42775.00000000,42431.65000000,42613.56000000,1196.37856000,1704074399999${unit},50984632.19381100,50396,664.92123000,28340101.10917700,0`,
];
const NEW_YEAR = ["2024-01-01T00:00Z", "2024-01-01T01:00Z"];
const MT5_COLUMNS = {
  ...{ time: "<DATE>", clock: "<TIME>", open: "<OPEN>", high: "<HIGH>", low: "<LOW>", close: "<CLOSE>" },
  ...{ volume: "<TICKVOL>", ticker: null },
};

/** Of exchanges, brokers and their programs, and packed ones. */
export const PROGRAM_FILES: readonly SampleFile[] = [
  {
    title: "Binance Vision, without a header, milliseconds",
    ...{ timeframe: "1h", instrument: CRYPTO, times: NEW_YEAR, oldest: BITCOIN, convention: UTC_CLOCK },
    bytes: text(BINANCE_ROWS("")),
    dialect: { name: "binance", date_order: null, time_unit: "ms" },
  },
  {
    title: "Binance Vision, with open_time",
    ...{ timeframe: "1h", instrument: CRYPTO, times: NEW_YEAR, oldest: BITCOIN, convention: UTC_CLOCK },
    bytes: text([
      "open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore",
      ...BINANCE_ROWS(""),
    ]),
    dialect: { name: "binance", date_order: null, time_unit: "ms" },
  },
  {
    title: "Binance Vision, microseconds",
    ...{ timeframe: "1h", instrument: CRYPTO, times: NEW_YEAR, oldest: BITCOIN, convention: UTC_CLOCK },
    bytes: text(BINANCE_ROWS("000")),
    dialect: { name: "binance", date_order: null, time_unit: "us" },
  },
  {
    title: "MetaTrader 4, without a header",
    ...{ timeframe: "1h", instrument: FOREX, times: HOURS, oldest: EURO, convention: UTC_CLOCK },
    bytes: text([
      "2024.01.02,00:00,1.10427,1.10481,1.10402,1.10437,1234",
      "2024.01.02,01:00,1.10437,1.10500,1.10420,1.10490,980",
    ], "\r\n"),
    dialect: { name: "metatrader4" },
  },
  {
    title: "MetaTrader 5",
    ...{ timeframe: "1h", instrument: FOREX, times: HOURS, oldest: EURO, convention: UTC_CLOCK },
    bytes: text(METATRADER5, "\r\n"),
    dialect: { name: "metatrader5", delimiter: "\t", columns: MT5_COLUMNS },
  },
  {
    title: "MetaTrader 5, UTF-16",
    ...{ timeframe: "1h", instrument: FOREX, times: HOURS, oldest: EURO, convention: UTC_CLOCK },
    bytes: utf16(METATRADER5),
    dialect: { name: "metatrader5", delimiter: "\t", encoding: "utf-16le" },
  },
  {
    title: "Dukascopy, day first",
    ...{ timeframe: "1h", instrument: FOREX, times: HOURS, oldest: EURO, convention: UTC_CLOCK },
    bytes: text([
      "Gmt time,Open,High,Low,Close,Volume",
      "02.01.2024 00:00:00.000,1.10427,1.10481,1.10402,1.10437,1234",
      "02.01.2024 01:00:00.000,1.10437,1.105,1.1042,1.1049,980.5",
    ]),
    dialect: { name: "dukascopy", date_order: "dmy" },
  },
  {
    title: "CryptoDataDownload, a comment line first, the newest candle first",
    ...{ timeframe: "1h", instrument: CRYPTO, times: HOURS, oldest: BITCOIN, convention: UTC_CLOCK },
    bytes: text([
      "https://www.CryptoDataDownload.com",
      "Unix,Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USDT,tradecount",
      "1704157200000,2024-01-02 01:00:00,BTCUSDT,42475.23,42775.00,42431.65,42613.56,1196.37856,50984632.19,50396",
      "1704153600000,2024-01-02 00:00:00,BTCUSDT,42283.58,42554.57,42261.02,42475.23,1271.68108,53957248.97,47134",
    ]),
    dialect: { name: "cryptodatadownload", date_order: null, time_unit: "ms" },
  },
  {
    title: "Polygon, a flat file, nanoseconds",
    ...{ timeframe: "1d", instrument: STOCK, times: DAYS, oldest: APPLE },
    bytes: text([
      "ticker,volume,open,close,high,low,window_start,transactions",
      "AAPL,52292200,183.48,184.37,184.96,182.46,1708578000000000000,626431",
      "AAPL,45119700,185.01,182.52,185.04,182.23,1708664400000000000,518021",
    ]),
    convention: "stamped at 00:00 of America/New_York",
    dialect: { name: "polygon", date_order: null, time_unit: "ns" },
  },
  {
    title: "gzip",
    ...{ timeframe: "1h", instrument: FOREX, times: HOURS, oldest: EURO, convention: UTC_CLOCK },
    // A file in two parts, as programs write it that compress in blocks.
    bytes: new Uint8Array([
      ...gzipSync(utf16(METATRADER5).subarray(0, 80)),
      ...gzipSync(utf16(METATRADER5).subarray(80)),
    ]),
    dialect: { name: "metatrader5", delimiter: "\t", encoding: "utf-16le", packing: "gzip" },
  },
  {
    title: "zip",
    ...{ timeframe: "1h", instrument: CRYPTO, times: NEW_YEAR, oldest: BITCOIN, convention: UTC_CLOCK },
    bytes: new Uint8Array(zipSync({
      "__MACOSX/._BTCUSDT-1h-2024-01.csv": strToU8("of the desktop"),
      "BTCUSDT-1h-2024-01.csv": strToU8(BINANCE_ROWS("").join("\n")),
    })),
    dialect: { name: "binance", packing: "zip", date_order: null, time_unit: "ms" },
  },
];

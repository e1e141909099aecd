import {
  ACTION,
  FLAG_REDUCE_ONLY,
  FRAME,
  FRAME_BYTES,
  MESSAGE_BYTES_MAX,
  ORDER,
  ORDER_BYTES,
  ORDERS_MAX,
  TAG_BYTES_MAX,
  TRADE,
  TRADE_BYTES,
  TRADES_MAX,
  WARMUP_MAX,
  WORKING_MAX,
} from "../wasm/abi.ts";
import { ORDER_TYPES, SIZES_BY } from "../../../engine/strategy.ts";
import { describeIndicators } from "./indicators.ts";

/** The name of a script in its errors. */
export const SCRIPT_FILE = "strategy.ts";
export const SOURCE_BYTES_MAX = 256 * 1024;
/** Columns that one strategy may ask for. */
export const COLUMNS_MAX = 256;
export const PLOTS_MAX = 16;
export const PLOT_NAME_CHARS_MAX = 64;
/** Of all plots of a run together, a value a candle each: 64 MiB. A year of minutes has room for 14 plots. */
export const PLOT_VALUES_MAX = 2 ** 23;
/** The name of the times beside plots, which no plot may have. */
export const PLOT_TIME = "timestamp";
export const LOG_LINES_MAX = 1000;

/** Address of the word in which the realm says that the script has read a list of orders or trades. */
export const LISTS_FLAG = FRAME_BYTES;

/** Address of the word in which the realm counts the lines that the script has logged. */
export const LOGGED_WORD = LISTS_FLAG + 4;

/** The numbers that the realm and the host share: the tables of a module's ABI, and the limits of scripts. */
export const LAYOUT = {
  file: SCRIPT_FILE,
  frame: FRAME,
  listsFlag: LISTS_FLAG,
  loggedWord: LOGGED_WORD,
  order: ORDER,
  orderBytes: ORDER_BYTES,
  ordersMax: ORDERS_MAX.limit,
  action: ACTION,
  reduceOnly: FLAG_REDUCE_ONLY,
  orderTypes: ORDER_TYPES,
  sizesBy: SIZES_BY,
  trade: TRADE,
  tradeBytes: TRADE_BYTES,
  tradesMax: TRADES_MAX.limit,
  workingMax: WORKING_MAX.limit,
  warmupMax: WARMUP_MAX,
  tagBytesMax: TAG_BYTES_MAX,
  columnsMax: COLUMNS_MAX,
  plotsMax: PLOTS_MAX,
  plotNameCharsMax: PLOT_NAME_CHARS_MAX,
  plotValuesMax: PLOT_VALUES_MAX,
  plotTime: PLOT_TIME,
  logLinesMax: LOG_LINES_MAX,
  lineCharsMax: MESSAGE_BYTES_MAX,
  indicators: describeIndicators(),
} as const;

export type Layout = typeof LAYOUT;

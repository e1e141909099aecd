import { EXIT_REASONS } from "../../../engine/trade_columns.ts";
import {
  ACTION,
  DETAIL,
  DETAIL_BYTES,
  FILL,
  FILL_BYTES,
  FLAG_REDUCE_ONLY,
  KEEP_STOP_LOSS,
  KEEP_TAKE_PROFIT,
  ORDER,
  ORDER_BYTES,
  ORDERS_MAX,
  TAG_BYTES_MAX,
  TRADE,
  TRADE_BYTES,
  TRADES_MAX,
  WARMUP_MAX,
  WORKING_MAX,
} from "./abi.ts";
import { CANDLES_AHEAD_MAX, ORDER_TYPES, SIZES_BY } from "../../../engine/strategy.ts";
import { PERIODS, WEIGHT_MAX } from "../../../engine/portfolio/portfolio.ts";
import { PERIOD_MAX } from "../../../engine/indicators/period.ts";
import { LINE_CHARS_MAX, LOG_LINES_MAX, STACK_CHARS_MAX } from "./log_bounds.ts";
import { describeIndicators } from "./indicators.ts";

/** Of a script's source; JavaScript counts as TypeScript. */
export type ScriptLanguage = "typescript" | "python";

/** The name of a script in its errors. */
export const SCRIPT_FILE = "strategy.ts";
export const SOURCE_BYTES_MAX = 256 * 1024;
/** Columns that one strategy may ask for. */
export const COLUMNS_MAX = 256;
/** The timeframes of longer candles that a script makes of its own, in milliseconds. */
export const RESAMPLED_MS: Readonly<Record<string, number>> = {
  "5m": 300_000,
  "15m": 900_000,
  "30m": 1_800_000,
  "1h": 3_600_000,
  "2h": 7_200_000,
  "4h": 14_400_000,
  "6h": 21_600_000,
  "12h": 43_200_000,
  "1d": 86_400_000,
  "1w": 604_800_000,
};
/** Places of a script that are kept at which it reads candles that have not closed. */
export const PEEKS_MAX = 8;
/** Among the bits of what a script reads, above all of theirs: its reads are looked at. */
export const PEEKS_BIT = 1 << 30;
/** JSON of the parameters that a script declares. */
export const SCHEMA_CHARS_MAX = 64 * 1024;
export const PLOTS_MAX = 16;
export const PLOT_NAME_CHARS_MAX = 64;
/** Of all plots of a run together, a value a candle each: 64 MiB. A year of minutes has room for 14 plots. */
export const PLOT_VALUES_MAX = 2 ** 23;
/** The name of the times beside plots, which no plot may have. */
export const PLOT_TIME = "timestamp";
/** Characters of the JSON of a script's requests, and of its error: ours are far shorter. */
export const REQUESTS_CHARS_MAX = 2 ** 18;
export const FAILURE_CHARS_MAX = 2 ** 15;

/** The columns of candles, in the order of their numbers; indicators have the numbers behind them. */
export const CANDLE_COLUMNS = ["time", "open", "high", "low", "close", "volume"] as const;

/** Byte offsets in the state at the beginning of the memory that a realm and its host share. */
export const STATE = {
  /** From the realm: orders of the last decision, or -1 after an error. */
  rows: 0,
  /** From the realm: 1 once the script has read a list or a column that it was not given. */
  wanted: 4,
  /** From the realm: lines that the script has logged. */
  logged: 28,
  /** Working orders, those of the engine included. */
  workingOrders: 8,
  /** Rows of the lists; the revision of one grows when it changes. */
  tradesCount: 12,
  tradesRevision: 16,
  workingCount: 20,
  workingRevision: 24,
  cash: 32,
  quantity: 40,
  entryPrice: 48,
  initialBalance: 56,
  /** The candle at whose close the details of trades are. */
  tradesIndex: 64,
  /** From the realm: 1 once the script has read where its range begins. */
  firstIndexRead: 68,
} as const;
const STATE_BYTES = 72;

/** Fills that a realm takes at a time. */
export const FILLS_AT_ONCE = 256;
/** Closed trades that a script sees, the newest. */
const CLOSED_TRADES_MAX = 256;

/** Addresses of the tables behind the state. */
export const ORDERS_AT = STATE_BYTES;
export const RESULTS_AT = ORDERS_AT + ORDERS_MAX.limit * ORDER_BYTES;
export const TRADES_AT = RESULTS_AT + ORDERS_MAX.limit * 4;
export const WORKING_AT = TRADES_AT + TRADES_MAX.limit * TRADE_BYTES;
/** The working orders by the script's names. */
export const NAMES_AT = WORKING_AT + WORKING_MAX.limit * 4;
/** The tags of a decision. */
export const TAGS_AT = NAMES_AT + WORKING_MAX.limit * 4;
/** The details of the listed trades, and fills. */
export const DETAILS_AT = TAGS_AT + ORDERS_MAX.limit * TAG_BYTES_MAX;
export const FILLS_AT = DETAILS_AT + TRADES_MAX.limit * DETAIL_BYTES;
/** The markets of fills, where a strategy decides on many. */
export const FILL_MARKETS_AT = FILLS_AT + FILLS_AT_ONCE * FILL_BYTES;
export const MEMORY_BYTES = FILL_MARKETS_AT + FILLS_AT_ONCE * 4;

/** The closes that the account is marked at, the columns of candles and those of indicators. */
export const WINDOWS_MAX = 1 + CANDLE_COLUMNS.length + COLUMNS_MAX;
/** Rows of a column's window: a power of two. */
export const WINDOW_ROWS = CANDLES_AHEAD_MAX;

/** The options of an order that are doubles in its row. */
const DOUBLE_OPTIONS = [
  "limitPrice",
  "stopPrice",
  "stopLoss",
  "takeProfit",
  "stopLossFraction",
  "takeProfitFraction",
  "trailDistance",
  "trailFraction",
  "size",
] as const;

/** Places of the doubles that a realm with a strategy for many markets shares with its host. */
export const PORTFOLIO = {
  cash: 0,
  equity: 1,
  initialBalance: 2,
  /** From the realm: 1 once the decision has set targets. */
  hasTarget: 3,
  minTrade: 4,
  /** From the realm: how many markets have orders of this decision. Behind the targets there are their rows. */
  touched: 5,
  /** Where the markets begin, and how many doubles each has: its newest candle, ... Behind them there is a target for each. */
  head: 8,
  market: 6,
  i: 0,
  hasClosed: 1,
  isMember: 2,
  quantity: 3,
  entryPrice: 4,
  weight: 5,
  weightMax: WEIGHT_MAX,
  periods: PERIODS,
} as const;

/** The numbers that the realm and the host share: the tables of a module's ABI, and the limits of scripts. */
export const LAYOUT = {
  file: SCRIPT_FILE,
  candleColumns: CANDLE_COLUMNS,
  state: STATE,
  ordersAt: ORDERS_AT,
  tradesAt: TRADES_AT,
  workingAt: NAMES_AT,
  tagsAt: TAGS_AT,
  detailsAt: DETAILS_AT,
  fillsAt: FILLS_AT,
  fillMarketsAt: FILL_MARKETS_AT,
  detail: DETAIL,
  detailBytes: DETAIL_BYTES,
  fill: FILL,
  fillBytes: FILL_BYTES,
  fillsAtOnce: FILLS_AT_ONCE,
  closedTradesMax: CLOSED_TRADES_MAX,
  exitReasons: EXIT_REASONS,
  keepStopLoss: KEEP_STOP_LOSS,
  keepTakeProfit: KEEP_TAKE_PROFIT,
  memoryBytes: MEMORY_BYTES,
  windowsMax: WINDOWS_MAX,
  windowRows: WINDOW_ROWS,
  order: ORDER,
  doubleOptions: DOUBLE_OPTIONS,
  orderBytes: ORDER_BYTES,
  ordersMax: ORDERS_MAX.limit,
  action: ACTION,
  reduceOnly: FLAG_REDUCE_ONLY,
  orderTypes: ORDER_TYPES,
  sizesBy: SIZES_BY,
  trade: TRADE,
  tradeBytes: TRADE_BYTES,
  tradesMax: TRADES_MAX.limit,
  warmupMax: WARMUP_MAX,
  tagBytesMax: TAG_BYTES_MAX,
  columnsMax: COLUMNS_MAX,
  timeframes: Object.keys(RESAMPLED_MS),
  peeksMax: PEEKS_MAX,
  peeksBit: PEEKS_BIT,
  plotsMax: PLOTS_MAX,
  schemaCharsMax: SCHEMA_CHARS_MAX,
  plotNameCharsMax: PLOT_NAME_CHARS_MAX,
  plotValuesMax: PLOT_VALUES_MAX,
  plotTime: PLOT_TIME,
  logLinesMax: LOG_LINES_MAX,
  lineCharsMax: LINE_CHARS_MAX,
  stackCharsMax: STACK_CHARS_MAX,
  periodMax: PERIOD_MAX,
  portfolio: PORTFOLIO,
  indicators: describeIndicators(),
} as const;

export type Layout = typeof LAYOUT;

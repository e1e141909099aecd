/** The numbers of strategies/ABI.md: offsets, enumerations and limits that a module and its host share. */

export const ABI_VERSION = 1;

/** Byte offsets in the frame, whose address is the argument of `init` and `on_candle`. */
export const FRAME = {
  abiVersion: 0,
  size: 4,
  parametersPointer: 8,
  parametersBytes: 12,
  warmup: 16,
  ordersMax: 20,
  tradesMax: 24,
  workingMax: 28,
  /** Six pointers: time, open, high, low, close, volume. */
  columns: 32,
  ordersPointer: 56,
  resultsPointer: 60,
  tradesPointer: 64,
  workingPointer: 68,
  count: 72,
  resultsCount: 76,
  workingOrders: 80,
  openTrades: 84,
  tradesCount: 88,
  workingCount: 92,
  cash: 96,
  equity: 104,
  quantity: 112,
  entryPrice: 120,
  initialBalance: 128,
  timeframeMs: 136,
  firstIndex: 144,
  columnsCapacity: 148,
  inputsPointer: 152,
  inputsCount: 156,
  fillsMax: 160,
  hasDetails: 164,
  detailsPointer: 168,
  fillsPointer: 172,
  fillsCount: 176,
} as const;
export const FRAME_BYTES = 184;

/** Byte offsets in a row of the table of inputs. */
export const INPUT = {
  /** Six pointers: time, open, high, low, close, volume. */
  columns: 0,
  count: 24,
  columnsCapacity: 28,
} as const;
export const INPUT_BYTES = 32;

/** Byte offsets in the block that `on_markets` gets beside the frame. */
export const MARKETS = {
  count: 0,
  rows: 4,
  now: 8,
  minTrade: 16,
  hasTargets: 24,
  /** The markets of the rows of the order table. */
  orderMarkets: 28,
  tagPointer: 32,
  tagBytes: 36,
  /** The markets of the rows of the tables of open trades, working orders and fills. */
  tradeMarkets: 40,
  workingMarkets: 44,
  fillMarkets: 48,
  /** The address of each market's table of inputs. */
  inputTables: 52,
} as const;
export const MARKETS_BYTES = 56;

/** Byte offsets in a row of the table of markets. */
export const MARKET = {
  idPointer: 0,
  idBytes: 4,
  /** Six pointers: time, open, high, low, close, volume. */
  columns: 8,
  count: 32,
  flags: 36,
  quantity: 40,
  entryPrice: 48,
  weight: 56,
  target: 64,
  keep: 72,
} as const;
export const MARKET_BYTES = 80;
export const FLAG_HAS_CLOSED = 1;
export const FLAG_IS_MEMBER = 2;

/** Byte offsets in a row of the order table. */
export const ORDER = {
  action: 0,
  side: 4,
  type: 8,
  sizeBy: 12,
  size: 16,
  limitPrice: 24,
  stopPrice: 32,
  stopLoss: 40,
  takeProfit: 48,
  stopLossFraction: 56,
  takeProfitFraction: 64,
  trailDistance: 72,
  trailFraction: 80,
  candlesMax: 88,
  timeStopCandles: 92,
  flags: 96,
  target: 100,
  tagPointer: 104,
  tagBytes: 108,
} as const;
export const ORDER_BYTES = 112;

export const ACTION = { place: 1, close: 2, closeTrade: 3, cancel: 4, cancelAll: 5, replace: 6, protect: 7 } as const;
export const FLAG_REDUCE_ONLY = 1;
/** Flags of `protect`: the guard stays as it is. */
export const KEEP_STOP_LOSS = 1;
export const KEEP_TAKE_PROFIT = 2;

/** Byte offsets in a row of the table of open trades. */
export const TRADE = { number: 0, quantity: 8, entryPrice: 16 } as const;
export const TRADE_BYTES = 24;

/** Byte offsets in a row of the table of trades' details, which has the rows of the table of open trades. Prices are 0 for none. */
export const DETAIL = {
  order: 0,
  entryIndex: 4,
  entryTime: 8,
  stopLoss: 16,
  takeProfit: 24,
  trailingStop: 32,
  bestPrice: 40,
  worstPrice: 48,
  profit: 56,
  tagBytes: 64,
  tag: 72,
} as const;
export const DETAIL_BYTES = 136;

/** Byte offsets in a row of the table of fills. Behind `time`, all but the tag is 0 where the fill closed nothing. */
export const FILL = {
  order: 0,
  trade: 4,
  index: 8,
  side: 12,
  /** Index into EXIT_REASONS; -1: it opened a trade, or added to it. */
  reason: 16,
  entryOrder: 20,
  entryIndex: 24,
  tagBytes: 28,
  price: 32,
  quantity: 40,
  fee: 48,
  time: 56,
  entryPrice: 64,
  entryTime: 72,
  profit: 80,
  fees: 88,
  bestPrice: 96,
  worstPrice: 104,
  tag: 112,
} as const;
export const FILL_BYTES = 176;

/** Every block from `alloc` begins at a multiple of this. */
export const ALIGN_BYTES = 8;
export const PAGE_BYTES = 65_536;
/** Pages that a memory may have beyond those that its module declares, for a run's columns. */
export const ROOM_PAGES_MAX = 512;

/** The values that `init` finds in the frame, and the limits of its own. */
export const ORDERS_MAX = { default: 64, limit: 1024 } as const;
export const TRADES_MAX = { default: 0, limit: 4096 } as const;
export const WORKING_MAX = { default: 0, limit: 4096 } as const;
export const FILLS_MAX = { default: 0, limit: 4096 } as const;
export const WARMUP_MAX = 1_000_000;
export const TAG_BYTES_MAX = 64;
/** Orders of one run, closes and replacements included. */
export const RUN_ORDERS_MAX = 2_000_000;
/** Different ones: each takes room in the result and in every process that it passes through. */
export const RUN_TAGS_MAX = 500_000;
export const MESSAGE_BYTES_MAX = 1024;
export const LOG_LINES_MAX = 100;
/** Time zones of an instance. */
export const ZONES_MAX = 16;

/** The limits of a module. */
export const MODULE = {
  bytesMax: 4 * 2 ** 20,
  memoryPagesMax: 4096,
  tablesMax: 1,
  tableElementsMax: 10_000,
  functionsMax: 20_000,
  exportsMax: 1000,
  importsMax: 16,
  typesMax: 10_000,
  nameBytesMax: 256,
} as const;

/** Functions by name, with types such as `(i32, i32) -> i32`. */
export const EXPORTED_FUNCTIONS: Readonly<Record<string, { readonly type: string; readonly required: boolean }>> = {
  abi_version: { type: "() -> i32", required: true },
  alloc: { type: "(i32) -> i32", required: true },
  init: { type: "(i32) -> i32", required: true },
  on_candle: { type: "(i32) -> i32", required: true },
  on_markets: { type: "(i32, i32) -> i32", required: false },
  every: { type: "() -> i32", required: false },
  score: { type: "(i32) -> f64", required: false },
  _initialize: { type: "() -> nothing", required: false },
};
export const MEMORY_EXPORT = "memory";

/** The name under which the host gives a module its memory (check.ts). */
export const MEMORY_IMPORT = { module: "host", name: "memory" } as const;

/** The function whose values depend on the version of the tables of time zones. */
export const ZONE_IMPORT = "zone_offset";

/** The only module name that imports may have, and the allowed types; the longer `abort` is AssemblyScript's. */
export const IMPORT_MODULE = "env";
export const IMPORTED_FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  abort: ["(i32, i32) -> nothing", "(i32, i32, i32, i32) -> nothing"],
  log: ["(i32, i32) -> nothing"],
  input: ["(i32, i32) -> i32"],
  resample: ["(i32, i32) -> i32"],
  zone: ["(i32, i32) -> i32"],
  [ZONE_IMPORT]: ["(i32, f64) -> f64"],
  plot: ["(i32, i32, i32, i32) -> i32"],
  draw: ["(i32, f64) -> nothing"],
};

/** Why a trade ended. A trade's `exitReason` is an index into this list. */
export const EXIT_REASONS = [
  "signal",
  "stop_loss",
  "take_profit",
  "trailing_stop",
  "margin_call",
  "time_stop",
  "end_of_data",
  "delisted",
] as const;

// Indexes into EXIT_REASONS.
export const SIGNAL = 0;
export const STOP_LOSS = 1;
export const TAKE_PROFIT = 2;
export const TRAILING_STOP = 3;
export const MARGIN_CALL = 4;
export const TIME_STOP = 5;
export const END_OF_DATA = 6;
export const DELISTED = 7;

export type ExitReason = (typeof EXIT_REASONS)[number];

/** The `exitReason` of a trade that is still open after the last candle. */
export const STILL_OPEN = 255;

/** The `exitOrder` of a trade that no order has closed: its stop, target or time limit did, a margin call, or the end. */
export const NO_ORDER = -1;

/**
 * Trades as columns, one row a trade, in order of the first entry fill; trades that are open at the end come last.
 *
 * `side` is 1 (long) or -1 (short); times are the open of the fill's candle, in milliseconds since 1970; `fees` and `pnl`
 * are money, `pnl` is net of fees and financing; `return` is pnl / (entry price x quantity); `candles` counts
 * candles from entry to exit; `mae` and `mfe` are fractions of the entry price. `exitTime` and `exitPrice` are NaN and
 * `exitReason` is STILL_OPEN for an open trade, whose `pnl` is at the last close. `entryOrder` and `exitOrder` are rows of
 * the run's orders, or NO_ORDER; `tag` and `exitTag` are theirs.
 */
export interface TradeColumns {
  readonly count: number;
  readonly side: Int8Array;
  readonly quantity: Float64Array;
  readonly entryTime: Float64Array;
  readonly entryPrice: Float64Array;
  readonly exitTime: Float64Array;
  readonly exitPrice: Float64Array;
  readonly fees: Float64Array;
  readonly pnl: Float64Array;
  readonly return: Float64Array;
  readonly candles: Int32Array;
  readonly mae: Float64Array;
  readonly mfe: Float64Array;
  readonly exitReason: Uint8Array;
  readonly ambiguous: Uint8Array;
  readonly entryOrder: Int32Array;
  readonly exitOrder: Int32Array;
  readonly tag: readonly (string | null)[];
  readonly exitTag: readonly (string | null)[];
}

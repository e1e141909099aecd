import type { BufferPool } from "./buffer_pool.ts";
import type { Candles } from "./candles.ts";
import type { TradingDayColumns } from "./metrics/input.ts";
import type { FillRecord, TradeDetails } from "./trade_watch.ts";
import { MARKET, TYPE_RULES } from "./rules/orders/order_types.ts";

export { LIMIT, MARKET, ORDER_TYPES, STOP, STOP_LIMIT } from "./rules/orders/order_types.ts";

/** Units of an order's `size`. An order's `sizeBy` is an index into this list; `default`: execution.sizing decides. */
export const SIZES_BY = ["default", "units", "equity_fraction", "cash", "risk_fraction"] as const;
export const BY_DEFAULT = 0;
export const BY_UNITS = 1;
export const BY_EQUITY_FRACTION = 2;
export const BY_CASH = 3;
export const BY_RISK_FRACTION = 4;

/** Candles that a strategy decides on in one call of `decideAhead`, at most. */
export const CANDLES_AHEAD_MAX = 256;

/** Returned in place of an order's number when the order was refused. */
export const REFUSED = -1;

/**
 * An order before it is placed: a form that a strategy fills in and passes to `place`, which copies it. One draft serves a
 * whole run without garbage.
 *
 * NaN means "none" for every price, distance and fraction below; fractions are of the entry price (0.01 is 1%), prices and
 * distances are in the quote currency.
 */
export interface OrderDraft {
  /** 1 buys, -1 sells. */
  side: number;
  /** Index into ORDER_TYPES. */
  type: number;
  /** Index into SIZES_BY. */
  sizeBy: number;
  /** Units, fraction of equity, money, or fraction of equity lost at the stop loss. */
  size: number;
  limitPrice: number;
  stopPrice: number;
  /** Candles for which the order works after the one that placed it; 0: until cancelled. Market orders ignore it. */
  candlesMax: number;
  /** True if the order may only make the open position smaller. */
  reduceOnly: boolean;
  /** Guards of the trade that the order opens: prices, or fractions of its entry price. A price counts before a fraction. */
  stopLoss: number;
  takeProfit: number;
  stopLossFraction: number;
  takeProfitFraction: number;
  /** The stop follows the best price since the entry at this distance, or at this fraction of that price. */
  trailDistance: number;
  trailFraction: number;
  /** The trade is closed at the open once it has been held for this many candles; 0: never. */
  timeStopCandles: number;
  tag: string | null;
}

/** A fresh draft: buy at market, sized by default, without guards. */
export function newDraft(): OrderDraft {
  return {
    side: 1,
    type: MARKET,
    sizeBy: BY_DEFAULT,
    size: NaN,
    limitPrice: NaN,
    stopPrice: NaN,
    candlesMax: 0,
    reduceOnly: false,
    stopLoss: NaN,
    takeProfit: NaN,
    stopLossFraction: NaN,
    takeProfitFraction: NaN,
    trailDistance: NaN,
    trailFraction: NaN,
    timeStopCandles: 0,
    tag: null,
  };
}

/** An order's limit; NaN for a type without one, since a reused draft may still hold prices of another type. */
export function limitPriceOf({ type, limitPrice }: OrderDraft): number {
  return TYPE_RULES[type]?.namesLimit === true ? limitPrice : NaN;
}

/** An order's stop price; NaN for an order without one. */
export function stopPriceOf({ type, stopPrice }: OrderDraft): number {
  return TYPE_RULES[type]?.namesStop === true ? stopPrice : NaN;
}

/**
 * The account at a candle's close, as the strategy sees it. The run overwrites it in place at each candle.
 *
 * @example Whether an account has lost a tenth, and its position's share of it.
 * ```ts
 * const hasLost = (account: Account) => account.equity < 0.9 * account.initialBalance;
 * const shareOf = (account: Account) => 1 - account.cash / account.equity;
 * ```
 */
export interface Account {
  readonly cash: number;
  /** cash + quantity x close. */
  readonly equity: number;
  /** Units held, negative when short. */
  readonly quantity: number;
  /** Mean entry price of the open trades, weighted by quantity; NaN when flat. */
  readonly entryPrice: number;
  readonly initialBalance: number;
}

/** A strategy's access to orders and trades. An order placed at a candle's close is filled at that close at the earliest. */
export interface OrderBook {
  /** Number of working orders, market orders included. */
  readonly workingOrders: number;
  /** Number of open trades: each entry order opens one. */
  readonly openTrades: number;
  /** Grows between decisions in which an order or a trade has changed. While it stays, their lists are the same. */
  readonly revision: number;

  /** Places an order. Returns its number, from 0, or REFUSED; the result lists refused orders with their reasons. */
  place(draft: OrderDraft): number;
  /** Places a market order that closes this fraction of each open trade, oldest first. Returns as `place` does. */
  close(fraction: number, tag: string | null): number;
  /** Cancels an order; false when it was no longer working. */
  cancel(order: number): boolean;
  cancelAll(): void;
  /** Cancels an order and places another; REFUSED, and nothing placed, when it was no longer working. */
  replace(order: number, draft: OrderDraft): number;
  isWorking(order: number): boolean;

  /** The number of the n-th open trade, oldest first (0 to openTrades - 1): it stays the same while the trade is open. */
  tradeAt(n: number): number;
  isOpen(trade: number): boolean;
  /** Units, negative when short. */
  tradeQuantity(trade: number): number;
  tradeEntryPrice(trade: number): number;
  /** Places a market order that closes this fraction of one trade. Returns as `place` does. */
  closeTrade(trade: number, fraction: number, tag: string | null): number;
  /** Sets the stop loss and take profit of an open trade, in prices; NaN removes one, null keeps it. False when the trade is closed. */
  protect(trade: number, stopLoss: number | null, takeProfit: number | null): boolean;
  /** Keeps the fills from now on, in a list that the strategy empties. */
  watchFills(): FillRecord[];
  /** The details of an open trade at the close of candle `i`; null: it is closed. */
  describeTrade(trade: number, i: number): TradeDetails | null;
}

/**
 * A strategy as the simulator calls it, in any language.
 *
 * `decide` is called once a candle, at its close, and must not read anything later. For a strategy that runs elsewhere,
 * the caller drives a Simulation (engine/simulation.ts) instead, one `advance` a candle, with the same book and account.
 *
 * @example Buys once two closes in a row have risen.
 * ```ts
 * let close: Float64Array;
 * const rising: Strategy = {
 *   warmup: 3,
 *   prepare: (candles) => void (close = candles.close),
 *   decide(i, account, book) {
 *     const hasRisen = close[i]! > close[i - 1]! && close[i - 1]! > close[i - 2]!;
 *     if (account.quantity === 0 && hasRisen) book.place(newDraft());
 *   },
 * };
 * ```
 */
export interface Strategy {
  /** Candles up to and including the first decision's; at least 1. */
  readonly warmup: number;
  /**
   * Called before the first decision, to compute indicator columns. A run with bounds is simulated up to three times, and
   * each simulation starts with `prepare`: it must reset the state of `decide`.
   *
   * @param pool Gives columns their memory until the run ends; absent or null: columns have new memory.
   * @param days The market's own trading days; absent or null: days of UTC. The last ones may end behind the candles.
   */
  prepare(candles: Candles, pool?: BufferPool | null, days?: TradingDayColumns | null): void;
  /** Decides at the close of candle `i`. It is hot and should not allocate. */
  decide(i: number, account: Account, book: OrderBook): void;
  /**
   * The first candle from `i` on at which `decide` might act if the account goes on to hold its present quantity; beyond the
   * last candle if there is none. It is called again once the quantity differs. `decide` is not called before that candle,
   * and candles without events are only valued, many at once.
   */
  nextDecision?(i: number, account: Account): number;
  /**
   * Decides at the closes of candle `i` and those before `until`, one after the other, until it has orders. In these candles
   * the account is only marked: its cash, quantity, orders and trades stay, whatever their prices.
   *
   * @returns The candle of its orders, which the next call of `decide` places; `until` if it has none. `decide` is not
   * called for other candles.
   * @param account Its equity is of a later candle: it is cash + quantity x close at each.
   */
  decideAhead?(i: number, until: number, account: Account, book: OrderBook): number;
}

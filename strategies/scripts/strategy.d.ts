/**
 * The language of Hindcast scripts: everything that a script finds, besides JavaScript itself.
 *
 * A script is one file without imports. It calls `strategy` once, or `portfolio`. It has no clock, chance, locale, network or files, so that the same
 * candles always give the same orders.
 */

/** One number a candle, oldest first. Values behind the deciding candle are NaN. */
type Column = Float64Array;

/** The columns of candles. */
interface CandleColumns {
  /** Opens in milliseconds since 1970-01-01T00:00:00Z; see `utc`. */
  readonly time: Column;
  /** Prices in the quote currency. */
  readonly open: Column;
  readonly high: Column;
  readonly low: Column;
  readonly close: Column;
  /** In units of the instrument. */
  readonly volume: Column;
}

/** The candles up to the deciding one. Index 0 is the first candle that the strategy is shown. */
interface Candles extends CandleColumns {
  /**
   * Other candles of the run, by their names in `parameters.inputs`. Row `i` of a column has the newest value whose candle had closed by
   * the close of candle `i`, NaN before the first. Indicators take them by their own candles: `ema(inputs.daily.close, 20)` is an average
   * of 20 days. An indicator of columns of different candles is computed from these rows.
   */
  readonly inputs: Readonly<Record<string, CandleColumns>>;
}

/** The account at the close of the deciding candle. */
interface Account {
  readonly cash: number;
  /** cash + quantity x close. */
  readonly equity: number;
  /** Units held, negative when short, 0 when flat. */
  readonly quantity: number;
  /** Mean entry price of the open trades; NaN when flat. */
  readonly entryPrice: number;
  readonly initialBalance: number;
  /** The trades that were closed last, the newest first; 256 at most. */
  readonly closedTrades: readonly ClosedTrade[];
}

/** An order's number in its run, from 1. */
type OrderNumber = number;

/** An open trade. */
interface OpenTrade {
  /** The trade's number, for `closeTrade` and `protect`. */
  readonly trade: number;
  /** Units, negative when short. */
  readonly quantity: number;
  readonly entryPrice: number;
  /** The order that opened it, and its tag. */
  readonly order: OrderNumber;
  readonly tag: string | null;
  /** Index and time of the candle in which it was opened. */
  readonly entryIndex: number;
  readonly entryTime: number;
  /** Prices of its guards; null: none. */
  readonly stopLoss: number | null;
  readonly takeProfit: number | null;
  /** Where its trailing stop stands. */
  readonly trailingStop: number | null;
  /** quantity x (close - entryPrice), before costs. */
  readonly profit: number;
  /** The best and the worst price since the entry. */
  readonly bestPrice: number;
  readonly worstPrice: number;
}

/** Why a trade was closed. */
type ExitReason =
  | "signal"
  | "stop_loss"
  | "take_profit"
  | "trailing_stop"
  | "margin_call"
  | "time_stop"
  | "end_of_data"
  | "delisted";

/** A trade, or the part of one that a fill has closed. */
interface ClosedTrade {
  readonly trade: number;
  /** The order that opened it, and its tag. */
  readonly order: OrderNumber;
  readonly tag: string | null;
  /** Units, negative when short. */
  readonly quantity: number;
  readonly entryIndex: number;
  readonly entryTime: number;
  readonly entryPrice: number;
  readonly exitIndex: number;
  readonly exitTime: number;
  readonly exitPrice: number;
  readonly exitReason: ExitReason;
  /** Net of fees and financing, in the account's currency. */
  readonly profit: number;
  /** Of entry and exit. */
  readonly fees: number;
  readonly bestPrice: number;
  readonly worstPrice: number;
}

/** A fill. */
interface Fill {
  /** The order that was filled; null: a stop, a target or the simulator closed the trade. */
  readonly order: OrderNumber | null;
  readonly trade: number;
  readonly side: "buy" | "sell";
  readonly quantity: number;
  readonly price: number;
  readonly fee: number;
  /** Index and time of its candle. */
  readonly index: number;
  readonly time: number;
  /** The trade's tag. */
  readonly tag: string | null;
  /** Null: it opened a trade, or added to it. */
  readonly exitReason: ExitReason | null;
}

/** Stops and targets of the trade that an order opens. A price counts before a fraction. */
interface Guards {
  /** The price at which the trade is closed with a loss. */
  readonly stopLoss?: number | undefined;
  /** The price at which the trade is closed with a profit. */
  readonly takeProfit?: number | undefined;
  /** Fractions of the entry price: 0.02 is 2%. */
  readonly stopLossFraction?: number | undefined;
  readonly takeProfitFraction?: number | undefined;
  /** A stop that follows the best price since the entry at this distance, in the quote currency. */
  readonly trailDistance?: number | undefined;
  /** The same, as a fraction of that best price. */
  readonly trailFraction?: number | undefined;
  /** Candles that a trade is held: it is closed at the open that follows. */
  readonly timeStopCandles?: number | undefined;
}

/**
 * An order. Without prices it is filled at market, at the next open; with `limitPrice` it is a limit order, with `stopPrice` a stop
 * order, with both a stop-limit order.
 */
interface OrderOptions extends Guards {
  readonly limitPrice?: number | undefined;
  readonly stopPrice?: number | undefined;
  /** The amount. Absent: the run's `execution.sizing` decides, by default all of the equity. */
  readonly size?: number | undefined;
  /**
   * The unit of `size`: units of the instrument (default), a fraction of equity times the leverage, money, or the fraction of equity
   * that is lost at the stop.
   */
  readonly sizeBy?: "units" | "equity_fraction" | "cash" | "risk_fraction" | undefined;
  /** Candles for which the order works; absent: until it is cancelled. */
  readonly candlesMax?: number | undefined;
  /** The order may only make the position smaller. */
  readonly reduceOnly?: boolean | undefined;
  /** At most 64 bytes. It appears with the order and its trade in the results. */
  readonly tag?: string | undefined;
}

/** Places and withdraws orders. An order of this decision is filled at the next candle's open at the earliest. */
interface Orders {
  buy(options?: OrderOptions): OrderNumber;
  sell(options?: OrderOptions): OrderNumber;
  /** Closes this fraction (default 1: all) of each open trade, at market. */
  close(fraction?: number, tag?: string): OrderNumber;
  /** Closes this fraction of one trade, at market. */
  closeTrade(trade: number, fraction?: number, tag?: string): OrderNumber;
  cancel(order: OrderNumber): void;
  cancelAll(): void;
  /** Withdraws a working order and places another. Does nothing when it works no longer. */
  replace(order: OrderNumber, side: "buy" | "sell", options?: OrderOptions): OrderNumber;
  /** Sets the stop loss and take profit of an open trade, as prices; null removes one, absent: it stays. */
  protect(
    trade: number,
    guards: { readonly stopLoss?: number | null | undefined; readonly takeProfit?: number | null | undefined },
  ): void;
  isWorking(order: OrderNumber): boolean;
  /** The orders that still work, oldest first. */
  readonly working: readonly OrderNumber[];
  /** The open trades, oldest first. */
  readonly trades: readonly OpenTrade[];
}

/** A strategy. `prepare` and `decide` share their `this`: keep columns and counters there. */
interface Strategy {
  /** Candles up to and including the first decision's; default 1. */
  readonly warmup?: number | undefined;
  /** Called once, before the first decision: ask for indicators here. The columns are empty until candles close. */
  prepare?(candles: Candles): void;
  /** Called at the close of each candle, with its index `i`. */
  decide(i: number, candles: Candles, account: Account, orders: Orders): void;
  /** Called before `decide` for each fill since the last decision, oldest first. */
  onFill?(fill: Fill): void;
  /** Called for each trade that a fill has closed, or a part of it, behind its `onFill`. */
  onClose?(trade: ClosedTrade): void;
  /**
   * How good an entry at the close of candle `i` would be: in a run over many markets with the rank `score`, the market with the
   * highest decides first, and one of NaN last. Called before `decide`.
   */
  score?(i: number, candles: Candles): number;
}

/** The candles of a run, before the first of them is seen. */
interface Series {
  /** Length of a candle in milliseconds: 3600000 is an hour. For months it is that of an average one. */
  readonly timeframeMs: number;
  /** Index of the first candle of the backtest's range; those before it are the lookback. */
  readonly firstIndex: number;
}

/**
 * Defines the strategy. The function receives the strategy's own parameters, with the defaults filled in, and the series.
 *
 * @example Buys once the close is above its average, and leaves once it is below.
 * ```ts
 * strategy(() => ({
 *   warmup: 20,
 *   prepare({ close }) {
 *     this.mean = sma(close, 20);
 *   },
 *   decide(i, { close }, account, orders) {
 *     if (account.quantity === 0 && close[i] > this.mean[i]) orders.buy();
 *     else if (account.quantity > 0 && close[i] < this.mean[i]) orders.close();
 *   },
 * }));
 * ```
 */
declare function strategy<Parameters>(
  // deno-lint-ignore no-explicit-any -- scripts keep what they like in `this`
  create: (parameters: Parameters, series: Series) => Strategy & ThisType<any>,
): void;

/** Lengths of the periods of a portfolio strategy. */
type Period = "day" | "week" | "month" | "quarter";

/** A market of a portfolio. Its columns are those of its own candles, NaN behind `i`. */
interface Market extends Candles {
  /** The market's place among the instruments of the run, from 0. */
  readonly index: number;
  /** `SPY@ARCA`. */
  readonly id: string;
  readonly symbol: string;
  readonly exchange: string;
  /** The market's newest closed candle; -1 before the first. */
  readonly i: number;
  /** True if that candle closed at this moment. */
  readonly hasClosed: boolean;
  /** True if it may be entered now. */
  readonly isMember: boolean;
  /** Units held, negative when short, 0 when flat. */
  readonly quantity: number;
  /** Mean entry price of its open trades; NaN when flat. */
  readonly entryPrice: number;
  /** Value of its position at the last close as a fraction of equity, negative when short. */
  readonly weight: number;
}

/** The markets of a run, in the order of its instruments. */
interface Markets extends ReadonlyArray<Market> {
  /** The market of this id, or of this symbol where one market alone has it. Throws where there is none. */
  of(name: string): Market;
}

/** A closed trade of a portfolio, or a part of one. */
interface MarketTrade extends ClosedTrade {
  /** The id of its market, such as `SPY@ARCA`. */
  readonly market: string;
}

/** A fill of a portfolio. Without `order`, a target may have been filled, too. */
interface MarketFill extends Fill {
  readonly market: string;
}

/** The account of a portfolio. */
interface PortfolioAccount {
  readonly cash: number;
  /** cash + the sum of quantity x last close. */
  readonly equity: number;
  readonly initialBalance: number;
  /** The trades of all markets that were closed last, the newest first; 256 at most. */
  readonly closedTrades: readonly MarketTrade[];
}

/** The orders of a portfolio. Targets are carried out before the other orders of a decision. */
interface PortfolioOrders {
  /**
   * Sets weights by the names of markets, as fractions of equity, negative for short: each market is brought to its weight at its next
   * open. A market that is not named is closed; with `partial` it is left alone. Differences below `minTrade`, a fraction of equity, are left.
   */
  target(
    weights: Readonly<Record<string, number>>,
    options?: {
      readonly partial?: boolean | undefined;
      readonly minTrade?: number | undefined;
      readonly tag?: string | undefined;
    },
  ): void;
  /** Every order of a strategy for one market, for this one. */
  of(name: string): Orders;
}

/** A strategy that decides on many markets at once. `prepare` and `decide` share their `this`. */
interface PortfolioStrategy {
  /** Candles up to and including the first decision's that at least one market must have; default 1. */
  readonly warmup?: number | undefined;
  /** Asked at the first close of each new period, and once the warm-up is over; absent or null: whenever a candle closes. */
  readonly every?: Period | null | undefined;
  /** Called once, before the first decision: ask for indicators of each market's columns here. */
  prepare?(markets: Markets): void;
  /** Called at a moment at which candles have closed. @param now Milliseconds since 1970. */
  decide(now: number, markets: Markets, account: PortfolioAccount, orders: PortfolioOrders): void;
  /** Called before `decide` for each fill of any market since the last decision, oldest first. */
  onFill?(fill: MarketFill): void;
  /** Called for each trade that a fill has closed, or a part of it, behind its `onFill`. */
  onClose?(trade: MarketTrade): void;
}

/**
 * Defines a strategy that decides on many markets with one account, in place of `strategy`. A run of it names instruments or a universe.
 *
 * @example Holds the three members that have risen most in half a year.
 * ```ts
 * portfolio(({ top = 3, lookback = 126 }: { top?: number; lookback?: number }) => ({
 *   warmup: lookback + 1,
 *   every: "month",
 *   decide(_now, markets, _account, orders) {
 *     const riseOf = ({ close, i }: Market) => close[i] / close[i - lookback];
 *     const ranked = markets.filter((m) => m.isMember && m.i >= lookback).sort((a, b) => riseOf(b) - riseOf(a));
 *     orders.target(Object.fromEntries(ranked.slice(0, top).map((m) => [m.id, 1 / top])));
 *   },
 * }));
 * ```
 */
declare function portfolio<Parameters>(
  create: (
    parameters: Parameters,
    series: Pick<Series, "timeframeMs">,
    // deno-lint-ignore no-explicit-any -- scripts keep what they like in `this`
  ) => PortfolioStrategy & ThisType<any>,
): void;

/**
 * Draws a value at the deciding candle, one series for each name, at most 16; results keep them. `pane` says where: "price" is over
 * the candles, and series with another pane's name share it. Without it, a series whose values are near the prices lies over the candles,
 * any other in a pane of its own.
 */
declare function plot(name: string, value: number | null | undefined, pane?: string): void;

/** The parts of a time, in UTC: month 1 to 12, weekday 0 (Sunday) to 6. */
declare function utc(
  time: number,
): { year: number; month: number; day: number; weekday: number; hour: number; minute: number };

/**
 * Longer candles that are made of the run's own, or of a market's, in `prepare`. Days and weeks are those of UTC, whatever the market's trading days; an
 * input of `1d` has those. Their rows are those of an input: row `i` has the newest value whose candle had closed by the close of candle
 * `i`, and indicators take them by their own candles.
 */
declare function resample(
  candles: Candles,
  timeframe: "5m" | "15m" | "30m" | "1h" | "2h" | "4h" | "6h" | "12h" | "1d" | "1w",
): CandleColumns;

/** Mean of the last `period` values. */
declare function sma(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function sma(values: readonly number[], period: number): number;
/** Exponential average with the weight 2 / (period + 1). */
declare function ema(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function ema(values: readonly number[], period: number): number;
/** Wilder's average: exponential, with the weight 1 / period. */
declare function wilder(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function wilder(values: readonly number[], period: number): number;
/** Standard deviation of the last `period` values, of a population. */
declare function stddev(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function stddev(values: readonly number[], period: number): number;
/** Wilder's relative strength index, 0 to 100. */
declare function rsi(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function rsi(values: readonly number[], period: number): number;
/** The highest of the last `period` values. */
declare function highest(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function highest(values: readonly number[], period: number): number;
/** The lowest of the last `period` values. */
declare function lowest(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function lowest(values: readonly number[], period: number): number;
/** The value `period` candles before. */
declare function shift(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function shift(values: readonly number[], period: number): number;
/** Wilder's average true range. */
declare function atr(high: Column, low: Column, close: Column, period: number): Column;
/** Moving average convergence and divergence: commonly 12, 26 and 9. */
declare function macd(
  values: Column,
  fast: number,
  slow: number,
  signal: number,
): { macd: Column; signal: Column; histogram: Column };
/** The newest values of a series of your own, in `decide`. */
declare function macd(
  values: readonly number[],
  fast: number,
  slow: number,
  signal: number,
): { macd: number; signal: number; histogram: number };
/** Bollinger bands, `width` standard deviations around the mean. */
declare function bollinger(
  values: Column,
  period: number,
  width: number,
): { upper: Column; middle: Column; lower: Column };
/** The newest values of a series of your own, in `decide`. */
declare function bollinger(
  values: readonly number[],
  period: number,
  width: number,
): { upper: number; middle: number; lower: number };
/** The highest high and the lowest low of the last `period` candles. */
declare function donchian(high: Column, low: Column, period: number): { upper: Column; lower: Column };
/** Standard deviations above the mean of the last `period` values; 0 while they do not differ. */
declare function zscore(values: Column, period: number): Column;
/** The newest value of a series of your own, in `decide`. */
declare function zscore(values: readonly number[], period: number): number;
/** Wilder's directional movement, 0 to 100: `plus` and `minus` are +DI and -DI. */
declare function adx(
  high: Column,
  low: Column,
  close: Column,
  period: number,
): { adx: Column; plus: Column; minus: Column };
/** Bands of `multiple` average true ranges: the `direction` is 1 or -1, the `line` the price at which it would turn. */
declare function supertrend(
  high: Column,
  low: Column,
  close: Column,
  period: number,
  multiple: number,
): { line: Column; direction: Column };
/** Exponential average of closes, and bands `width` average true ranges around it. */
declare function keltner(
  high: Column,
  low: Column,
  close: Column,
  period: number,
  rangePeriod: number,
  width: number,
): { upper: Column; middle: Column; lower: Column };
/** Stochastic oscillator, 0 to 100: commonly 14, 3 and 3. */
declare function stochastic(
  high: Column,
  low: Column,
  close: Column,
  period: number,
  slowing: number,
  signal: number,
): { k: Column; d: Column };
/** Ichimoku lines: commonly 9, 26, 52 and 26. The leading ones are the cloud as a chart shows it at the candle. */
declare function ichimoku(
  high: Column,
  low: Column,
  conversion: number,
  base: number,
  span: number,
  displacement: number,
): { conversion: Column; base: Column; leadingA: Column; leadingB: Column };
/** Mean of the typical prices of the last `period` candles by volume, and the standard deviation about it. */
declare function vwap(
  high: Column,
  low: Column,
  close: Column,
  volume: Column,
  period: number,
): { mean: Column; deviation: Column };
/** The same since the last candle at which `anchors` was 0, such as the first one of a trading day. */
declare function anchoredVwap(
  high: Column,
  low: Column,
  close: Column,
  volume: Column,
  anchors: Column,
): { mean: Column; deviation: Column };
/** Number of the candle in its trading day, from 0, and of candles in the trading day before. Takes the candles' `time`. */
declare function tradingDay(time: Column): { candle: Column; length: Column };
/**
 * The parts of the candles' times in a time zone, such as "America/New_York", with its daylight-saving time: as `utc` has them, a column
 * each. Takes the candles' `time`.
 */
declare function local(
  time: Column,
  zone: string,
): { year: Column; month: Column; day: Column; weekday: Column; hour: Column; minute: Column };
/** Highest high and lowest low of the first `period` candles since `anchors` was 0; NaN until they have closed. */
declare function openingRange(
  high: Column,
  low: Column,
  anchors: Column,
  period: number,
): { upper: Column; lower: Column };
/** Root of the mean squared return of the last `period` candles, scaled to a year of 365 days: 0.2 is 20%. */
declare function realisedVolatility(time: Column, close: Column, period: number): Column;
/** Columns joined candle by candle; a number stands for a column of that number. */
declare function add(a: Column | number, b: Column | number): Column;
declare function subtract(a: Column | number, b: Column | number): Column;
declare function multiply(a: Column | number, b: Column | number): Column;
declare function divide(a: Column | number, b: Column | number): Column;
/** True if `a` is above `b` at candle `i` and was below when they last differed. */
declare function crossesAbove(a: Column | readonly number[], b: Column | readonly number[], i: number): boolean;
/** True if `a` is below `b` at candle `i` and was above when they last differed. */
declare function crossesBelow(a: Column | readonly number[], b: Column | readonly number[], i: number): boolean;

/** Keeps lines for the result's log, 1,000 at most. */
declare const console: Readonly<Record<"log" | "info" | "warn" | "error" | "debug", (...values: unknown[]) => void>>;

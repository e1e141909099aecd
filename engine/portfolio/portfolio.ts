import type { BufferPool } from "../buffer_pool.ts";
import type { Candles } from "../candles.ts";
import type { InputCandles } from "../inputs.ts";
import type { AssetClass, Execution } from "../execution.ts";
import type { BenchmarkColumns, TradingDayColumns } from "../metrics/input.ts";
import type { ComputedMetrics } from "../metrics/compute.ts";
import type { OrderColumns } from "../order_columns.ts";
import type { Bound, Bounds } from "../run.ts";
import type { OrderBook, Strategy } from "../strategy.ts";
import type { TradeColumns } from "../trade_columns.ts";
import type { FillRecord } from "../trade_watch.ts";

/**
 * The input and output of a run over many markets with one account (run_portfolio.ts). A market's index is its row in
 * `PortfolioRequest.markets`. Instants are milliseconds since 1970 (UTC).
 */

/** Most markets of a run with one account. */
export const PORTFOLIO_MARKETS_MAX = 1000;

/** Marks whose weights a result has. */
export const SAMPLES_MAX = 500;

/** Markets whose correlations a result has. */
export const CORRELATED_MAX = 50;
/** Most markets of a script or a module that has an instance for each: some 1.3 MB, of the 512 MiB of a process. */
export const CODE_MARKETS_MAX = 200;

/** A stretch of time in which an instrument may be entered: from `from` on and before `until`. */
export interface Membership {
  readonly from: number;
  /** Infinity: to the end. */
  readonly until: number;
}

/** The worth of one unit of a currency in the account's: `rate[k]` from the instant `time[k]` on. Times increase. */
export interface RateColumns {
  readonly time: Float64Array;
  readonly rate: Float64Array;
}

export interface PortfolioMarket {
  /** `SPY@ARCA`: unique within the run. */
  readonly id: string;
  readonly symbol: string;
  readonly exchange: string;
  /** All markets of a run have candles of one timeframe. */
  readonly candles: Candles;
  /** Candles before this one are lookback, as in a run over one market. At most the number of candles. */
  readonly firstIndex: number;
  /** The instants at which each candle begins and ends to trade, where `candles.time` and the timeframe do not say it: sessions of stocks. */
  readonly hours?: { readonly opens: Float64Array; readonly closes: Float64Array } | null;
  /** In order of time, apart from each other. Absent or null: always a member. */
  readonly memberships?: readonly Membership[] | null;
  /** True if the instrument ceases to exist with its last candle: positions are closed at its close. False: they are marked there. */
  readonly isDelisted?: boolean;
  /** Row of `PortfolioRequest.currencies`; absent or null: the account's currency. */
  readonly currency?: number | null;
  /** The market's own trading days, for strategies of one market; absent or null: days of UTC. */
  readonly tradingDays?: TradingDayColumns | null;
  /** Candles of a finer timeframe for bothTouched `magnify`. */
  readonly finer?: Candles | null;
  /** Other candles that the strategy reads beside this market's; absent: none. The same names in every market. */
  readonly inputs?: readonly InputCandles[];
}

/** Everything that a portfolio's result depends on. Plain data, except for the strategy. */
export interface PortfolioSettings {
  readonly markets: readonly PortfolioMarket[];
  /** Length of a candle; null for calendar months. */
  readonly timeframeMs: number | null;
  /** Money in the account's currency, above zero. */
  readonly initialBalance: number;
  /** Complete rules for every market, periodsPerYear included. Targets need `fill` next_open and `sizingPrice` fill, and no `exclusive` any. */
  readonly execution: Execution;
  /** The rates of foreign currencies. Each begins at or before its markets' first candle of the range. */
  readonly currencies?: readonly RateColumns[];
  /** The instrument that equity is compared with; absent or null: the first market. */
  readonly benchmark?: BenchmarkColumns | null;
  /** Decides which days count as one for the metrics; absent or null: every day counts by itself. */
  readonly assetClass?: AssetClass | null;
  /** The benchmark's trading days of the run's marks (PortfolioResult.time); absent or null: the asset class decides. */
  readonly tradingDaysOf?: ((time: Float64Array) => TradingDayColumns) | null;
  readonly pool?: BufferPool | null;
}

export interface PortfolioRequest extends PortfolioSettings {
  readonly strategy: EachMarket | PortfolioStrategy;
  /** Words of control.ts, read every 1,024 marks. Null: nobody watches. */
  readonly control: Int32Array | null;
}

/**
 * One strategy for each market, with one account between them. Each sees its market's candles and the account in its market's currency, in
 * which `cash` is everything outside of its own position.
 */
export interface EachMarket {
  readonly kind: "each";
  /** A strategy a market, in the markets' order: each of its own, since a strategy has state. */
  readonly strategies: readonly RankedStrategy[];
  /** The most markets with a position at a time; an entry beyond is refused. The default size is equity / positionsMax. */
  readonly positionsMax: number;
  /** The order in which markets decide and are filled at one instant: as listed, or by their score, the highest first. */
  readonly rank: "listed" | "score";
}

/** A strategy for one market that may say how good an entry would be. */
export interface RankedStrategy extends Strategy {
  /** The score at the close of candle `i`; higher comes first, and NaN last. Absent: all are equal. */
  score?(i: number): number;
}

/** The largest weight of a market, in equities. No leverage reaches it; far beyond, money is no number. */
export const WEIGHT_MAX = 1000;

/** Lengths of a portfolio strategy's periods. */
export const PERIODS = ["day", "week", "month", "quarter"] as const;
export type Period = (typeof PERIODS)[number];

/** A strategy that decides on all markets at once. */
export interface PortfolioStrategy {
  readonly kind: "portfolio";
  /** Candles up to and including the first decision's that at least one market must have; at least 1. */
  readonly warmup: number;
  /**
   * Null: asked at each instant at which a candle closed. Otherwise at the first close of each new period, by the dates of the trading
   * days, and at the first close at which the warm-up is over.
   */
  readonly every: Period | null;
  /**
   * Periods that replace `every` from later instants on, oldest instant first. Each also asks at the first close after its instant. Absent: `every` holds throughout.
   */
  readonly later?: readonly { readonly after: number; readonly every: Period | null }[];
  /** Called before the first decision, and again before each further simulation (bounds): it must reset the state of `decide`. */
  prepare(markets: readonly MarketView[]): void;
  /** Decides at an instant. It must read candles up to each market's `i` only. @param now The instant. */
  decide(now: number, markets: readonly MarketView[], account: PortfolioAccount, orders: PortfolioOrders): void;
}

/** A market as a portfolio strategy sees it. The run overwrites it in place at each decision. */
export interface MarketView {
  readonly index: number;
  readonly id: string;
  readonly symbol: string;
  readonly exchange: string;
  readonly candles: Candles;
  /** The market's newest closed candle; -1 before the first. */
  readonly i: number;
  /** True if that candle closed at this instant. */
  readonly hasClosed: boolean;
  /** True if it may be entered now. */
  readonly isMember: boolean;
  /** Units held, negative when short. */
  readonly quantity: number;
  /** Mean entry price of its open trades; NaN when flat. */
  readonly entryPrice: number;
  /** Value of its position at the last close as a fraction of equity, negative when short. */
  readonly weight: number;
}

/** The account at an instant, in its own currency. */
export interface PortfolioAccount {
  readonly cash: number;
  /** cash + the sum of quantity x last close x rate. */
  readonly equity: number;
  readonly initialBalance: number;
}

/** A portfolio strategy's orders. */
export interface PortfolioOrders {
  /**
   * Sets weights of equity, a value per market, negative for short: each market is brought to its weight at its next open. They replace
   * the targets of earlier decisions, and the unfilled rests of these.
   *
   * - A position is brought to `|weight| x equity / open`, rounded down to the lot; an increase pays for its costs out of that.
   * - Equity counts every instrument that opens at that instant at its open, and the others at their last close.
   * - Where money is short, the increases of one decision at one instant are scaled down together.
   * - A difference below `minTrade` of equity is left, unless the target is 0. A weight of NaN leaves a market alone.
   *
   * @param weights As many as there are markets; NaN, or from -1000 to 1000. @param minTrade Fraction of equity.
   * @throws {RangeError} When a weight or minTrade is beyond, or there are too few or too many.
   */
  target(weights: Float64Array, minTrade?: number, tag?: string | null): void;
  /** Every order of a single market, with its own book. @param market Its index. */
  of(market: number): OrderBook;
  /** Keeps the fills of all markets from now on, in the order in which they happen, in a list that the strategy empties. */
  watchFills(): FillRecord[];
}

/** Trades of many markets: `market` holds the index of each. Fees and pnl are in the account's currency, prices in the market's. */
export interface PortfolioTrades extends TradeColumns {
  readonly market: Uint16Array;
}

/** Orders of many markets, in order of placement. `time` is the open of the market's newest candle at the decision. */
interface PortfolioOrderColumns extends OrderColumns {
  readonly market: Uint16Array;
}

/** The part of each market in the result: a value a market, in the markets' order. */
export interface Contributions {
  /** Money, net of fees and financing, open trades at the last close. They add up to the account's profit, cash interest and loans aside. */
  readonly pnl: Float64Array;
  readonly fees: Float64Array;
  readonly trades: Int32Array;
  /** Marks with a position. */
  readonly marksHeld: Int32Array;
  /** Fraction of the sum of all pnl; NaN where that is 0. */
  readonly share: Float64Array;
}

/** Weights at some marks, as rows without zeros: `weight[k]` of `market[k]` at the mark `mark[k]`. Ordered by mark, then market. */
export interface WeightRows {
  readonly mark: Int32Array;
  readonly market: Uint16Array;
  /** Value as a fraction of equity, negative when short. */
  readonly weight: Float64Array;
  /** The marks that were sampled, ascending: evenly spaced, the last one included; at most 500, and fewer where more than 100 markets would have over 50,000 weights. */
  readonly marks: Int32Array;
}

/**
 * The profit of each market so far, at the marks of WeightRows: `profit[k]` of `market[k]` at the mark `mark[k]`. A
 * market has a row where its profit is another than at the mark before; until its first one it is 0. Ordered by mark, then market.
 */
export interface ProfitRows {
  readonly mark: Int32Array;
  readonly market: Uint16Array;
  /**
   * Money in the account's currency: what its fills and its financing have brought and its position at the mark, net of fees. With the
   * interest on cash, the profits of all markets are what the account has gained.
   */
  readonly profit: Float64Array;
}

/** Holdings over all marks with a position. Null: there is none. */
export interface HoldingFigures {
  /** Mean number of markets held. */
  readonly mean: number;
  /** The largest part of equity that one market had. */
  readonly largestWeight: number;
  /** Mean over marks of the sum of squared shares of gross value: 1 is a single market, 1 / n are n equal ones. */
  readonly herfindahl: number;
}

/** Correlation of daily returns of markets' own closes. `values[a * n + b]` for the a-th and b-th of `markets`; NaN where it is unknown. */
export interface CorrelationMatrix {
  /** The markets with the most time held, at most 50, ascending. */
  readonly markets: Uint16Array;
  readonly values: Float64Array;
}

/** The result of a run over many markets. A row a mark: an instant at which a candle closed. */
export interface PortfolioResult extends ComputedMetrics {
  /** The open of the candle that closes at the mark: as `candles.time` in a run over one market. Does not decrease. */
  readonly time: Float64Array;
  /** The instant of the mark. */
  readonly instant: Float64Array;
  readonly equity: Float64Array;
  readonly cash: Float64Array;
  /** Sum of the values of positions as a fraction of equity, and the same without regard to their side. */
  readonly netExposure: Float64Array;
  readonly grossExposure: Float64Array;
  readonly trades: PortfolioTrades;
  readonly orders: PortfolioOrderColumns;
  readonly contributions: Contributions;
  readonly weights: WeightRows;
  readonly profits: ProfitRows;
  readonly holdings: HoldingFigures | null;
  readonly correlation: CorrelationMatrix;
  /** The bounds as in a run over one market. */
  readonly bounds: Bounds | null;
  /**
   * Margin calls depend on something that no candle shows: whether worst prices came together. Null where the account is not called, and
   * where it holds one market.
   */
  readonly marginBounds: MarginBounds | null;
  /** Notes for the reader, in words. */
  readonly notes: readonly string[];
}

/** Two ends of a run: called with all open candles at their worst prices at once, as the result is, or by their closes only. */
export interface MarginBounds {
  readonly worst_together: Bound;
  readonly closes_only: Bound;
}

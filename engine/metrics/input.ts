import type { AssetClass } from "../time/asset_classes.ts";
import type { TradeTally } from "./trade_tally.ts";

/** Another instrument's candles, a day each (or as long as the run's own, where these are longer), oldest first. */
export interface BenchmarkColumns {
  /** Opens, milliseconds since 1970. */
  readonly time: Float64Array;
  readonly close: Float64Array;
}

/** The trading days of candles, a value per day with candles. */
export interface TradingDayColumns {
  /** The index after the day's last candle. */
  readonly ends: Int32Array;
  /** 00:00 UTC of its date, milliseconds since 1970. */
  readonly dates: Float64Array;
}

/** The days of a range with candles, which all runs over it share: a value per day. */
export interface RangeDays extends TradingDayColumns {
  /** The instrument's own returns from the second day: `closeReturns[k]` is that of day `k + 1`. */
  readonly closeReturns: Float64Array;
}

/** One run's columns (a value per candle of the range) and totals, from which the metrics are computed. */
export interface MetricsInput {
  /** Opens of the candles in the range, milliseconds since 1970. */
  readonly time: Float64Array;
  readonly close: Float64Array;
  /** Equity marked at each candle's close. */
  readonly equity: Float64Array;
  readonly trades: TradeTally;
  readonly initialBalance: number;
  /** Length of a candle; null for calendar months, which differ. */
  readonly timeframeMs: number | null;
  /** Decides which days count as one (daily.ts); absent or null: every day counts by itself. */
  readonly assetClass?: AssetClass | null;
  /** The market's own days; absent or null: days of UTC, joined by asset class. */
  readonly tradingDays?: TradingDayColumns | null;
  /** The days of the range, where they have been found before (daily.ts); absent or null: they are found. */
  readonly rangeDays?: RangeDays | null;
  /** Fraction per year. */
  readonly riskFreeRate: number;
  /** Days in a trading year. */
  readonly periodsPerYear: number;
  readonly rejectedOrders: number;
  /** Money, over every fill. */
  readonly feesPaid: number;
  /** Sum of price x quantity over every fill, money. */
  readonly tradedValue: number;
  /** Money that cash has earned. */
  readonly cashInterest: number;
  /** Absent or null: the instrument's own closes. */
  readonly benchmark?: BenchmarkColumns | null;
}

/** The trading days of the candles from an index on. */
export function cutDays({ ends, dates }: TradingDayColumns, firstIndex: number): TradingDayColumns {
  const first = ends.findIndex((end) => end > firstIndex);
  return { ends: ends.subarray(first).map((end) => end - firstIndex), dates: dates.subarray(first) };
}

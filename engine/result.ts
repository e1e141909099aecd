import type { Execution } from "./execution.ts";
import type { Metrics } from "./metrics/definitions.ts";
import type { Bound, Bounds } from "./run.ts";

/** Findings of the checks on a strategy's honesty. */
export interface Integrity {
  /** True if decisions depend on candles that came later. */
  readonly lookahead: Finding;
  /** True if the same candles lead to the same decisions. */
  readonly determinism: Finding;
  /** True if decisions depend on how many candles came before the range. */
  readonly warm_up: Finding;
  /** True if the simulator refused orders. */
  readonly orders: Finding;
}

export interface Finding {
  readonly status: "passed" | "failed" | "skipped";
  /** The check and its outcome, in a sentence. */
  readonly evidence: string;
}

/** The hours of trade that decide where a run's days and hours begin. */
export interface ResultSession {
  readonly hours: "regular" | "extended";
  /** IANA name. */
  readonly timezone: string;
  /** `HH:MM` in that time zone. A close at or before the open is on the next day, whose date the trading day has. */
  readonly open: string;
  readonly close: string;
  /** 1 is Monday, 7 is Sunday. */
  readonly weekdays: readonly number[];
}

/** Other candles that a run's strategy read. */
export interface ResultInput {
  readonly name: string;
  readonly symbol: string;
  readonly exchange: string;
  readonly timeframe: string;
  /** With those before the range. */
  readonly candles: number;
  /** Open times of the first and the last candle, ISO 8601 UTC. */
  readonly first: string;
  readonly last: string;
  /** Checksum of the bytes of all columns, hexadecimal. */
  readonly sha256: string;
}

/** The forex instrument by which a run converts a currency into its account's. */
export interface ResultConversion {
  /** Of instruments of the run. */
  readonly currency: string;
  readonly symbol: string;
  readonly exchange: string;
  /** True if its price is that of the account's currency in this one. */
  readonly is_inverse: boolean;
  readonly timeframe: string;
  /** With those before the range. */
  readonly candles: number;
  /** Open times of the first and the last candle, ISO 8601 UTC. */
  readonly first: string;
  readonly last: string;
  /** Checksum of the bytes of all columns, hexadecimal. */
  readonly sha256: string;
}

/** The candles of a run. */
interface ResultData {
  readonly candles: number;
  /** Open times of the first and the last candle, ISO 8601 UTC. */
  readonly first: string;
  readonly last: string;
  /** Checksum of the bytes of all columns, hexadecimal. */
  readonly sha256: string;
  /** Stretches without candles in trading hours. */
  readonly gaps: number;
  /** Absent in results from before instruments had a session. */
  readonly session?: ResultSession;
  /** Absent where the run has none. */
  readonly inputs?: readonly ResultInput[];
  /** Absent where all instruments count in one currency. */
  readonly conversions?: readonly ResultConversion[];
}

/** The stored result of a completed backtest, without trades, orders and equity: plain data, as clients read it. */
export interface BacktestResult {
  /** Equal for equal inputs. Results with equal keys differ only in their duration. */
  readonly run_key: string;
  readonly engine_version: string;
  /** Checksum of the WASM module; null for any other strategy. */
  readonly module_sha256: string | null;
  readonly data: ResultData;
  readonly execution: Execution;
  readonly metrics: Metrics;
  /** The reason for each null among the metrics. */
  readonly undefined_metrics: Readonly<Record<string, string>>;
  /** Null where no trade is ambiguous, and for remote strategies: their decisions are known for one outcome alone. */
  readonly bounds: Bounds | null;
  /** Notes for the reader, in words. */
  readonly notes: readonly string[];
  readonly integrity: Integrity;
  /** Of a run over many markets; absent for one. */
  readonly portfolio?: PortfolioSummary;
  readonly duration_ms: number;
}

/** A result's tables over markets as plain data, without its long columns. Rows are in the markets' order. */
export interface PortfolioSummary {
  readonly contributions: readonly {
    /** `SPY@ARCA`. */
    readonly instrument: string;
    /** Money, net of fees and financing, open trades at the last close. */
    readonly pnl: number;
    readonly fees: number;
    readonly trades: number;
    /** Fraction of the marks at which it was held. */
    readonly held: number;
    /** Fraction of the sum of all pnl; null where that is 0. */
    readonly share: number | null;
    /** Of the instrument's prices; absent where all count in one currency. */
    readonly currency?: string;
  }[];
  /** Over all marks with a position; null where there is none. */
  readonly holdings: {
    readonly mean: number;
    readonly largest_weight: number;
    readonly herfindahl: number;
  } | null;
  /** Weights at some marks: rows without zeros. `instrument` is a row of `contributions`. */
  readonly weights: {
    readonly timestamps: readonly string[];
    readonly rows: readonly (readonly [timestamp: number, instrument: number, weight: number])[];
  };
  /**
   * The profit of each market so far, net of fees, at the moments of `weights`: a row where it changed since the moment
   * before. Absent in results from before it was kept.
   */
  readonly profits?: {
    readonly rows: readonly (readonly [timestamp: number, instrument: number, money: number])[];
  };
  /** Correlation of daily returns of the markets' own closes; null where it is unknown. */
  readonly correlation: {
    readonly instruments: readonly number[];
    readonly values: readonly (readonly (number | null)[])[];
  };
  /** Mean over marks of the net and gross value of positions, as fractions of equity. */
  readonly exposure: {
    readonly net: number;
    readonly gross: number;
    /** The same at the moments of `weights`. Absent in results from before it was kept. */
    readonly over_time?: { readonly net: readonly number[]; readonly gross: readonly number[] };
  };
  /** The ends with worst prices that come together, as the result is, and with closes alone. Absent where they are the same. */
  readonly margin_bounds?: { readonly worst_together: Bound; readonly closes_only: Bound };
}

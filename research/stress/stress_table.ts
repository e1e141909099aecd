/** The table of a stress test: what becomes of a run where something is a little worse. */

/** Kinds of rows. `as_run` is the run itself; the others change one thing. */
export const STRESS_GROUPS = ["as_run", "costs", "fills", "parameters", "trades", "days", "years"] as const;
export type StressGroup = (typeof STRESS_GROUPS)[number];

/** Kinds of parts of a run. */
export const REGIME_GROUPS = ["years", "benchmark", "volatility"] as const;
type RegimeGroup = (typeof REGIME_GROUPS)[number];

/** The figures of a row, as in a backtest's metrics; null where they are undefined. */
export interface StressFigures {
  /** Fraction. */
  readonly total_return: number | null;
  readonly sharpe: number | null;
  /** Fraction, positive. */
  readonly max_drawdown: number | null;
  readonly trades: number | null;
}

/** One change, and what becomes of the run. */
export interface StressRow {
  readonly group: StressGroup;
  /** The change in words. */
  readonly name: string;
  /** Null where the run could not be made. */
  readonly figures: StressFigures | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** A part of the run's days. */
export interface RegimeRow {
  readonly group: RegimeGroup;
  readonly name: string;
  readonly days: number;
  readonly figures: StressFigures;
}

/** The result of a completed stress test. */
export interface StressResult {
  readonly rows: readonly StressRow[];
  readonly regimes: readonly RegimeRow[];
  /** The commission rate of each fill, beside the run's own costs, at which the profit is gone; null: without a profit, or beyond 0.5. */
  readonly break_even_cost: number | null;
  /** Remarks for the reader. */
  readonly notes: readonly string[];
  readonly duration_ms: number;
}

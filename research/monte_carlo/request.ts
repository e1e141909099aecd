import type { Sample } from "./path_sample.ts";

/** The ways to make paths that a request may choose. */
export const MONTE_CARLO_METHODS = ["trades", "returns", "candles"] as const;
export type MonteCarloMethod = (typeof MONTE_CARLO_METHODS)[number];

export const RUNS_MAX = 10_000;
/** Most paths of candles of an endpoint, which is called anew for each. */
export const ENDPOINT_RUNS_MAX = 100;
/** Most trades, days or candles of all paths together: a worker takes about a minute for them. */
export const PATH_STEPS_MAX = 1_000_000_000;
/** The share of its peak whose loss ruins a path, unless the request says otherwise. */
export const RUIN_DRAWDOWN = 0.5;

/** Paths on which the strategy failed in the same way. No sample counts them. */
export interface FailedPaths {
  readonly code: string;
  /** Of the first of them. */
  readonly message: string;
  readonly paths: number;
}

/** The result of a completed Monte Carlo simulation. */
export interface MonteCarloResult {
  /** One for each way to make paths: two for `trades`, which are shuffled and resampled. */
  readonly samples: readonly Sample[];
  /** Absent in results from before strategies other than built-in ones ran on paths. */
  readonly failed_paths?: readonly FailedPaths[];
  /** Remarks for the reader. */
  readonly notes: readonly string[];
  readonly duration_ms: number;
}

/**
 * The mean length of blocks where the request gives none: the cube root of the days, the order that Politis and Romano
 * (1994) derive for the variance of a mean.
 */
export function defaultBlockDays(days: number): number {
  return Math.max(1, Math.round(Math.cbrt(days)));
}

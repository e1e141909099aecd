import type { Finding } from "../../engine/result.ts";

/** The dry run of a strategy that may be registered. */
export interface DryRun {
  /** Candles before its first decision, with the given parameters. */
  readonly warmup: number;
  readonly candles: number;
  readonly orders: number;
  /** Of the orders that the simulator refused. */
  readonly refused: Finding;
  /** Of the run's result: no decision was due, or no order was placed. */
  readonly notes: readonly string[];
  readonly nanosecondsPerCandle: number;
  /** Present: the code decides on many markets at once; absent: on one. */
  readonly decidesOn?: "markets";
}

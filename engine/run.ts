import type { Candles } from "./candles.ts";
import type { Execution } from "./execution.ts";
import type { Metrics } from "./metrics/definitions.ts";
import type { OrderColumns } from "./orders.ts";
import type { Strategy } from "./strategy.ts";
import type { TradeColumns } from "./trades.ts";

/** Everything that a run depends on: equal inputs give equal bytes, on any machine. */
export interface RunInput {
  readonly candles: Candles;
  /** Candles before this one are lookback: indicators see them; there is no decision on them and no row of equity. */
  readonly firstIndex: number;
  readonly timeframeMs: number;
  /** Money, above zero. */
  readonly initialBalance: number;
  /** Complete, periodsPerYear included. */
  readonly execution: Execution;
  readonly strategy: Strategy;
  /**
   * May lie in shared memory: [0] is set to nonzero to stop the run, [1] receives the candles done. Both are looked at
   * every 65,536 candles. Null: nobody watches.
   */
  readonly control: Int32Array | null;
  /** Candles of a finer timeframe over the same time, for bothTouched "magnify"; absent or null where there are none. */
  readonly finer?: Candles | null;
}

/** How much the unknowable path inside a candle matters: the run's ends when stops, and when targets, come first. */
export interface Bounds {
  readonly stop_first: Bound;
  readonly target_first: Bound;
}

export interface Bound {
  readonly final_equity: number;
  readonly trades: number;
}

/** What a run gives: plain data that can be cloned from one thread to another. */
export interface RunResult {
  readonly trades: TradeColumns;
  /** Money at each candle's close, a value per candle from firstIndex. */
  readonly equity: Float64Array;
  /** Units held at each candle's close, negative when short; as long as `equity`. */
  readonly position: Float64Array;
  readonly metrics: Metrics;
  /** The reason for each null among the metrics. */
  readonly undefinedMetrics: Readonly<Record<string, string>>;
  /** Null where no trade is ambiguous. */
  readonly bounds: Bounds | null;
  readonly orders: OrderColumns;
  /** What the reader of the result should know, in words. */
  readonly notes: readonly string[];
}

/** The run was asked to stop through its control words. */
export class RunStopped extends Error {
  override readonly name = "RunStopped";

  constructor(readonly candlesDone: number) {
    super(`The run was stopped after ${candlesDone} candles`);
  }
}

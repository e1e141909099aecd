import type { Execution } from "./execution.ts";
import type { Metrics } from "./metrics/definitions.ts";
import type { Bounds } from "./run.ts";

/** What was found when a strategy was put to the test. */
export interface Integrity {
  /** Whether decisions depend on candles that came later. */
  readonly lookahead: Finding;
  /** Whether the same candles lead to the same decisions. */
  readonly determinism: Finding;
  /** Whether decisions depend on how many candles came before the range. */
  readonly warm_up: Finding;
  /** Whether the simulator refused orders. */
  readonly orders: Finding;
}

export interface Finding {
  readonly status: "passed" | "failed" | "skipped";
  /** What was done and seen, in a sentence. */
  readonly evidence: string;
}

/** The candles that a run was made of. */
interface ResultData {
  readonly candles: number;
  /** Open of the first one, ISO 8601 UTC; `last` that of the last. */
  readonly first: string;
  readonly last: string;
  /** Of all their columns' bytes, hexadecimal. */
  readonly sha256: string;
  /** Stretches without candles where trade was to be expected. */
  readonly gaps: number;
}

/** What is kept of a completed backtest besides its trades, orders and equity: plain data, as clients read it. */
export interface BacktestResult {
  /** Equal for equal inputs, and then all else but the duration is equal, too. */
  readonly run_key: string;
  readonly engine_version: string;
  /** Of the WASM module that decided; null for any other strategy. */
  readonly module_sha256: string | null;
  readonly data: ResultData;
  readonly execution: Execution;
  readonly metrics: Metrics;
  /** The reason for each null among the metrics. */
  readonly undefined_metrics: Readonly<Record<string, string>>;
  /** Null where no trade is ambiguous, and where an endpoint decided, which was asked for one outcome alone. */
  readonly bounds: Bounds | null;
  /** What the reader should know, in words. */
  readonly notes: readonly string[];
  readonly integrity: Integrity;
  readonly duration_ms: number;
}

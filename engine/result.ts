import type { Execution } from "./execution.ts";
import type { Metrics } from "./metrics/definitions.ts";
import type { Bounds } from "./run.ts";

/** Findings of the checks on a strategy's honesty. */
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
  /** The check and its outcome, in a sentence. */
  readonly evidence: string;
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
  readonly duration_ms: number;
}

import type { Candles } from "../engine/candles.ts";
import type { AssetClass, Execution } from "../engine/execution.ts";
import type { Integrity } from "../engine/result.ts";
import type { RunResult } from "../engine/run.ts";

/** Everything that a built-in strategy's run is made of. */
export interface RunTask {
  readonly slug: string;
  /** The strategy's own, defaults filled in. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Over shared memory, so that handing them over copies nothing. */
  readonly candles: Candles;
  /** Candles before this one are lookback. */
  readonly firstIndex: number;
  readonly initialBalance: number;
  /** Complete, periodsPerYear included. */
  readonly execution: Execution;
  readonly timeframeMs: number;
  /** The instrument's; null where it is not known. */
  readonly assetClass: AssetClass | null;
  /** Candles of a finer timeframe over the same time, for bothTouched "magnify"; null where there are none. */
  readonly finer: Candles | null;
  /** Chooses where the integrity checks look; an unsigned 32-bit number. */
  readonly seed: number;
}

/** What a sandbox is told. `control` is shared memory, see engine/control.ts. */
export type ToSandbox = { readonly type: "run"; readonly task: RunTask; readonly control: Int32Array };

/** What a sandbox says about the run that it was given. */
export type FromSandbox =
  | { readonly type: "done"; readonly result: RunResult; readonly integrity: Integrity }
  | { readonly type: "stopped"; readonly candlesDone: number }
  | { readonly type: "failed"; readonly code: RunFailureCode; readonly message: string }
  | { readonly type: "broken"; readonly message: string };

/** Why a run has no result, where the fault is the strategy's. */
export type RunFailureCode = "INVALID_SIGNAL" | "STRATEGY_FAILED";

/** An endpoint whose name has been looked up and checked: calls go to this one address, whatever the name means later. */
export interface PinnedEndpoint {
  /** In full, without fragment. It may hold its owner's token: never log it. */
  readonly url: string;
  /** `name:port`, for messages; of another user's what stands for it. */
  readonly host: string;
  /** Whether its owner alone may read where it is. */
  readonly isForeign?: boolean;
  /** Name or address, without brackets: what TLS verifies. */
  readonly hostname: string;
  /** IPv4, or IPv6 without brackets. */
  readonly address: string;
  readonly port: number;
  readonly secure: boolean;
}

/** Everything that a remote strategy's run is made of. */
export interface RemoteTask {
  /** What the endpoint is told about whose run it is. */
  readonly runId: string;
  readonly endpoint: PinnedEndpoint;
  /** `batch` asks for many decisions at once; `step` for one, with the account. */
  readonly mode: "batch" | "step";
  /** For each request. */
  readonly timeoutMs: number;
  /** Candles before an asked one that the endpoint is given, as far as they are held. */
  readonly lookbackCandles: number;
  /** Candles that must have been seen, the deciding one included, before the first decision; at least 1. */
  readonly minCandles: number;
  /** The strategy's own, defaults filled in. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly candles: Candles;
  /** Candles before this one are lookback. */
  readonly firstIndex: number;
  readonly initialBalance: number;
  /** Complete, periodsPerYear included. */
  readonly execution: Execution;
  readonly timeframeMs: number;
  /** The instrument's; null where it is not known. */
  readonly assetClass: AssetClass | null;
  /** Candles of a finer timeframe over the same time, for bothTouched "magnify"; absent or null where there are none. */
  readonly finer?: Candles | null;
  /** Chooses where the integrity checks look; an unsigned 32-bit number. */
  readonly seed: number;
}

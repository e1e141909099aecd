import type { Account } from "../../research/monte_carlo/paths.ts";
import type { FailedPaths } from "../../research/monte_carlo/request.ts";
import type { MadeSample } from "../../research/monte_carlo/path_sample.ts";
import type { RunTask } from "../common/protocol.ts";

/** The settings that every task of paths has. */
export interface PathsCommon {
  readonly runs: number;
  readonly seed: number;
  readonly ruinDrawdown: number;
}

/** Everything that decides the paths of a Monte Carlo simulation without code of a user. */
export type PathsTask =
  & PathsCommon
  & (
    /** Returns of trades, to be shuffled and to be resampled. */
    | { readonly method: "trades"; readonly account: Account; readonly returns: Float64Array }
    /** Returns of days; the mean length of blocks is in days. */
    | {
      readonly method: "returns";
      readonly account: Account;
      readonly returns: Float64Array;
      readonly blockLength: number;
    }
    /** A run of a built-in strategy; the mean length of blocks is in candles. */
    | { readonly method: "candles"; readonly run: RunTask; readonly blockLength: number }
  );

/** Paths of candles, from one to before another. */
export interface CandlePathsTask {
  /** With the real candles, and without what belongs to those alone: finer ones and a benchmark. */
  readonly task: Omit<RunTask, "slug" | "parameters">;
  readonly pathSeed: number;
  /** Mean length of blocks, in candles. */
  readonly blockLength: number;
  /** Path 0 is the real one: the task's candles. */
  readonly from: number;
  readonly until: number;
}

/** The message to a thread of paths, which it answers with an `Outcome<MadePaths>`. */
export interface ToPathsWorker {
  readonly task: PathsTask;
  /** Shared memory, see engine/control.ts; its candles are paths. */
  readonly control: Int32Array;
}

/** The value of a completed task. */
export interface MadePaths {
  readonly samples: readonly MadeSample[];
  /** Paths on which the strategy failed; absent: none. */
  readonly failed?: readonly FailedPaths[];
}

/** How many paths a task makes in all. */
export function countPaths({ method, runs }: { readonly method: string; readonly runs: number }): number {
  return method === "trades" ? 2 * runs : runs;
}

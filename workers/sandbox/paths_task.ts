import type { Account } from "../../research/monte_carlo/paths.ts";
import type { Sample } from "../../research/monte_carlo/path_sample.ts";
import type { RunTask } from "../protocol.ts";

/** Everything that decides the paths of a Monte Carlo simulation. */
export type PathsTask =
  & {
    readonly runs: number;
    readonly seed: number;
    readonly ruinDrawdown: number;
  }
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

/** The message to a thread of paths, which it answers with an `Outcome<MadePaths>`. */
export interface ToPathsWorker {
  readonly task: PathsTask;
  /** Shared memory, see engine/control.ts; its candles are paths. */
  readonly control: Int32Array;
}

/** The value of a completed task. */
export interface MadePaths {
  readonly samples: readonly Sample[];
}

/** How many paths a task makes in all. */
export function countPaths({ method, runs }: PathsTask): number {
  return method === "trades" ? 2 * runs : runs;
}

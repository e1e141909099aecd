/** Runs of a user's code on paths of candles. */
import type { Candles } from "../../engine/candles.ts";
import { PriceRangeError } from "../../research/monte_carlo/candle_paths.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import { drawPaths, PathPlayer } from "./path_runs.ts";
import type { Strategy } from "../../engine/strategy.ts";
import type { PathOutcome, PathsRun } from "./task.ts";
import type { TrialListener } from "./trials.ts";

/**
 * Runs the paths of a job, and reports each as it ends.
 *
 * @param make Makes an instance of the strategy for one path. @throws {RunError}
 */
export function runPaths(
  job: PathsRun,
  make: () => Strategy,
  { control, report, attempt = (run) => run() }: TrialListener,
): Outcome<object> {
  const player = new PathPlayer(job.task, control);
  let path = job.from;
  try {
    for (const candles of drawPaths(job)) {
      const outcome = attempt(() => attemptPath(player, candles, make));
      // Without the real run, there is nothing to compare the others with.
      if (path++ === 0 && outcome.type === "failed") return outcome;
      report({ type: "path", outcome });
    }
  } catch (error) {
    if (!(error instanceof PriceRangeError)) throw error;
    return { type: "failed", code: "NO_DATA", message: error.message };
  }
  return { type: "completed" };
}

function attemptPath(player: PathPlayer, candles: Candles, make: () => Strategy): PathOutcome {
  try {
    return { type: "completed", ...player.play(candles, make()) };
  } catch (error) {
    if (error instanceof RunError) return error.outcome;
    throw error;
  }
}

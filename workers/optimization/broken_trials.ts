/** Trials whose code ends its process: such a trial fails, and the others go on. */
import { getLogger } from "@logtape/logtape";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { SliceRun } from "../common/protocol.ts";
import type { CollectedTrials } from "./collected_trials.ts";

const log = getLogger(["hindcast", "queue"]);

/** Trials in a row that end their processes; the next one would, too. */
const BROKEN_MAX = 5;
const BROKE_TWICE = "Cannot finish: its process ended twice without an answer";
const BROKEN =
  `Cannot go on: ${BROKEN_MAX} trials in a row ended their processes without an answer, each of them twice; ` +
  "run one of them as a backtest to find out why";

/**
 * Runs a process for trials. Where it breaks in a trial, another one runs that trial again, because the system may have ended the first;
 * where this breaks, too, the trial fails, and a process goes on with those after it.
 *
 * @param run Starts a process for the trials that are left.
 * @param msMax Processes that take half as long are left to another attempt of the slice.
 * @throws {RunError} After five trials in a row that end their processes.
 */
export async function runPastBroken(
  collected: CollectedTrials,
  run: () => Promise<Outcome<object>>,
  msMax: number,
): Promise<Outcome<SliceRun>> {
  const until = performance.now() + msMax / 2;
  let [breaks, failed] = [0, 0];
  while (collected.left > 0) {
    const { done } = collected;
    const outcome = await run();
    if (outcome.type !== "broken") return collected.end(outcome);
    log.warn("A process of trials broke: {reason}", { reason: outcome.message });
    if (collected.done > done) [breaks, failed] = [0, 0];
    if (++breaks === 2) {
      if (++failed === BROKEN_MAX) throw new RunError("STRATEGY_FAILED", BROKEN);
      breaks = 0;
      collected.add({ type: "failed", code: "STRATEGY_FAILED", message: BROKE_TWICE });
    }
    if (performance.now() >= until) return collected.end(outcome);
  }
  return collected.end({ type: "completed" });
}

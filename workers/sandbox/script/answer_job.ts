import { brokenBy } from "../../common/outcome.ts";
import type { FromChild, ToChildWorker } from "../task.ts";
import { type Compile, doScriptJob, doScriptRuns } from "./run.ts";

/** The ways of a Worker for scripts. */
interface ScriptWorker {
  report(message: FromChild<object>): void;
  countIn(decided: SharedArrayBuffer): void;
  /** Compiles the script of one run. */
  readonly compile: Compile;
  /** Compiles the script of many runs. */
  readonly compileForMany: Compile;
}

/** Does the job of a script. The code of many markets is loaded where it is needed: a tenth of the start. */
export async function answerScriptJob(
  { job, control }: ToChildWorker,
  { report, countIn, compile, compileForMany }: ScriptWorker,
): Promise<FromChild<object>> {
  try {
    switch (job.kind) {
      case "script":
      case "check_script":
        return await doScriptJob(job, { control, report, countIn }, compile);
      case "script_markets": {
        const { doScriptMarkets } = await import("./markets.ts");
        return await doScriptMarkets(job, { control, report }, compile);
      }
      case "script_markets_trials": {
        const { doScriptMarketsTrials } = await import("./markets_trials.ts");
        return await doScriptMarketsTrials(job, { control, report }, compileForMany);
      }
      case "script_trials":
      case "script_paths":
        return await doScriptRuns(job, { control, report, countIn }, compileForMany);
      default:
        return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
    }
  } catch (error) {
    return brokenBy(error);
  }
}

/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one script. It has no permission. */
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { brokenBy } from "../../common/outcome.ts";
import { encodeFrame } from "../frames.ts";
import { CALLS } from "../decision_calls.ts";
import type { FromChild, ToChildWorker } from "../task.ts";
import { compileScript } from "./compile.ts";
import { doScriptJob, doScriptRuns } from "./run.ts";
import { warmUp } from "./warm_up.ts";

/** A process that was started for a job has it by then. */
const IDLE_MS = 50;
let isIdle = true;

self.postMessage({ calls: CALLS });

self.onmessage = async ({ data: { job, control } }: MessageEvent<ToChildWorker>) => {
  isIdle = false;
  post(await answer(job, control));
};

// Without V8's compilers, which also make WebAssembly, nothing becomes quicker.
if (typeof WebAssembly !== "undefined") setTimeout(() => void warmUp(() => isIdle), IDLE_MS);

function post(message: FromChild<object>): void {
  const frame = encodeFrame(message);
  self.postMessage(frame, [...buffersOf(frame)]);
}

/** The code of many markets is loaded where it is needed: a tenth of the start. */
async function answer(job: ToChildWorker["job"], control: Int32Array): Promise<FromChild<object>> {
  const countIn = (decided: SharedArrayBuffer) => self.postMessage(decided);
  const compile = (source: string) => compileScript(source, "isMarked" in job && job.isMarked ? countIn : null);
  try {
    switch (job.kind) {
      case "script":
      case "check_script":
        return await doScriptJob(job, { control, report: post, countIn }, compile);
      case "script_markets": {
        const { doScriptMarkets } = await import("./markets.ts");
        return await doScriptMarkets(job, { control, report: post }, compile);
      }
      case "script_markets_trials": {
        const { doScriptMarketsTrials } = await import("./markets_trials.ts");
        return await doScriptMarketsTrials(job, { control, report: post }, compileScript);
      }
      case "script_trials":
      case "script_paths":
        return await doScriptRuns(job, { control, report: post, countIn }, compileScript);
      default:
        return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
    }
  } catch (error) {
    return brokenBy(error);
  }
}

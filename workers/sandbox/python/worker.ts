/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one Python script. It has no permission. */
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { brokenBy } from "../../common/outcome.ts";
import { encodeFrame } from "../frames.ts";
import { CALLS } from "../decision_calls.ts";
import { doScriptJob, doScriptRuns } from "../script/run.ts";
import type { FromChild, InterpreterMessage, ToChildWorker } from "../task.ts";
import { compilePython } from "./compile.ts";
import { Interpreter } from "./interpreter.ts";

const ready = Promise.withResolvers<Interpreter>();
let isUsed = false;

self.postMessage({ calls: CALLS });

self.onmessage = async ({ data }: MessageEvent<InterpreterMessage | ToChildWorker>) => {
  if ("interpreter" in data) ready.resolve(new Interpreter(data.interpreter));
  else post(await answer(data));
};

function post(message: FromChild<object>): void {
  const frame = encodeFrame(message);
  self.postMessage(frame, [...buffersOf(frame)]);
}

/** The code of many markets is loaded where it is needed: a tenth of the start. */
async function answer({ job, control }: ToChildWorker): Promise<FromChild<object>> {
  const countIn = (decided: SharedArrayBuffer) => self.postMessage(decided);
  const compile = async (source: string) => {
    const python = await ready.promise;
    // A job that continues another begins as that one did.
    if (isUsed) python.reset();
    isUsed = true;
    return compilePython(source, python);
  };
  try {
    switch (job.kind) {
      case "script":
      case "check_script":
        return await doScriptJob(job, { control, report: post, countIn }, compile);
      case "script_markets": {
        const { doScriptMarkets } = await import("../script/markets.ts");
        return await doScriptMarkets(job, { control, report: post }, compile);
      }
      case "script_markets_trials": {
        const { doScriptMarketsTrials } = await import("../script/markets_trials.ts");
        return await doScriptMarketsTrials(job, { control, report: post }, compile);
      }
      case "script_trials":
      case "script_paths":
        return await doScriptRuns(job, { control, report: post, countIn }, compile);
      default:
        return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
    }
  } catch (error) {
    return brokenBy(error);
  }
}

/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one script. It has no permission. */
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { brokenBy } from "../../outcome.ts";
import { encodeFrame } from "../frames.ts";
import type { FromChild, ToChildWorker } from "../task.ts";
import { doScriptJob, doScriptTrials } from "./run.ts";

self.onmessage = async ({ data: { job, control } }: MessageEvent<ToChildWorker>) => post(await answer(job, control));

function post(message: FromChild<object>): void {
  const frame = encodeFrame(message);
  self.postMessage(frame, [...buffersOf(frame)]);
}

async function answer(job: ToChildWorker["job"], control: Int32Array): Promise<FromChild<object>> {
  if (job.kind !== "script" && job.kind !== "check_script" && job.kind !== "script_trials") {
    return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
  }
  try {
    if (job.kind === "script_trials") return await doScriptTrials(job, { control, report: post });
    return await doScriptJob(job, control, post);
  } catch (error) {
    return brokenBy(error);
  }
}

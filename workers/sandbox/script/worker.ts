/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one script. It has no permission. */
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { brokenBy, type Outcome } from "../../outcome.ts";
import { encodeFrame } from "../frames.ts";
import type { ToChildWorker } from "../task.ts";
import { doScriptJob } from "./run.ts";

self.onmessage = async ({ data: { job, control } }: MessageEvent<ToChildWorker>) => {
  const outcome = await answer(job, control);
  const frame = encodeFrame(outcome);
  self.postMessage(frame, [...buffersOf(frame)]);
};

async function answer(job: ToChildWorker["job"], control: Int32Array): Promise<Outcome<object>> {
  if (job.kind !== "script" && job.kind !== "check_script") {
    return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
  }
  try {
    return await doScriptJob(job, control);
  } catch (error) {
    return brokenBy(error);
  }
}

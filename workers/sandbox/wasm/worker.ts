/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one WebAssembly module. It has no permission. */
import { brokenBy, type Outcome } from "../../outcome.ts";
import type { ToChildWorker } from "../task.ts";
import { encodeFrame } from "../frames.ts";
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { doWasmJob } from "./run.ts";

self.onmessage = ({ data: { job, control } }: MessageEvent<ToChildWorker>) => {
  const outcome = answer(job, control);
  const frame = encodeFrame(outcome);
  self.postMessage(frame, [...buffersOf(frame)]);
};

function answer(job: ToChildWorker["job"], control: Int32Array): Outcome<object> {
  if (job.kind !== "run" && job.kind !== "validate") {
    return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
  }
  try {
    return doWasmJob(job, control);
  } catch (error) {
    return brokenBy(error);
  }
}

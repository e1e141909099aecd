/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one WebAssembly module. It has no permission. */
import { brokenBy } from "../../outcome.ts";
import type { FromChild, ToChildWorker } from "../task.ts";
import { encodeFrame } from "../frames.ts";
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { doWasmJob } from "./run.ts";

self.onmessage = ({ data: { job, control } }: MessageEvent<ToChildWorker>) => {
  const frame = encodeFrame(answer(job, control));
  self.postMessage(frame, [...buffersOf(frame)]);
};

function answer(job: ToChildWorker["job"], control: Int32Array): FromChild<object> {
  if (job.kind !== "run" && job.kind !== "validate") {
    return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
  }
  try {
    return doWasmJob(job, control);
  } catch (error) {
    return brokenBy(error);
  }
}

/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** What runs inside a sandbox process's Web Worker, without any permission: one WebAssembly module. */
import { brokenBy, type Outcome } from "../../outcome.ts";
import type { ToChildWorker } from "../task.ts";
import { buffersOf } from "../transfer.ts";
import { doWasmJob } from "./run.ts";

self.onmessage = ({ data: { job, control } }: MessageEvent<ToChildWorker>) => {
  const said = answer(job, control);
  self.postMessage(said, [...buffersOf(said)]);
};

function answer(job: ToChildWorker["job"], control: Int32Array): Outcome<object> {
  if (job.kind === "remote") return { type: "broken", message: `Cannot do a job of the kind ${job.kind} here` };
  try {
    return doWasmJob(job, control);
  } catch (error) {
    return brokenBy(error);
  }
}

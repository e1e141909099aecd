/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** What runs inside a Web Worker that may call one address and nothing else: one remote strategy. */
import { type RunProgress, writeProgress } from "../../../engine/control.ts";
import { brokenBy, type Outcome } from "../../outcome.ts";
import type { SandboxRun, ToChildWorker } from "../task.ts";
import { runRemote } from "./run.ts";
import { buffersOf } from "../transfer.ts";

self.onmessage = async ({ data: { job, control } }: MessageEvent<ToChildWorker>) => {
  const said = await answer(job, (progress) => writeProgress(control, progress));
  self.postMessage(said, [...buffersOf(said)]);
};

async function answer(
  job: ToChildWorker["job"],
  onProgress: (progress: RunProgress) => void,
): Promise<Outcome<SandboxRun>> {
  if (job.kind !== "remote") return { type: "broken", message: `Cannot do a job of the kind ${job.kind} here` };
  try {
    return await runRemote(job.task, onProgress);
  } catch (error) {
    return brokenBy(error);
  }
}

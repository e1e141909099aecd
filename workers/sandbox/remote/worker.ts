/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one remote strategy. It may call one address and nothing else. */
import { type RunProgress, writeProgress } from "../../../engine/control.ts";
import { brokenBy, type Outcome } from "../../common/outcome.ts";
import type { SandboxMarkets, SandboxRun, ToChildWorker } from "../task.ts";
import { runRemoteMarkets } from "./run_markets.ts";
import { runRemote } from "./run.ts";
import { encodeFrame } from "../frames.ts";
import { buffersOf } from "../../../engine/buffer_pool.ts";

self.onmessage = async ({ data: { job, control } }: MessageEvent<ToChildWorker>) => {
  const outcome = await answer(job, (progress) => writeProgress(control, progress));
  const frame = encodeFrame(outcome);
  self.postMessage(frame, [...buffersOf(frame)]);
};

async function answer(
  job: ToChildWorker["job"],
  onProgress: (progress: RunProgress) => void,
): Promise<Outcome<SandboxRun | SandboxMarkets>> {
  if (job.kind !== "remote" && job.kind !== "remote_markets") {
    return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
  }
  try {
    return job.kind === "remote" ? await runRemote(job.task, onProgress) : await runRemoteMarkets(job.task, onProgress);
  } catch (error) {
    return brokenBy(error);
  }
}

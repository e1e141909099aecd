/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one WebAssembly module. It has no permission. */
import { brokenBy } from "../../common/outcome.ts";
import type { FromChild, ToChildWorker } from "../task.ts";
import { encodeFrame } from "../frames.ts";
import { CALLS } from "../decision_calls.ts";
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { DECIDED } from "./driver.ts";
import { doWasmMarkets, doWasmMarketsTrials } from "./markets.ts";
import { doWasmJob, doWasmRuns } from "./run.ts";

self.postMessage(DECIDED);
self.postMessage({ calls: CALLS });

self.onmessage = ({ data: { job, control } }: MessageEvent<ToChildWorker>) => post(answer(job, control));

function post(message: FromChild<object>): void {
  const frame = encodeFrame(message);
  self.postMessage(frame, [...buffersOf(frame)]);
}

function answer(job: ToChildWorker["job"], control: Int32Array): FromChild<object> {
  try {
    switch (job.kind) {
      case "run":
      case "validate":
        return doWasmJob(job, control, post);
      case "run_markets":
        return doWasmMarkets(job, control, post);
      case "run_markets_trials":
        return doWasmMarketsTrials(job, { control, report: post });
      case "run_trials":
      case "run_paths":
        return doWasmRuns(job, { control, report: post });
      default:
        return { type: "broken", message: `Cannot run a ${job.kind} job in this Worker` };
    }
  } catch (error) {
    return brokenBy(error);
  }
}

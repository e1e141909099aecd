/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one script. It has no permission. */
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { encodeFrame } from "../frames.ts";
import { CALLS } from "../decision_calls.ts";
import type { FromChild, ToChildWorker } from "../task.ts";
import { answerScriptJob } from "./answer_job.ts";
import { compileScript } from "./compile.ts";
import { warmUp } from "./warm_up.ts";

/** A process that was started for a job has it by then. */
const IDLE_MS = 50;
let isIdle = true;

self.postMessage({ calls: CALLS });

self.onmessage = async ({ data }: MessageEvent<ToChildWorker>) => {
  isIdle = false;
  const { job } = data;
  const compile = (source: string) => compileScript(source, "isMarked" in job && job.isMarked ? countIn : null);
  post(await answerScriptJob(data, { report: post, countIn, compile, compileForMany: compileScript }));
};

function countIn(decided: SharedArrayBuffer): void {
  self.postMessage(decided);
}

// Without V8's compilers, which also make WebAssembly, nothing becomes quicker.
if (typeof WebAssembly !== "undefined") setTimeout(() => void warmUp(() => isIdle), IDLE_MS);

function post(message: FromChild<object>): void {
  const frame = encodeFrame(message);
  self.postMessage(frame, [...buffersOf(frame)]);
}

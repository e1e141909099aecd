/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process for one Python script. It has no permission. */
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { encodeFrame } from "../frames.ts";
import { CALLS } from "../decision_calls.ts";
import { answerScriptJob } from "../script/answer_job.ts";
import type { FromChild, InterpreterMessage, ToChildWorker } from "../task.ts";
import { compilePython } from "./compile.ts";
import { Interpreter } from "./interpreter.ts";

const ready = Promise.withResolvers<Interpreter>();
let isUsed = false;

self.postMessage({ calls: CALLS });

self.onmessage = async ({ data }: MessageEvent<InterpreterMessage | ToChildWorker>) => {
  if ("interpreter" in data) ready.resolve(new Interpreter(data.interpreter));
  else post(await answerScriptJob(data, { report: post, countIn, compile, compileForMany: compile }));
};

function countIn(decided: SharedArrayBuffer): void {
  self.postMessage(decided);
}

function post(message: FromChild<object>): void {
  const frame = encodeFrame(message);
  self.postMessage(frame, [...buffersOf(frame)]);
}

async function compile(source: string) {
  const python = await ready.promise;
  // A job that continues another begins as that one did.
  if (isUsed) python.reset();
  isUsed = true;
  return compilePython(source, python);
}

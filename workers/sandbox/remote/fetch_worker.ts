/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** The Web Worker of a sandbox process that gets one address once. It may call that address and nothing else. */
import { brokenBy, type Outcome, RunError } from "../../common/outcome.ts";
import type { Fetched, FetchJob, ToChildWorker } from "../task.ts";
import { encodeFrame } from "../frames.ts";
import { buffersOf } from "../../../engine/buffer_pool.ts";
import { CallError, EndpointCaller } from "./http.ts";

self.onmessage = async ({ data: { job } }: MessageEvent<ToChildWorker>) => {
  const outcome = await answer(job);
  const frame = encodeFrame(outcome);
  self.postMessage(frame, [...buffersOf(frame)]);
};

async function answer(job: ToChildWorker["job"]): Promise<Outcome<Fetched>> {
  if (job.kind !== "fetch") return { type: "broken", message: `Cannot do a ${job.kind} job in this Worker` };
  try {
    return { type: "completed", body: await get(job) };
  } catch (error) {
    if (error instanceof CallError) return failed(job, error.message).outcome;
    return error instanceof RunError ? error.outcome : brokenBy(error);
  }
}

async function get(job: FetchJob): Promise<Uint8Array> {
  const { endpoint, timeoutMs, bytesMax } = job;
  const caller = new EndpointCaller(endpoint, 1);
  try {
    const { status, body } = await caller.get({ timeoutMs, bytesMax, signal: new AbortController().signal });
    if (status === 200) return body;
    const isRedirect = status >= 300 && status < 400;
    throw failed(job, `it answered HTTP ${status}${isRedirect ? ", and redirects are not followed" : ""}`);
  } finally {
    caller.close();
  }
}

function failed({ endpoint }: FetchJob, reason: string): RunError {
  return new RunError("ENDPOINT_FAILED", `Cannot fetch from ${endpoint.host}: ${reason}`);
}

import { type EgressRules, guardEndpoint, permissionFor } from "./guard.ts";
import type { Outcome } from "../common/outcome.ts";
import { runInSandbox } from "../sandbox/process.ts";
import { type Fetched, SANDBOX_BYTES_MAX } from "../sandbox/task.ts";

// A process starts in a tenth of this.
const START_MS_MAX = 2000;

/**
 * Fetches a user's URL under the rules of remote endpoints: one look-up, checked addresses, a pinned connection, no redirects. The
 * call is made by a sandbox process that may connect to the checked address alone, so an answer that is made to keep its reader
 * busy keeps nobody else waiting.
 *
 * @param limits `timeoutMs` for the whole answer; `bytesMax` of its body.
 * @returns `completed` with the body; `failed` with ENDPOINT_FAILED when no answer with status 200 comes within the limits.
 * @throws {RunError} ENDPOINT_NOT_ALLOWED with the reason; ENDPOINT_FAILED when the name has no address.
 */
export async function fetchGuarded(
  url: string,
  rules: EgressRules,
  limits: { readonly timeoutMs: number; readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<Outcome<Fetched>> {
  const { timeoutMs, bytesMax, signal } = limits;
  const endpoint = await guardEndpoint(url, rules);
  const outcome = await runInSandbox({ kind: "fetch", endpoint, timeoutMs, bytesMax }, {
    deadlineMs: START_MS_MAX + timeoutMs,
    memoryBytesMax: SANDBOX_BYTES_MAX,
    address: permissionFor(endpoint),
    onProgress: () => {},
    signal,
  });
  if (outcome.type !== "failed" || outcome.code === "ENDPOINT_FAILED") return outcome;
  // The process came to an end of its own: too late, or with too much memory.
  const reason = outcome.code === "STRATEGY_TIMED_OUT"
    ? `it did not answer within ${timeoutMs} ms`
    : "its answer takes too much memory";
  return { ...outcome, code: "ENDPOINT_FAILED", message: `Cannot fetch from ${endpoint.host}: ${reason}` };
}

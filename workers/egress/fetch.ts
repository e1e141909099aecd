import { type EgressRules, guardEndpoint } from "./guard.ts";
import { RunError } from "../outcome.ts";
import { CallError, EndpointCaller, type HttpAnswer } from "../sandbox/remote/http.ts";

/**
 * Fetches a user's URL under the rules of remote endpoints: one look-up, checked addresses, a pinned connection, no redirects.
 *
 * @param limits `timeoutMs` for the whole answer; `bytesMax` of its body.
 * @returns The body.
 * @throws {RunError} ENDPOINT_NOT_ALLOWED with the reason; ENDPOINT_FAILED when no answer with status 200 comes within the limits.
 */
export async function fetchGuarded(
  url: string,
  rules: EgressRules,
  limits: { readonly timeoutMs: number; readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const endpoint = await guardEndpoint(url, rules);
  const caller = new EndpointCaller(endpoint, 1);
  let answer: HttpAnswer;
  try {
    answer = await caller.get(limits);
  } catch (error) {
    if (error instanceof CallError) throw failed(endpoint.host, error.message);
    throw error;
  } finally {
    caller.close();
  }
  if (answer.status === 200) return answer.body;
  const isRedirect = answer.status >= 300 && answer.status < 400;
  throw failed(
    endpoint.host,
    `it answered HTTP ${answer.status}${isRedirect ? ", and redirects are not followed" : ""}`,
  );
}

function failed(host: string, reason: string): RunError {
  return new RunError("ENDPOINT_FAILED", `Cannot fetch from ${host}: ${reason}`);
}

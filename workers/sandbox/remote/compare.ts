import type { Finding, Integrity } from "../../../engine/result.ts";
import { RunError } from "../../outcome.ts";
import type { Action } from "./answer.ts";
import type { RemoteClient } from "./client.ts";
import type { Stretch } from "./request.ts";

type Asked = readonly (readonly Action[])[];

/** The first candle on which two answers differ, or the failure of the second. */
export interface Difference {
  readonly index: number;
  /** The end of the second request's stretch. */
  readonly until: number;
  readonly failure: string | null;
}

/**
 * Sends a request again.
 *
 * @param before The first answer, a list for each candle.
 * @returns The first difference; null when the answers are the same.
 */
export async function askAgain(
  client: RemoteClient,
  stretch: Stretch,
  request: string,
  before: Asked,
): Promise<Difference | null> {
  try {
    const answer = await client.askWith(stretch, request);
    // The reader builds actions in a fixed order of fields, so equal actions have equal JSON. NaN becomes null in both.
    const n = answer.findIndex((actions, n) => JSON.stringify(actions) !== JSON.stringify(before[n]));
    return n < 0 ? null : { index: stretch.first + n, until: stretch.until, failure: null };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { index: stretch.until - 1, until: stretch.until, failure: error.message };
  }
}

/** The finding of a check that was skipped because an earlier one did not pass. */
export function skipAfter({ status }: Finding): Finding {
  const reason = status === "failed"
    ? "an endpoint whose answers to equal requests differ would fail this check anyway"
    : "the endpoint failed on the repeated request";
  return { status: "skipped", evidence: `Not tested: ${reason}.` };
}

/** The findings when there is nothing to test. */
export function skipAll(evidence: string): Omit<Integrity, "orders"> {
  const finding: Finding = { status: "skipped", evidence };
  return { lookahead: finding, determinism: finding, warm_up: finding };
}

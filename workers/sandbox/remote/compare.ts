import type { Finding, Integrity } from "../../../engine/result.ts";
import { RunError } from "../../outcome.ts";
import type { Action } from "./answer.ts";
import type { RemoteClient } from "./client.ts";
import type { Stretch } from "./request.ts";

type Asked = readonly (readonly Action[])[];

/** The first candle on which two answers differ, or the failure that stood in an answer's place. */
export interface Difference {
  readonly index: number;
  /** Where the second question ended. */
  readonly until: number;
  readonly failure: string | null;
}

/**
 * Asks a question again.
 *
 * @param before What was answered the first time, a list a candle.
 * @returns Where the answers part; null when they are the same.
 */
export async function askAgain(
  client: RemoteClient,
  stretch: Stretch,
  request: string,
  before: Asked,
): Promise<Difference | null> {
  try {
    const answer = await client.askWith(stretch, request);
    // Actions are read field by field in a fixed order, so equal ones are written alike; NaN becomes null in both.
    const n = answer.findIndex((actions, n) => JSON.stringify(actions) !== JSON.stringify(before[n]));
    return n < 0 ? null : { index: stretch.first + n, until: stretch.until, failure: null };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { index: stretch.until - 1, until: stretch.until, failure: error.message };
  }
}

/** Findings of a check that had to follow another, which did not pass. */
export function skipAfter({ status }: Finding): Finding {
  const reason = status === "failed"
    ? "an endpoint that decides differently when it is asked again shows differences anyway"
    : "the endpoint failed when it was asked again";
  return { status: "skipped", evidence: `Not tested: ${reason}.` };
}

/** Findings where nothing could be tested. */
export function skipAll(evidence: string): Omit<Integrity, "orders"> {
  const finding: Finding = { status: "skipped", evidence };
  return { lookahead: finding, determinism: finding, warm_up: finding };
}

import type { Finding, Integrity } from "../../../engine/result.ts";
import { RunError } from "../../common/outcome.ts";
import type { Action } from "./answer.ts";
import type { RemoteClient } from "./client.ts";
import type { Stretch } from "./stretch.ts";

// Two independent hashes of 32 bits: FNV-1a, and one with another prime and a shift.
const [FNV_BASIS, FNV_PRIME] = [0x811c9dc5, 0x01000193];
const [MIX_BASIS, MIX_PRIME] = [0x9747b28c, 0x5bd1e995];

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
 * @param before The digest of the first answer's actions for each candle.
 * @returns The first difference; null when the answers are the same.
 */
export async function askAgain(
  client: RemoteClient,
  stretch: Stretch,
  request: string,
  before: ArrayLike<number>,
): Promise<Difference | null> {
  try {
    const { decisions } = await client.askWith(stretch, request);
    const n = decisions.findIndex((actions, n) => digestOf(actions) !== before[n]);
    return n < 0 ? null : { index: stretch.first + n, until: stretch.until, failure: null };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { index: stretch.until - 1, until: stretch.until, failure: error.message };
  }
}

/** A number for a list of actions: 0 for an empty one, and different for different ones, but for a chance of 2^-53. */
export function digestOf(actions: readonly Action[]): number {
  if (actions.length === 0) return 0;
  // The reader builds actions in a fixed order of fields, so equal actions have equal JSON. NaN becomes null in both.
  const text = JSON.stringify(actions);
  let [high, low] = [FNV_BASIS, MIX_BASIS];
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n);
    high = Math.imul(high ^ code, FNV_PRIME);
    low = Math.imul(low ^ code, MIX_PRIME);
    low ^= low >>> 15;
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0) || 1;
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

/** Reasons why a strategy's warm-up cannot be compared; null where it can. @param looks Candles with twice its lookback before them. */
export function skipWarmUp(lookbackCandles: number, looks: number): Finding | null {
  if (lookbackCandles === 0) return { status: "skipped", evidence: "The strategy asks for no candles of history." };
  if (looks > 0) return null;
  return { status: "skipped", evidence: `No candle has ${2 * lookbackCandles} candles of history before it.` };
}

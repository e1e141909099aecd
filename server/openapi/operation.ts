/** An operation of the API's description, and what several of them share. */
import { z } from "zod";
import type { ErrorCode } from "../../routers/common/errors.ts";

/** An operation, without what its row and its procedure say. */
export interface Operation {
  readonly summary: string;
  readonly description?: string;
  /** Refusals besides those that the access and the body bring along. */
  readonly codes?: readonly ErrorCode[];
  /** The answer's JSON where the procedure gives a stream; null where no format of the answer is JSON. */
  readonly output?: z.ZodType | null;
  /** The other formats of the answer. */
  readonly media?: readonly string[];
  /** A request's body that works. */
  readonly example?: unknown;
  /** Headers of the answer, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers of the request, with their meaning. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
}

export const TABLE_MEDIA = ["text/csv", "application/vnd.apache.arrow.stream"];
export const NEXT_CURSOR = { "X-Next-Cursor": "Of a page as CSV or Arrow: where the next one begins." };
export const LOCATION = { Location: "The path of what was made." };
export const KEYED = {
  "Idempotency-Key": "A submission that is sent again with the same key is answered with the first record.",
};
/** A run that a client can wait for. */
export const AWAITED = {
  description: "With `wait`, the answer comes when it has ended, or after that time.",
  headers: { ETag: "Send it as If-None-Match: 304 where nothing changed." },
};
/** The events of a run whose data is its record. */
export const RECORD_EVENTS = {
  description:
    "Server-sent events `status`, `progress` and `end`, each with the record as JSON; at most four a second.",
  output: null,
  media: ["text/event-stream"],
};
export const NO_CANDLES = ["INVALID_DATE_RANGE", "FUTURE_DATE_RANGE", "RANGE_TOO_LARGE", "SYMBOL_NOT_FOUND"] as const;
export const REGISTRATION = [
  "INVALID_PARAMETERS",
  "INVALID_MODULE",
  "INVALID_SCRIPT",
  "ENDPOINT_NOT_ALLOWED",
  "SCRIPTS_NOT_ALLOWED",
  "PYTHON_NOT_READY",
  "QUOTA_EXCEEDED",
] as const;

export const SUBMISSION = [
  ...NO_CANDLES,
  ...REGISTRATION,
  "UNKNOWN_STRATEGY",
  "AMBIGUOUS_STRATEGY",
  "TIMEFRAME_TOO_FINE",
  "STRATEGY_NOT_FOUND",
  "UNIVERSE_NOT_FOUND",
  "IDEMPOTENCY_CONFLICT",
] as const;

export const listOf = (name: string, item: z.ZodType) =>
  z.object({ [name]: z.array(item), next_cursor: z.string().nullable() });

/** What a failed record's `error.code` can be where the fault is not ours: trying again would end the same way, unless the owner makes room. */
export type RunErrorCode =
  | "NO_DATA"
  | "RANGE_TOO_LARGE"
  | "STRATEGY_FAILED"
  | "STRATEGY_TIMED_OUT"
  | "STRATEGY_OUT_OF_MEMORY"
  | "INVALID_SIGNAL"
  | "ENDPOINT_FAILED"
  | "ENDPOINT_NOT_ALLOWED"
  | "QUOTA_EXCEEDED";

/** A run that cannot have a result; code and message are shown to its owner. */
export class RunError extends Error {
  override readonly name = "RunError";
  constructor(readonly code: RunErrorCode, message: string) {
    super(message);
  }
}

/** What the owner is told when the fault is ours; the log has the rest. */
export const INTERNAL_ERROR = {
  code: "INTERNAL",
  message: "Cannot finish the run because of a fault of ours",
} as const;

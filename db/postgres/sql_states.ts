// An earlier statement of the transaction has failed.
const ABORTED = "25P02";

/** True if the server refused a statement because an earlier one of its transaction had failed. */
export function isAborted(error: unknown): boolean {
  return hasCode(error, ABORTED);
}

/** True if an error, or one of its causes, has the SQLSTATE. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (("code" in error && error.code === code) || hasCode(error.cause, code));
}

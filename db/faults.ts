// Lost and refused connections, a server that stops or starts, no room left (or nearly, see disk_space.ts), and transactions that were in each
// other's way. Not what a statement can bring upon itself each time, such as running out of memory or time.
const SQL_STATES = /^(08\w{3}|57P0\d|53000|53100|53300|58030|40001|40P01|25006)$/;
const NETWORK = /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
// A user or a password that is wrong, a database that does not exist.
const REFUSALS = /^(28\w{3}|3D000)$/;

/**
 * Whether an error tells of the state the database is in, not of what it was asked: the same may succeed a moment later.
 *
 * @param error What a query or a transaction threw, with its causes.
 */
export function isDatabaseFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  if (SQL_STATES.test(code) || NETWORK.test(code)) return true;
  if (error instanceof AggregateError && error.errors.some(isDatabaseFault)) return true;
  return isDatabaseFault(error.cause);
}

/** Whether the server answered that it will not let us in, which no waiting changes. */
export function isDatabaseRefusal(error: unknown): error is Error {
  return error instanceof Error && "code" in error && REFUSALS.test(String(error.code));
}

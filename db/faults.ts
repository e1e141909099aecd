import { ObjectStoreError } from "./objects/object_store.ts";
import { hasCode, isAborted } from "./postgres/sql_states.ts";

// Lost and refused connections, a server that stops or starts, a full disk (or a nearly full one, see disk_space.ts), deadlocks and
// serialization failures. Errors that the same statement would meet again, such as too little memory or time, are not in the list.
const SQL_STATES = /^(08\w{3}|57P0\d|53000|53100|53300|58030|40001|40P01|25006)$/;
const NETWORK = /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
// A full disk, a quota of it that is used up, and too many open files, where the database is in this process.
const FILES = /^(ENOSPC|EDQUOT|EMFILE|ENFILE)$/;
// Too little memory, a limit on temporary files, and files that a server cannot open or make: its disk may be full, and the statement may
// also be to blame.
const SHORTAGES = /^(53200|53400|58000|58P01|58P02)$/;
const FOREIGN_KEY = "23503";
// A wrong user or password, a missing database, a missing right.
const REFUSALS = /^(28\w{3}|3D000|42501)$/;

/**
 * True if an error comes from the state of the database, or of its object store, and not from the statement, so that a later attempt may
 * succeed.
 *
 * @param error The error of a query or a transaction, with its causes.
 */
export function isDatabaseFault(error: unknown): boolean {
  return hasCodeLike(error, [SQL_STATES, NETWORK, FILES]) || findStoreError(error) !== undefined;
}

/** The object store's error, among the causes. */
export function findStoreError(error: unknown): ObjectStoreError | undefined {
  if (error instanceof ObjectStoreError) return error;
  return error instanceof Error ? findStoreError(error.cause) : undefined;
}

/**
 * True if the server lacks something for a statement. A client may try again; work that goes on until it succeeds must not, because the
 * same statement may never have enough.
 *
 * @param error As for isDatabaseFault().
 */
export function isDatabaseShortage(error: unknown): boolean {
  return hasCodeLike(error, [SHORTAGES]);
}

function hasCodeLike(error: unknown, patterns: readonly RegExp[]): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  if (patterns.some((pattern) => pattern.test(code))) return true;
  if (error instanceof AggregateError && error.errors.some((each) => hasCodeLike(each, patterns))) return true;
  return hasCodeLike(error.cause, patterns);
}

/** The server's error, among the causes, where it refused a process for a reason that does not pass by itself. */
export function findDatabaseRefusal(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  return "code" in error && REFUSALS.test(String(error.code)) ? error : findDatabaseRefusal(error.cause);
}

/**
 * Waits for statements of one transaction that share a round trip.
 *
 * @throws The error of the statement that failed first, and not of those that the server then refused.
 */
export async function settleTogether(statements: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(statements);
  const errors = ended.flatMap((end) => end.status === "rejected" ? [end.reason] : []);
  if (errors.length > 0) throw errors.find((error) => !isAborted(error)) ?? errors[0];
}

/** True if a statement refers to a row that does not exist. @param error The error of a query or a transaction, with its causes. */
export function isForeignKeyFault(error: unknown): boolean {
  return hasCode(error, FOREIGN_KEY);
}

import { isHindcastError } from "../client/index.ts";

/** How a command ends. Scripts depend on them. */
export const EXIT = {
  done: 0,
  /** The service refused, or the run failed. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The service cannot be reached, or asks to try again later. */
  unavailable: 3,
  /** Nobody is signed in, or the token does not allow it. */
  forbidden: 4,
  /** Ctrl+C. */
  interrupted: 130,
} as const;

const RETRY_STATUSES: readonly number[] = [429, 502, 503, 504];

/** The reason for which a command ends without its result. */
export class CommandError extends Error {
  /** @param code Of EXIT. */
  constructor(message: string, readonly code: number, readonly details: Readonly<Record<string, unknown>> = {}) {
    super(message);
  }
}

/** A command line that cannot be used. */
export function usageError(message: string): CommandError {
  return new CommandError(message, EXIT.usage, { code: "USAGE" });
}

/** An answer of the service that is a refusal. @param error Its `error`, with code and message. */
export function refusal(status: number, error: { readonly code: string; readonly message: string }): CommandError {
  return new CommandError(withHint(status, error.message), exitCodeOf(status), error);
}

function withHint(status: number, message: string): string {
  if (status !== 401) return message;
  const unset = Deno.env.get("HINDCAST_TOKEN") ? ", and unset HINDCAST_TOKEN, which counts before the saved login" : "";
  return `${message}; sign in with hindcast login${unset}`;
}

/** The exit code and the message of any error. @param url Of the service. */
export function toCommandError(error: unknown, url: string): CommandError {
  if (error instanceof CommandError) return error;
  if (!isHindcastError(error)) {
    return new CommandError(error instanceof Error ? error.message : String(error), EXIT.failed, { code: "FAILED" });
  }
  // Without data, nothing that belongs to the service has answered.
  if (error.data === undefined || error.data === null) return unreachable(url, error.message);
  const { httpStatus, appCode, issues, request_id } = error.data;
  return new CommandError(withHint(httpStatus, error.message), exitCodeOf(httpStatus), {
    code: appCode,
    issues,
    request_id,
  });
}

/** @param reason Of the lost connection. */
export function unreachable(url: string, reason: string): CommandError {
  const message =
    `Cannot reach ${url}: ${reason}. Is the service running there? --url and HINDCAST_URL name another address`;
  return new CommandError(message, EXIT.unavailable, { code: "UNREACHABLE" });
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.forbidden;
  return RETRY_STATUSES.includes(status) ? EXIT.unavailable : EXIT.failed;
}

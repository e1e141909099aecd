import { watchedFetch } from "./connection.ts";
import { noticeEndOfSession } from "./session_end.ts";

/** A field that a refusal complains about. */
export interface Issue {
  /** A JSON pointer, such as `/password`. */
  readonly path: string;
  readonly message: string;
}

/** A refusal by a route that tRPC does not serve. */
export class RestError extends Error {
  override readonly name = "RestError";
  constructor(message: string, readonly code: string, readonly issues: readonly Issue[] = []) {
    super(message);
  }
}

/** Calls a route that tRPC does not serve. @returns The JSON of the answer; its shape is the caller's to know. @throws RestError */
export async function callRest<Answer>(path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await watchedFetch(path, init).catch(() => {
    throw new RestError("The service cannot be reached. Try again in a moment.", "UNREACHABLE");
  });
  if (response.ok) return await response.json();
  const answer: { readonly error?: { code: string; message: string; issues?: Issue[] } } | null = await response.json()
    .catch(() => null);
  const { code = "INTERNAL", message, issues } = answer?.error ?? {};
  noticeEndOfSession(code);
  throw new RestError(message ?? `The service answered ${response.status}. Try again in a moment.`, code, issues);
}

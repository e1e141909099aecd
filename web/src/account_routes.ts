import { watchedFetch } from "./connection.ts";

/** A field that a refusal complains about. */
export interface Issue {
  /** A JSON pointer, such as `/password`. */
  readonly path: string;
  readonly message: string;
}

/** A refusal by the routes of accounts. */
export class AccountError extends Error {
  override readonly name = "AccountError";
  constructor(message: string, readonly code: string, readonly issues: readonly Issue[] = []) {
    super(message);
  }
}

/** Signs in; the cookie is the browser's. @throws AccountError */
export async function signIn(email: string, password: string): Promise<void> {
  await post("sign-in/email", { email, password });
}

/** Makes an account and signs in. @throws AccountError */
export async function signUp(email: string, password: string): Promise<void> {
  await post("sign-up/email", { name: email.split("@")[0] ?? email, email, password });
}

/** Ends the session. @throws AccountError */
export async function signOut(): Promise<void> {
  await post("sign-out", {});
}

async function post(route: string, body: Readonly<Record<string, string>>): Promise<void> {
  const response = await watchedFetch(`/api/auth/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new AccountError("The service cannot be reached. Try again in a moment.", "UNREACHABLE");
  });
  if (response.ok) return;
  const answer: { readonly error?: { code: string; message: string; issues?: Issue[] } } | null = await response.json()
    .catch(() => null);
  const { code = "INTERNAL", message, issues } = answer?.error ?? {};
  throw new AccountError(message ?? `The service answered ${response.status}. Try again in a moment.`, code, issues);
}

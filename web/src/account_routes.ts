import { callRest } from "./call_rest.ts";

/** A session of the user's account. */
export interface AccountSession {
  readonly id: string;
  readonly token: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

const KNOWN_KEY = "hindcast.account";

/** True if somebody has signed in with this browser before. */
export function wasSignedIn(): boolean {
  return localStorage.getItem(KNOWN_KEY) !== null;
}

/** True if the browser's cookie is that of a session. A browser without one gets no error for it. @throws RestError */
export async function hasSession(): Promise<boolean> {
  return await callRest<object | null>("/api/auth/get-session") !== null;
}

/** Signs in; the cookie is the browser's. @throws RestError */
export async function signIn(email: string, password: string): Promise<true> {
  await post("sign-in/email", { email, password });
  localStorage.setItem(KNOWN_KEY, "known");
  return true;
}

/** Sends the browser to the provider of identities, and from there to `to`. @throws RestError */
export async function signInElsewhere(to: string): Promise<void> {
  const { url } = await post("sign-in/social", { provider: "oidc", callbackURL: to, errorCallbackURL: "/sign-in" });
  localStorage.setItem(KNOWN_KEY, "known");
  if (url !== undefined) location.assign(url);
}

/** True if the account has a password, and is not signed in by a provider of identities alone. @throws RestError */
export async function hasPassword(): Promise<boolean> {
  const accounts = await callRest<readonly { readonly providerId: string }[]>("/api/auth/list-accounts");
  return accounts.some(({ providerId }) => providerId === "credential");
}

/**
 * Makes an account.
 *
 * @param invitation Empty without one. @returns True if it is signed in; else a mail with a link comes first. @throws RestError
 */
export async function signUp(email: string, password: string, invitation: string): Promise<boolean> {
  const { token } = await post("sign-up/email", { name: email.split("@")[0] ?? email, email, password, invitation });
  localStorage.setItem(KNOWN_KEY, "known");
  return typeof token === "string";
}

/** Ends the session. @throws RestError */
export async function signOut(): Promise<void> {
  await post("sign-out", {});
}

/** The account's open sessions. @throws RestError */
export async function listSessions(): Promise<readonly AccountSession[]> {
  return await callRest("/api/auth/list-sessions");
}

/** Ends a session. @throws RestError */
export async function endSession({ token }: Pick<AccountSession, "token">): Promise<void> {
  await post("revoke-session", { token });
}

/** Ends all sessions but this one. @throws RestError */
export async function endOtherSessions(): Promise<void> {
  await post("revoke-other-sessions", {});
}

/** Changes the password, which ends all other sessions. @throws RestError */
export async function changePassword(currentPassword: string, newPassword: string): Promise<void> {
  await post("change-password", { currentPassword, newPassword });
}

/** Has a link mailed to an address, if it is an account's. @throws RestError */
export async function requestReset(email: string): Promise<void> {
  await post("request-password-reset", { email });
}

/** Sets a new password by the token of a mailed link. @throws RestError */
export async function resetPassword(token: string, newPassword: string): Promise<void> {
  await post("reset-password", { token, newPassword });
}

/** Deletes the account with everything in it. @param password None where the account has none. @throws RestError */
export async function deleteAccount(password: string | undefined): Promise<void> {
  await post("delete-user", password === undefined ? {} : { password });
  localStorage.removeItem(KNOWN_KEY);
}

/** A program that asks to be signed in. */
export interface DeviceRequest {
  readonly status: "pending" | "approved" | "denied";
  /** The program's name; absent where another account has opened the code. */
  readonly client_id?: string;
  /** Of the token that it asks for. */
  readonly scope?: string;
}

/** The request that a program's code stands for, which becomes this account's to answer. @throws RestError */
export async function findDeviceRequest(code: string): Promise<DeviceRequest> {
  return await callRest(`/api/auth/device?user_code=${encodeURIComponent(code)}`);
}

/** Lets a program in, or refuses it. @throws RestError */
export async function answerDevice(userCode: string, isAllowed: boolean): Promise<void> {
  await post(`device/${isAllowed ? "approve" : "deny"}`, { userCode });
}

/** A user as admins see it. */
export interface ListedUser {
  readonly id: string;
  readonly email: string;
  readonly role?: string | null;
  readonly banned?: boolean | null;
  readonly createdAt: string;
}

/** The newest users, of those whose address has a text in it. Only for admins. @throws RestError */
export async function listUsers(
  text: string,
  limit: number,
): Promise<{ readonly users: readonly ListedUser[]; readonly total: number }> {
  const wanted = text === "" ? {} : { searchValue: text, searchField: "email", searchOperator: "contains" };
  const query = { limit: String(limit), sortBy: "createdAt", sortDirection: "desc", ...wanted };
  return await callRest(`/api/auth/admin/list-users?${new URLSearchParams(query)}`);
}

/** Gives a user another role. Only for admins. @throws RestError */
export async function setRole(userId: string, role: "user" | "admin"): Promise<void> {
  await post("admin/set-role", { userId, role });
}

/** Keeps a user out, and ends their sessions. Only for admins. @throws RestError */
export async function banUser(userId: string): Promise<void> {
  await post("admin/ban-user", { userId });
}

/** Lets a banned user in again. Only for admins. @throws RestError */
export async function unbanUser(userId: string): Promise<void> {
  await post("admin/unban-user", { userId });
}

/** Sets a user's password, which ends their sessions and revokes their tokens. Only for admins. @throws RestError */
export async function setUserPassword(userId: string, newPassword: string): Promise<void> {
  await post("admin/set-user-password", { userId, newPassword });
}

/** Removes a user with everything that is theirs. Only for admins. @throws RestError */
export async function removeUser(userId: string): Promise<void> {
  await post("admin/remove-user", { userId });
}

async function post(
  route: string,
  body: Readonly<Record<string, string>>,
): Promise<{ readonly token?: string | null; readonly url?: string }> {
  return await callRest(`/api/auth/${route}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

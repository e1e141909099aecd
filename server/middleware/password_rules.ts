import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { AppError } from "../../routers/common/errors.ts";
import type { Auth } from "../requests/auth.ts";
import type { ServerEnv } from "../requests/context.ts";

const DELETE = "/api/auth/delete-user";
const CHANGE = "/api/auth/change-password";
const SET = "/api/auth/admin/set-user-password";

/** The paths on which a password is chosen, each with the field that holds it. */
const CHOICES: Readonly<Record<string, "password" | "newPassword">> = {
  "/api/auth/sign-up/email": "password",
  "/api/auth/admin/create-user": "password",
  "/api/auth/reset-password": "newPassword",
  [CHANGE]: "newPassword",
  [SET]: "newPassword",
};

let commonest: Promise<ReadonlySet<string>> | undefined;

/**
 * Refuses weak passwords where they are chosen, a deletion of the account without the password that it has, and has a changed password end the account's other sessions. One that an admin
 * sets ends all of them and revokes the account's tokens, since somebody else may have made those.
 *
 * @throws AppError VALIDATION_FAILED
 */
export function enforcePasswordRules(
  auth: Pick<Auth, "findSession" | "needsPassword" | "endAccess">,
): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const { path } = c.req;
    if (
      path === DELETE && !readText(c.get("body"), "password") && await auth.needsPassword(c.req.raw.headers)
    ) {
      throw refuse("password", "must be the account's password");
    }
    const field = c.req.method === "POST" ? CHOICES[path] : undefined;
    if (field === undefined) return await next();
    const body = c.get("body");
    const password = readText(body, field);
    const found = path === CHANGE ? await auth.findSession(c.req.raw.headers) : null;
    const fault = password === undefined
      ? null
      : await findFault(password, found?.user.email ?? readText(body, "email"));
    if (fault !== null) throw refuse(field, fault);
    if (path === CHANGE && typeof body === "object") replaceBody(c, { ...body, revokeOtherSessions: true });
    await next();
    const userId = readText(body, "userId");
    if (path === SET && c.res.status === 200 && userId !== undefined) await auth.endAccess(userId);
  };
}

function refuse(field: string, fault: string): AppError {
  const issues = [{ path: `/${field}`, message: fault }];
  return new AppError("VALIDATION_FAILED", `Cannot accept the request: /${field} ${fault}`, { issues });
}

function replaceBody(c: HonoContext, body: unknown): void {
  const headers = new Headers(c.req.raw.headers);
  headers.delete("content-length");
  c.req.raw = new Request(c.req.raw.url, { method: "POST", headers, body: JSON.stringify(body) });
}

/** The rule that a password breaks; null for none. */
async function findFault(password: string, email: string | undefined): Promise<string | null> {
  const plain = password.trim().toLowerCase();
  if (plain === "") return "must not be blank";
  if (plain === email?.trim().toLowerCase()) return "must not be the e-mail address";
  return (await (commonest ??= loadCommonest())).has(plain) ? "must not be one of the commonest passwords" : null;
}

/** Some 49,000 passwords, the 10,000 commonest among them, loaded when the first one is chosen: a worker never needs them. */
async function loadCommonest(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import("@zxcvbn-ts/language-common");
  return new Set(dictionary["passwords-common"]);
}

function readText(body: unknown, key: string): string | undefined {
  const value: unknown = typeof body === "object" && body !== null ? Reflect.get(body, key) : undefined;
  return typeof value === "string" ? value : undefined;
}

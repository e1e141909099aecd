import { createHash } from "node:crypto";
import type { Context as HonoContext } from "hono";
import { getSignedCookie, setSignedCookie } from "hono/cookie";
import type { Auth } from "../auth.ts";
import { addressGroup } from "../client_address.ts";
import type { ServerEnv } from "../context.ts";

const COOKIE = "hindcast.device";
const COOKIE_SECONDS = 365 * 86_400;

/** By what somebody who signs in to an account may be known from before. */
export interface KnownCallers {
  /** Whoever failed attempts count for: a device or an address that has signed in to this account before, else all strangers together. */
  find(c: HonoContext<ServerEnv>, account: string): Promise<string>;
  /** Has the device that has just signed in known by a cookie from now on. */
  remember(c: HonoContext<ServerEnv>, account: string): Promise<void>;
}

/**
 * Tells those who have signed in to an account before from strangers, so that no stranger uses up their attempts ("device cookies",
 * OWASP). A device keeps a signed cookie for a year, also when it signs out; an address is known as long as a session that was begun
 * from it lasts, which helps programs that keep no cookies.
 *
 * @param options.secret The same for every process on one database.
 * @param options.https Whether the cookie is sent over https alone.
 */
export function createKnownCallers(
  auth: Pick<Auth, "listSessionAddresses">,
  options: { readonly secret: string; readonly https: boolean },
): KnownCallers {
  // Not the key of the session cookies: what was signed as the one is never taken for the other.
  const key = `device ${options.secret}`;
  const prefix = options.https ? "secure" : undefined;
  return {
    async find(c, account) {
      const [owner, device] = (await getSignedCookie(c, key, COOKIE, prefix) || "").split(".");
      if (owner === digest(account)) return `device ${device}`;
      const group = addressGroup(c.get("clientAddress"));
      const known = (await auth.listSessionAddresses(account)).some((address) => addressGroup(address) === group);
      return `${known ? group : "strangers"} ${account}`;
    },
    async remember(c, account) {
      await setSignedCookie(c, COOKIE, `${digest(account)}.${crypto.randomUUID()}`, key, {
        path: "/api/auth/sign-in",
        httpOnly: true,
        sameSite: "Lax",
        maxAge: COOKIE_SECONDS,
        ...(prefix === undefined ? {} : { prefix }),
      });
    },
  };
}

function digest(account: string): string {
  return createHash("sha256").update(account).digest("base64url");
}

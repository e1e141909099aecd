import { createHash } from "node:crypto";
import type { Context as HonoContext } from "hono";
import { getSignedCookie, setSignedCookie } from "hono/cookie";
import type { Auth } from "../requests/auth.ts";
import { addressGroup } from "../requests/client_address.ts";
import type { ServerEnv } from "../requests/context.ts";

const COOKIE = "hindcast.device";
const COOKIE_SECONDS = 365 * 86_400;

/** Tells the known devices of an account from strangers. */
export interface DeviceCookies {
  /** The key to count failed attempts by: a device or address that has signed in to the account before, or all strangers together. */
  findAttemptKey(c: HonoContext<ServerEnv>, account: string): Promise<string>;
  /** Sends the device that has just signed in a cookie that makes it known. */
  remember(c: HonoContext<ServerEnv>, account: string): Promise<void>;
}

/**
 * Keeps strangers from using up an account's attempts to sign in ("device cookies", OWASP).
 *
 * A device keeps a signed cookie for a year, also when it signs out. An address is known while a session that began there lasts, for
 * programs that keep no cookies.
 *
 * @param options.secret The same for every process on one database.
 * @param options.oldSecret Signed the cookies of before, which count, too.
 * @param options.https Sends the cookie over https alone.
 */
export function createDeviceCookies(
  auth: Pick<Auth, "listSessionAddresses">,
  options: { readonly secret: string; readonly oldSecret?: string | undefined; readonly https: boolean },
): DeviceCookies {
  // Its own key, so that a session cookie never passes as a device cookie.
  const key = `device ${options.secret}`;
  const keys = options.oldSecret === undefined ? [key] : [key, `device ${options.oldSecret}`];
  const prefix = options.https ? "secure" : undefined;
  return {
    async findAttemptKey(c, account) {
      const [owner, device] = (await readSigned(c, keys, prefix)).split(".");
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

/** The cookie's value; empty where none of the keys has signed it. */
async function readSigned(c: HonoContext, keys: readonly string[], prefix: "secure" | undefined): Promise<string> {
  for (const key of keys) {
    const value = await getSignedCookie(c, key, COOKIE, prefix);
    if (value) return value;
  }
  return "";
}

function digest(account: string): string {
  return createHash("sha256").update(account).digest("base64url");
}

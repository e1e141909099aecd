import type { Context as HonoContext } from "hono";
import type { ServerEnv } from "../context.ts";

/** Sends the cookies of a session that the request has lengthened. An answer that shared caches keep must not have them. */
export async function sendRenewedCookies(c: HonoContext<ServerEnv>, next: () => Promise<void>): Promise<void> {
  await next();
  if (/\bpublic\b/.test(c.res.headers.get("cache-control") ?? "")) return;
  for (const cookie of c.get("renewedCookies") ?? []) c.header("set-cookie", cookie, { append: true });
}

import type { Context as HonoContext, MiddlewareHandler } from "hono";
import type { ServerEnv } from "../requests/context.ts";

/**
 * Lets sign up whoever has an invitation, as `invitation` in the body. It is given back where the sign-up is refused.
 *
 * @param claim Uses up an invitation, and returns a function that gives it back.
 */
export function requireInvitation(
  claim: (token: unknown, email: string) => Promise<() => Promise<void>>,
): MiddlewareHandler<ServerEnv> {
  return async (c: HonoContext<ServerEnv>, next: () => Promise<void>) => {
    const { invitation, email }: { invitation?: unknown; email?: unknown } = Object(c.get("body"));
    const giveBack = await claim(invitation, typeof email === "string" ? email : "");
    await next();
    if (c.res.status >= 400) await giveBack();
  };
}

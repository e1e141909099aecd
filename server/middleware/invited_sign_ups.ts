import type { Context as HonoContext, MiddlewareHandler } from "hono";
import { z } from "zod";
import type { Auth } from "../requests/auth.ts";
import type { ServerEnv } from "../requests/context.ts";

const answerSchema = z.object({ user: z.object({ id: z.string() }) });

/**
 * Lets sign up whoever has an invitation, as `invitation` in the body. It is given back where no account is made.
 *
 * @param claim Uses up an invitation, and returns a function that gives it back.
 * @param findUserIdOf The id of the user with an e-mail address.
 */
export function requireInvitation(
  claim: (token: unknown, email: string) => Promise<() => Promise<void>>,
  { findUserIdOf }: Pick<Auth, "findUserIdOf">,
): MiddlewareHandler<ServerEnv> {
  return async (c: HonoContext<ServerEnv>, next: () => Promise<void>) => {
    const { invitation, email }: { invitation?: unknown; email?: unknown } = Object(c.get("body"));
    const address = typeof email === "string" ? email : "";
    const giveBack = await claim(invitation, address);
    await next();
    if (c.res.status >= 400) return await giveBack();
    // Where addresses are verified, the library answers a taken one as a new one, with an id that nobody has.
    const answer = answerSchema.safeParse(await c.res.clone().json().catch(() => null));
    if (answer.data?.user.id !== await findUserIdOf(address)) await giveBack();
  };
}

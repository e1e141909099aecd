import { z } from "zod";
import { SCOPES } from "../db/schema.ts";
import { SIGN_UP } from "./common/sign_up.ts";
import { publicProcedure, router, userProcedure } from "./common/trpc.ts";

export const ROLES = ["user", "admin"] as const;

const sessionAnswerSchema = z.object({
  session: z.object({ id: z.string(), expires_at: z.iso.datetime(), scope: z.enum(SCOPES).nullable() }),
  user: z.object({ id: z.string(), email: z.string(), role: z.enum(ROLES), name: z.string() }),
});

export const sessionRouter = router({
  /** The caller's user and session; `scope` is that of the token which stands in for one. */
  get: userProcedure.output(sessionAnswerSchema).query(({ ctx }) => ({
    session: { id: ctx.session.id, expires_at: ctx.session.expiresAt.toISOString(), scope: ctx.session.scope },
    user: { id: ctx.user.id, email: ctx.user.email, role: ctx.user.role, name: ctx.user.name },
  })),

  /** The ways to get a session here. */
  policy: publicProcedure
    .output(z.object({ sign_up: z.enum(SIGN_UP), password_reset: z.boolean(), open_id: z.string().nullable() }))
    .query(({ ctx }) => ({ sign_up: ctx.signUp, password_reset: ctx.sendMail !== null, open_id: ctx.openIdHost })),
});

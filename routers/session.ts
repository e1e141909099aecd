import { z } from "zod";
import { router, userProcedure } from "./trpc.ts";

const sessionAnswerSchema = z.object({
  session: z.object({ id: z.string(), expires_at: z.iso.datetime() }),
  user: z.object({ id: z.string(), email: z.string(), role: z.enum(["user", "admin"]), name: z.string() }),
});

export const sessionRouter = router({
  /** The caller's user and session. */
  get: userProcedure.output(sessionAnswerSchema).query(({ ctx }) => ({
    session: { id: ctx.session.id, expires_at: ctx.session.expiresAt.toISOString() },
    user: { id: ctx.user.id, email: ctx.user.email, role: ctx.user.role, name: ctx.user.name },
  })),
});

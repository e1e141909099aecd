import { z } from "zod";
import type { Db } from "../db/client.ts";
import { lockUser } from "../db/quotas.ts";
import { SCOPES } from "../db/schema.ts";
import { deleteToken, insertToken, listTokens, type TokenRow } from "../db/tokens.ts";
import { DAY_MS } from "../market/timeframes.ts";
import { AppError, quote } from "./common/errors.ts";
import { inputObject } from "./common/input_object.ts";
import { NO_LINE, plainText } from "./common/plain_text.ts";
import { requireRoomForToken } from "./common/quotas.ts";
import { recordReader, showReadable } from "./common/stored_records.ts";
import { makeToken } from "./token_secret.ts";
import { router, signedInProcedure } from "./common/trpc.ts";

const TOKEN_DAYS_DEFAULT = 90;
const TOKEN_DAYS_MAX = 366;
const NAME_LENGTH_MAX = 100;

/** A token as its owner sees it, without its secret. */
const tokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  scope: z.enum(SCOPES),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
}).meta({ id: "Token" });

const tokenRequestSchema = inputObject({
  name: plainText(NO_LINE, NAME_LENGTH_MAX).pipe(z.string().min(1)),
  scope: z.enum(SCOPES),
  expires_in_days: z.int().min(1).max(TOKEN_DAYS_MAX).default(TOKEN_DAYS_DEFAULT),
});

export const tokensRouter = router({
  /** The caller's tokens, newest first, the expired ones of the last month among them. */
  list: signedInProcedure
    .output(z.object({ tokens: z.array(tokenSchema) }))
    .query(async ({ ctx }) => ({ tokens: showReadable(await listTokens(ctx.db, ctx.user.id), show) })),

  /** Makes a token for a program. The answer alone has its text: only a hash is kept. */
  create: signedInProcedure
    .input(inputObject({ token: tokenRequestSchema }))
    .output(z.object({ token: tokenSchema, secret: z.string() }))
    .mutation(async ({ ctx, input: { token: { name, scope, expires_in_days } } }) => {
      if (scope === "admin" && ctx.user.role !== "admin") {
        throw new AppError("FORBIDDEN", "Cannot make a token of the scope admin without the role admin");
      }
      const { text, id, secretSha256 } = makeToken();
      const expiresAt = new Date(Date.now() + expires_in_days * DAY_MS);
      const row = await ctx.db.transaction(async (tx: Db) => {
        await lockUser(tx, ctx.user.id);
        await requireRoomForToken(tx, ctx.user.id);
        return await insertToken(tx, { id, userId: ctx.user.id, name, scope, secretSha256, expiresAt });
      });
      return { token: show(row), secret: text };
    }),

  /** Revokes one of the caller's tokens; its next request is refused. */
  revoke: signedInProcedure.input(inputObject({ id: z.string().max(100) })).mutation(async ({ ctx, input: { id } }) => {
    if (await deleteToken(ctx.db, { id, userId: ctx.user.id })) return;
    throw new AppError("TOKEN_NOT_FOUND", `Cannot find the token ${quote(id)}`);
  }),
});

const show = recordReader(({ id }) => `token ${id}`, tokenSchema, showToken);

function showToken({ id, name, scope, createdAt, expiresAt, lastUsedAt }: TokenRow): z.infer<typeof tokenSchema> {
  return {
    id,
    name,
    scope,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
  };
}

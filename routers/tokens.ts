import { z } from "zod";
import type { Db } from "../db/client.ts";
import { lockUser } from "../db/quotas.ts";
import { SCOPES } from "../db/schema.ts";
import { deleteToken, insertToken, listTokens, type Scope, type TokenRow } from "../db/tokens.ts";
import { DAY_MS } from "../market/timeframes.ts";
import { AppError, quote } from "./common/errors.ts";
import { inputObject } from "./common/input_object.ts";
import { NO_LINE, plainText } from "./common/plain_text.ts";
import { requireRoomForToken } from "./common/quotas.ts";
import { recordReader, showReadable } from "./common/stored_records.ts";
import { makeToken } from "./token_secret.ts";
import { router, signedInProcedure, type User } from "./common/trpc.ts";

const TOKEN_DAYS_DEFAULT = 90;
const TOKEN_DAYS_MAX = 366;
const NAME_LENGTH_MAX = 100;

/** The rights of a token. */
export const scopeSchema = z.enum(SCOPES);

/** A token as its owner sees it, without its secret. */
const tokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  scope: scopeSchema,
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
}).meta({ id: "Token" });

const tokenRequestSchema = inputObject({
  name: plainText(NO_LINE, NAME_LENGTH_MAX).pipe(z.string().min(1)),
  scope: scopeSchema,
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
      const { row, secret } = await issueToken(ctx.db, ctx.user, { name, scope, days: expires_in_days });
      return { token: show(row), secret };
    }),

  /** Revokes one of the caller's tokens; its next request is refused. */
  revoke: signedInProcedure.input(inputObject({ id: z.string().max(100) })).mutation(async ({ ctx, input: { id } }) => {
    if (await deleteToken(ctx.db, { id, userId: ctx.user.id })) return;
    throw new AppError("TOKEN_NOT_FOUND", `Cannot find the token ${quote(id)}`);
  }),
});

/** A token that was made just now. */
export interface IssuedToken {
  readonly row: TokenRow;
  /** The text of the token; only a hash of it is kept. */
  readonly secret: string;
}

/**
 * Makes a token of a user's.
 *
 * @param asked.days Until it expires.
 * @throws AppError FORBIDDEN for the scope admin without the role, QUOTA_EXCEEDED for one too many.
 */
export async function issueToken(
  db: Db,
  { id: userId, role }: Pick<User, "id" | "role">,
  { name, scope, days = TOKEN_DAYS_DEFAULT }: {
    readonly name: string;
    readonly scope: Scope;
    readonly days?: number;
  },
): Promise<IssuedToken> {
  if (scope === "admin" && role !== "admin") {
    throw new AppError("FORBIDDEN", "Cannot make a token of the scope admin without the role admin");
  }
  const { text, id, secretSha256 } = makeToken();
  const expiresAt = new Date(Date.now() + days * DAY_MS);
  const row = await db.transaction(async (tx: Db) => {
    await lockUser(tx, userId);
    await requireRoomForToken(tx, userId);
    return await insertToken(tx, { id, userId, name, scope, secretSha256, expiresAt });
  });
  return { row, secret: text };
}

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

import { z } from "zod";
import type { Db } from "../db/client.ts";
import { storableText } from "../db/codec/storable.ts";
import {
  deleteInvitation,
  insertInvitation,
  INVITATION_DAYS,
  type InvitationRow,
  listInvitations,
  returnInvitation,
  takeInvitation,
} from "../db/invitations.ts";
import { AppError, quote } from "./common/errors.ts";
import { inputObject } from "./common/input_object.ts";
import { adminProcedure, router } from "./common/trpc.ts";

const DAYS_MAX = 90;
const INVITATIONS_MAX = 500;
const RETRY_SECONDS = 3600;
const EMAIL_LENGTH_MAX = 320;
const TOKEN_LENGTH_MAX = 100;

/** An invitation as admins see it, without its token. */
const invitationSchema = z.object({
  id: z.string(),
  email: z.string().nullable().describe("The address that may sign up with it; null for any."),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().describe("From then on, nobody signs up with it."),
}).meta({ id: "Invitation" });

const requestSchema = inputObject({
  email: z.email().max(EMAIL_LENGTH_MAX).optional().describe("The address that may sign up with it; without one, any."),
  expires_in_days: z.int().min(1).max(DAYS_MAX).default(INVITATION_DAYS).describe("Days for which it counts."),
});

export const invitationsRouter = router({
  /** The invitations that can be used, newest first. */
  list: adminProcedure
    .output(z.object({ invitations: z.array(invitationSchema).describe("Newest first.") }))
    .query(async ({ ctx }) => ({ invitations: (await listInvitations(ctx.db)).map(show) })),

  /** Makes an invitation, and mails it where it is for an address and the service sends mails. The answer alone has its link. */
  create: adminProcedure
    .input(inputObject({ invitation: requestSchema.describe("The person to invite.") }))
    .output(z.object({
      invitation: invitationSchema,
      url: z.url().describe("The page to sign up on; what follows # is the secret."),
      mailed: z.boolean().describe("True if a mail with it is on its way."),
    }))
    .mutation(async ({ ctx, input: { invitation: { email, expires_in_days: days } } }) => {
      if (ctx.signUp !== "invite") {
        throw new AppError("FORBIDDEN", `Cannot invite: this service runs with SIGN_UP=${ctx.signUp}, not invite`);
      }
      if ((await listInvitations(ctx.db)).length >= INVITATIONS_MAX) {
        const message = `Cannot invite: ${INVITATIONS_MAX} invitations are open; revoke some`;
        throw new AppError("QUOTA_EXCEEDED", message, { retryAfterSeconds: RETRY_SECONDS });
      }
      const { row, token } = await insertInvitation(ctx.db, { email, days });
      // Behind a #, no proxy's log has it.
      const url = `${ctx.agentSignIn.issuer}/sign-up#${token}`;
      const { sendMail } = ctx;
      const mailed = email !== undefined && sendMail !== null;
      if (mailed) sendMail({ to: email, subject: "You are invited to Hindcast", text: writeInvitation(url, row) });
      return { invitation: show(row), url, mailed };
    }),

  /** Revokes an invitation. */
  revoke: adminProcedure.input(inputObject({ id: z.string().max(100) })).mutation(async ({ ctx, input: { id } }) => {
    if (await deleteInvitation(ctx.db, id)) return;
    throw new AppError("INVITATION_NOT_FOUND", `Cannot find the invitation ${quote(id)}`);
  }),
});

/**
 * Uses an invitation up for a sign-up.
 *
 * @param token As it was sent. @returns A function that gives it back where the sign-up is refused.
 * @throws AppError FORBIDDEN without an invitation that counts for the address.
 */
export async function claimInvitation(db: Db, token: unknown, email: string): Promise<() => Promise<void>> {
  if (token === undefined || token === "") {
    throw new AppError("FORBIDDEN", "Cannot sign up: this service takes accounts by invitation; ask an admin for one");
  }
  const row = typeof token === "string" && token.length <= TOKEN_LENGTH_MAX
    ? await takeInvitation(db, token, storableText(email))
    : undefined;
  if (row !== undefined) return () => returnInvitation(db, row);
  const message = "Cannot sign up: the invitation is mistyped, used, expired or for another address; ask for a new one";
  throw new AppError("FORBIDDEN", message);
}

function show({ id, value, createdAt, expiresAt }: InvitationRow): z.infer<typeof invitationSchema> {
  return {
    id,
    email: value === "" ? null : value,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  };
}

function writeInvitation(url: string, { expiresAt }: InvitationRow): string {
  const lines = [
    "You are invited to Hindcast, a service that backtests trading strategies. Make your account here:",
    url,
    `The link counts once, for this address, until ${expiresAt.toISOString().slice(0, 16).replace("T", " ")} UTC.`,
  ];
  return lines.join("\n\n");
}

/** Invitations to sign up: secrets that count once, kept among the authentication library's own. */
import { createHash, randomBytes } from "node:crypto";
import { and, desc, eq, gt, inArray, like, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "./client.ts";
import { verification } from "./schema.ts";

const PREFIX = "invitation:";
const SECRET_BYTES = 32;
const DAY_MS = 86_400_000;
const FORM = /^hci_[\w-]{43}$/;

/** Days for which an invitation counts, unless said otherwise. */
export const INVITATION_DAYS = 7;

/** A stored invitation. Its `value` is the address that it is for, or empty. */
export type InvitationRow = typeof verification.$inferSelect;

/**
 * Stores an invitation.
 *
 * @param email The address that may sign up with it; undefined for any.
 * @returns It with its token, of which only a hash is kept.
 */
export async function insertInvitation(
  db: Db,
  { email = "", days = INVITATION_DAYS }: { readonly email?: string | undefined; readonly days?: number },
): Promise<{ readonly row: InvitationRow; readonly token: string }> {
  const token = `hci_${randomBytes(SECRET_BYTES).toString("base64url")}`;
  const [row] = await db.insert(verification).values({
    id: uuidv7(),
    identifier: identify(token),
    value: normalize(email),
    expiresAt: new Date(Date.now() + days * DAY_MS),
  }).returning();
  if (row === undefined) throw new Error("Cannot read back the invitation");
  return { row, token };
}

/** The invitations that can be used, newest first. */
export async function listInvitations(db: Db): Promise<InvitationRow[]> {
  return await db.select().from(verification)
    .where(and(like(verification.identifier, `${PREFIX}%`), gt(verification.expiresAt, sql`now()`)))
    .orderBy(desc(verification.id));
}

/** Revokes an invitation. @returns False where there is none with this id. */
export async function deleteInvitation(db: Db, id: string): Promise<boolean> {
  const rows = await db.delete(verification)
    .where(and(eq(verification.id, id), like(verification.identifier, `${PREFIX}%`)))
    .returning({ id: verification.id });
  return rows.length > 0;
}

/** Takes the invitation of a token away, so that it counts once. @returns Undefined where the address has none by it. */
export async function takeInvitation(db: Db, token: string, email: string): Promise<InvitationRow | undefined> {
  if (!FORM.test(token)) return undefined;
  const [row] = await db.delete(verification).where(and(
    eq(verification.identifier, identify(token)),
    inArray(verification.value, ["", normalize(email)]),
    gt(verification.expiresAt, sql`now()`),
  )).returning();
  return row;
}

/** Gives back an invitation that was taken for a sign-up which was refused. */
export async function returnInvitation(db: Db, row: InvitationRow): Promise<void> {
  await db.insert(verification).values(row);
}

function identify(token: string): string {
  return `${PREFIX}${createHash("sha256").update(token).digest("hex")}`;
}

function normalize(email: string): string {
  return email.trim().toLowerCase();
}

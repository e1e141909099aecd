import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Db } from "../db/client.ts";
import { isDatabaseFault } from "../db/faults.ts";
import { findToken, noteUse, type TokenRow } from "../db/tokens.ts";
import { readRole } from "../db/users.ts";
import { AppError } from "./common/errors.ts";
import type { Caller } from "./common/trpc.ts";

// So that a token is recognised where one turns up that should not.
const PREFIX = "hc_";
const ID_BYTES = 12;
const SECRET_BYTES = 32;
// Base64url: three bytes make four characters.
const ID_LENGTH = ID_BYTES * 4 / 3;
const SECRET_LENGTH = Math.ceil(SECRET_BYTES * 4 / 3);
const LENGTH = PREFIX.length + ID_LENGTH + SECRET_LENGTH;
const FORM = new RegExp(`^${PREFIX}([\\w-]{${ID_LENGTH}})([\\w-]{${SECRET_LENGTH}})$`);

/** A new token: the text to send, its public id, and the hash of its secret part, which alone is stored. */
export function makeToken(): { readonly text: string; readonly id: string; readonly secretSha256: string } {
  const [id, secret] = [ID_BYTES, SECRET_BYTES].map((length) => randomBytes(length).toString("base64url"));
  return { text: `${PREFIX}${id}${secret}`, id: String(id), secretSha256: digest(String(secret)).toString("hex") };
}

/**
 * Finds the user whom a token acts for, and notes its use.
 *
 * @param text The token as it was sent.
 * @throws AppError UNAUTHENTICATED with the reason: malformed, unknown or revoked, expired, or of a banned user.
 */
export async function acceptToken(db: Db, text: string): Promise<Caller> {
  const [, id, secret] = FORM.exec(text) ?? [];
  if (id === undefined || secret === undefined) {
    throw refuse(`one has ${LENGTH} characters and begins with ${PREFIX}: compare it with the one that you were shown`);
  }
  const found = await findToken(db, id);
  if (found === undefined || !isSecretOf(found.token, secret)) {
    throw refuse("it is mistyped or revoked: compare it with the one that you were shown, or make a new one");
  }
  const { token, user, quotas, isBanned } = found;
  if (token.expiresAt.getTime() <= Date.now()) {
    throw refuse(`it expired at ${token.expiresAt.toISOString()}: make a new one`);
  }
  if (isBanned) throw refuse("its user is banned: ask an admin");
  await noteUse(db, token).catch((error) => {
    // A full disk must not stop reads.
    if (!isDatabaseFault(error)) throw error;
  });
  const { id: sessionId, expiresAt, scope } = token;
  return { user: { ...user, role: readRole(user.role) }, session: { id: sessionId, expiresAt, scope }, quotas };
}

function isSecretOf({ secretSha256 }: TokenRow, secret: string): boolean {
  return timingSafeEqual(digest(secret), new Uint8Array(Buffer.from(secretSha256, "hex")));
}

function digest(secret: string) {
  return createHash("sha256").update(secret).digest();
}

function refuse(reason: string): AppError {
  return new AppError("UNAUTHENTICATED", `Cannot accept the token: ${reason}`);
}

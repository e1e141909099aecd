/** The token in the address of a link, and what it lets its holder read. */
import { createHash, randomBytes } from "node:crypto";
import type { Db } from "../../db/client.ts";
import { findShare, type ShareRow } from "../../db/shares.ts";
import { AppError } from "./errors.ts";

// So that a token is recognised where one turns up that should not.
const PREFIX = "hcs_";
const SECRET_BYTES = 32;
const FORM = /^hcs_[\w-]{43}$/;

export const LINK_KINDS = ["backtest", "comparison", "optimization"] as const;
type LinkKind = (typeof LINK_KINDS)[number];

/** A link that its holder has opened: one record of its owner's, and no other. */
export interface Link {
  /** Of the link itself. */
  readonly id: string;
  readonly kind: LinkKind;
  readonly ownerId: string;
  /** The records that it shows: one, or the runs of a comparison. */
  readonly ids: readonly string[];
  readonly expiresAt: Date;
}

/** A new token, and its hash, which alone is stored. */
export function makeLinkToken(): { readonly token: string; readonly tokenSha256: string } {
  const token = `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64url")}`;
  return { token, tokenSha256: digest(token) };
}

/** The link of a token. @throws AppError SHARE_NOT_FOUND for one that is mistyped, revoked or expired, without saying which. */
export async function openLink(db: Db, token: string): Promise<Link> {
  const row = FORM.test(token) ? await findShare(db, digest(token)) : undefined;
  if (row === undefined) {
    const message = "Cannot open the link: it is mistyped, revoked or expired, or what it showed was deleted; " +
      "ask the person who sent it for a new one";
    throw new AppError("SHARE_NOT_FOUND", message);
  }
  return toLink(row);
}

/** Reads what a stored link shows. */
export function toLink({ id, ownerId, backtestId, comparedIds, optimizationId, expiresAt }: ShareRow): Link {
  const of = { id, ownerId, expiresAt };
  if (comparedIds !== null) return { ...of, kind: "comparison", ids: comparedIds };
  if (backtestId !== null) return { ...of, kind: "backtest", ids: [backtestId] };
  return { ...of, kind: "optimization", ids: optimizationId === null ? [] : [optimizationId] };
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

import { z } from "zod";
import { readRecord } from "../../db/codec/unreadable.ts";
import { findUniverse, listUniverseSlugs, type Member, readMembers, type UniverseRow } from "../../db/universes.ts";
import { AppError, hintNearest, quote } from "../common/errors.ts";
import type { Context, User } from "../common/trpc.ts";
import { memberAnswerSchema } from "./universe_records.ts";

const membersSchema = z.array(memberAnswerSchema).readonly();

type UserContext = Context & { readonly user: User };

// Of the slugs that are compared with a wrong one.
const SLUGS_MAX = 1_000;

/** A version of a universe, as a run stores it. */
interface UniverseMembers {
  readonly slug: string;
  readonly version: number;
  readonly members: readonly Member[];
}

/** A universe that the caller may see. @throws AppError UNIVERSE_NOT_FOUND with the nearest slug. */
export async function mustFindUniverse(ctx: UserContext, slug: string): Promise<UniverseRow> {
  const row = await findUniverse(ctx.db, { slug, userId: ctx.user.id });
  if (row !== null) return row;
  const slugs = await listUniverseSlugs(ctx.db, ctx.user.id, SLUGS_MAX);
  throw new AppError("UNIVERSE_NOT_FOUND", `Cannot find the universe ${quote(slug)}${hintNearest(slug, slugs)}`);
}

/**
 * Reads the members of a version.
 *
 * @param version The newest where it is undefined.
 * @throws AppError UNIVERSE_NOT_FOUND where the caller may see no such universe, or it has no such version.
 */
export async function readUniverse(
  ctx: UserContext,
  slug: string,
  version: number | undefined,
): Promise<UniverseMembers> {
  const { universe, latest } = await mustFindUniverse(ctx, slug);
  const wanted = version ?? latest.version;
  const members = await readMembers(ctx.db, universe.id, wanted);
  if (members !== null) {
    const name = `version ${wanted} of the universe ${slug}`;
    return { slug, version: wanted, members: readRecord(name, () => membersSchema.parse(members)) };
  }
  const known = latest.version === 1 ? "it has version 1 alone" : `its versions are 1 to ${latest.version}`;
  const message = `Cannot find version ${wanted} of ${slug}: ${known}`;
  throw new AppError("UNIVERSE_NOT_FOUND", message);
}

/**
 * The universe that a run names.
 *
 * @param name As in `us-large`, or `us-large@3`; universeNameSchema has checked it.
 * @throws AppError UNIVERSE_NOT_FOUND
 */
export async function resolveUniverse(ctx: UserContext, name: string): Promise<UniverseMembers> {
  const [slug = "", version] = name.split("@");
  return await readUniverse(ctx, slug, version === undefined ? undefined : Number(version));
}

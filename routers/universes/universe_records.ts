import { z } from "zod";
import type { UniverseRow, UniverseVersion } from "../../db/universes.ts";
import { recordReader } from "../common/stored_records.ts";

/** A version of a universe as clients read it. */
export const universeVersionSchema = z.object({
  version: z.int().describe("From 1. A version never changes."),
  members: z.int().describe("How many rows it has."),
  created_at: z.iso.datetime(),
}).meta({ id: "UniverseVersion" });

/** A universe as clients read it. */
export const universeSchema = z.object({
  slug: z.string(),
  description: z.string(),
  is_public: z.boolean(),
  is_owner: z.boolean(),
  latest_version: z.int(),
  members: z.int().describe("How many rows its newest version has."),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}).meta({ id: "Universe" });

/** A member as clients read it. */
export const memberAnswerSchema = z.object({
  symbol: z.string(),
  exchange: z.string(),
  from: z.string().nullable().describe("The first day; null: from the beginning."),
  to: z.string().nullable().describe("The day after the last; null: still a member."),
}).meta({ id: "UniverseMember" });

/** @throws {UnreadableRecord} */
export const toUniverse = recordReader(({ universe }) => `universe ${universe.slug}`, universeSchema, showUniverse);

function showUniverse({ universe, latest }: UniverseRow, userId: string): z.infer<typeof universeSchema> {
  return {
    slug: universe.slug,
    description: universe.description,
    is_public: universe.isPublic,
    is_owner: universe.ownerId === userId,
    latest_version: latest.version,
    members: latest.membersCount,
    created_at: universe.createdAt.toISOString(),
    updated_at: universe.updatedAt.toISOString(),
  };
}

export function toUniverseVersion(row: UniverseVersion): z.infer<typeof universeVersionSchema> {
  return { version: row.version, members: row.membersCount, created_at: row.createdAt.toISOString() };
}

/** The tables of universes. */
import { bigint, boolean, index, integer, json, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { user } from "./account_schema.ts";
import { moment } from "./column_types.ts";

/** An instrument of a universe, and the dates between which it belongs to it. */
export interface Member {
  readonly symbol: string;
  readonly exchange: string;
  /** The first day, `YYYY-MM-DD`; null: from the beginning. */
  readonly from: string | null;
  /** The day after the last; null: still a member. */
  readonly to: string | null;
}

/** Lists of instruments. */
export const universes = pgTable("universes", {
  /** A UUIDv7, so that newest first is by id. */
  id: uuid("id").primaryKey(),
  ownerId: text("owner_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  slug: text("slug").notNull().unique(),
  description: text("description").notNull(),
  isPublic: boolean("is_public").notNull(),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
}, (table) => [index("universes_owner_index").on(table.ownerId, table.id)]);

/** Versions never change: a run names the one that it used. */
export const universeVersions = pgTable("universe_versions", {
  universeId: uuid("universe_id").notNull().references(() => universes.id, { onDelete: "cascade" }),
  /** From 1. */
  version: integer("version").notNull(),
  /** In the order that the owner wrote. */
  members: json("members").$type<readonly Member[]>().notNull(),
  membersCount: integer("members_count").notNull(),
  /** Of the members as JSON. */
  sizeBytes: bigint("size_bytes", { mode: "number" }).notNull(),
  createdAt: moment("created_at").notNull().defaultNow(),
}, (table) => [primaryKey({ columns: [table.universeId, table.version] })]);

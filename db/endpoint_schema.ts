/** The table of what programs of users are asked. */
import { boolean, index, integer, pgTable, smallint, text, uuid } from "drizzle-orm/pg-core";
import { user } from "./account_schema.ts";
import { moment } from "./column_types.ts";

/** Requests of runs to programs that fetch them, until they are answered or nobody waits any more. */
export const servedRequests = pgTable("served_requests", {
  id: uuid("id").primaryKey().defaultRandom(),
  /** The user whose programs may answer. */
  ownerId: text("owner_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  /** The endpoint's, as in `serve:NAME`. */
  name: text("name").notNull(),
  /** JSON of strategies/REMOTE.md. */
  body: text("body").notNull(),
  /** Milliseconds that a program has from each delivery. */
  timeoutMs: integer("timeout_ms").notNull(),
  /** The last delivery; null before the first. */
  takenAt: moment("taken_at"),
  deliveries: smallint("deliveries").notNull().default(0),
  /** JSON; null until the one answer. */
  answer: text("answer"),
  /** The answer is a reason in place of decisions. */
  isRefusal: boolean("is_refusal").notNull().default(false),
  createdAt: moment("created_at").notNull().defaultNow(),
  /** Nobody waits for an answer after it. */
  expiresAt: moment("expires_at").notNull(),
}, (table) => [index("served_requests_name_index").on(table.ownerId, table.name, table.createdAt)]);

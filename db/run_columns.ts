/** The columns that kinds of runs share; each call makes those of a table. */
import { bigint, doublePrecision, jsonb, text, uuid } from "drizzle-orm/pg-core";
import { user } from "./account_schema.ts";
import { BACKTEST_STATUSES, day, moment, type SandboxRuntime } from "./column_types.ts";

/** A run's record: whose it is, how far it is, and what it takes. */
export const recordColumns = () => ({
  /** A UUIDv7, so that newest first is by id. */
  id: uuid("id").primaryKey(),
  ownerId: text("owner_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  status: text("status", { enum: BACKTEST_STATUSES }).notNull().default("queued"),
  error: jsonb("error").$type<{ readonly code: string; readonly message: string }>(),
  /** The approximate size of the record with its rows, or with its trials; that of a study counts to its backtest's. */
  sizeBytes: bigint("size_bytes", { mode: "number" }).notNull().default(0),
  /** The client's key of its submission, and the SHA-256 of what was submitted, hexadecimal. */
  idempotencyKey: text("idempotency_key"),
  requestSha256: text("request_sha256"),
  createdAt: moment("created_at").notNull().defaultNow(),
  startedAt: moment("started_at"),
  finishedAt: moment("finished_at"),
});

/** A strategy on a market over a range, as a backtest or an optimization was asked for it. */
export const requestColumns = () => ({
  symbol: text("symbol").notNull(),
  exchange: text("exchange").notNull(),
  strategy: text("strategy").notNull(),
  strategySlug: text("strategy_slug"),
  strategyVersion: text("strategy_version"),
  startDate: day("start_date").notNull(),
  endDate: day("end_date").notNull(),
  initialBalance: doublePrecision("initial_balance").notNull(),
  /** Effective: with defaults, `timeframe`, `execution` and, if given, `runtime`; the same in all trials. */
  parameters: jsonb("parameters").$type<Readonly<Record<string, unknown>>>().notNull(),
  /** The foreign code that a worker runs in a sandbox; null for a built-in strategy. */
  runtime: jsonb("runtime").$type<SandboxRuntime>(),
  /** The owner's own words about it, which no run reads. */
  name: text("name"),
});

/** The names of columns that the submission of any run sets. */
export type SubmittedColumn = "ownerId" | "idempotencyKey" | "requestSha256" | keyof ReturnType<typeof requestColumns>;

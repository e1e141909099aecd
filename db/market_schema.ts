/** The tables of market data. */
import { sql } from "drizzle-orm";
import { bigint, index, integer, jsonb, pgTable, primaryKey, text, unique, uuid } from "drizzle-orm/pg-core";
import { ASSET_CLASSES } from "../engine/execution.ts";
import { bytea, day, moment } from "./column_types.ts";

/** Labels of providers; the configuration binds each to feeds. */
export const FEED_LABELS = ["provider_a", "provider_b"] as const;

/** The sources of an instrument's candles. */
export const PROVIDERS = [...FEED_LABELS, "import", "sample"] as const;

/** The hours of a market, in its own time. */
export interface Session {
  /** IANA name, such as `America/New_York`. */
  readonly timezone: string;
  /** Regular hours, `HH:MM`. A close at or before the open is on the next day, whose date the trading day then has. */
  readonly open: string;
  readonly close: string;
  /** The weekdays of trading days: 1 is Monday, 7 is Sunday. */
  readonly weekdays: readonly number[];
  /** The hours with early and late trade, on the same weekdays; null: around the clock, every day. */
  readonly extended: { readonly open: string; readonly close: string } | null;
}

export const instruments = pgTable("instruments", {
  id: uuid("id").primaryKey(),
  symbol: text("symbol").notNull(),
  exchange: text("exchange").notNull(),
  assetClass: text("asset_class", { enum: ASSET_CLASSES }).notNull(),
  provider: text("provider", { enum: PROVIDERS }).notNull(),
  /** The timeframe that ingestion fetches; null for an instrument that is only imported. */
  timeframe: text("timeframe"),
  backfillFrom: day("backfill_from"),
  /** A cron expression (UTC); null: ingested by hand only. */
  schedule: text("schedule"),
  /** In which its prices are, such as USD; null: that of the account. */
  currency: text("currency"),
  /** Null: the session of its exchange or asset class. */
  session: jsonb("session").$type<Session>(),
  /** Another after each change of its chunks: their triggers raise it (migrations/0033_chunk_versions.sql). */
  chunksVersion: bigint("chunks_version", { mode: "number" }).notNull().default(0),
  /** When requests or runs last used its candles, to within a minute. */
  usedAt: moment("used_at").notNull().defaultNow(),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
}, (table) => [unique("instruments_symbol_exchange").on(table.symbol, table.exchange)]);

/** One instrument's candles of one timeframe and one calendar month (UTC), as a compressed Arrow file. */
export const candleChunks = pgTable("candle_chunks", {
  instrumentId: uuid("instrument_id").notNull().references(() => instruments.id, { onDelete: "cascade" }),
  timeframe: text("timeframe").notNull(),
  /** The first day of the month. */
  month: day("month").notNull(),
  candles: integer("candles").notNull(),
  /** Opens of the first and the last candle. */
  firstTime: moment("first_time").notNull(),
  lastTime: moment("last_time").notNull(),
  /** The SHA-256 of `data`, hexadecimal. */
  sha256: text("sha256").notNull(),
  data: bytea("data").notNull(),
  /** The object that has the bytes, see objects/object_store.ts; null where `data` has them. */
  object: text("object"),
  updatedAt: moment("updated_at").notNull().defaultNow(),
}, (table) => [
  primaryKey({ columns: [table.instrumentId, table.timeframe, table.month] }),
  index("candle_chunks_object_index").on(table.object).where(sql`object is not null`),
]);

/** Stretches [start, end) of a series that a feed was asked for: a time without a candle had no trade. They do not touch. */
export const candleCoverage = pgTable("candle_coverage", {
  instrumentId: uuid("instrument_id").notNull().references(() => instruments.id, { onDelete: "cascade" }),
  timeframe: text("timeframe").notNull(),
  start: moment("start").notNull(),
  end: moment("end").notNull(),
}, (table) => [primaryKey({ columns: [table.instrumentId, table.timeframe, table.start] })]);

export const ingestionRuns = pgTable("ingestion_runs", {
  id: uuid("id").primaryKey(),
  status: text("status", { enum: ["queued", "running", "completed", "failed"] }).notNull(),
  trigger: text("trigger", { enum: ["manual", "schedule", "import", "start", "request"] }).notNull(),
  /** The requested instruments; null: all. */
  instruments: jsonb("instruments").$type<readonly { readonly symbol: string; readonly exchange: string }[]>(),
  startDate: day("start_date"),
  endDate: day("end_date"),
  candles: integer("candles").notNull().default(0),
  message: text("message"),
  createdAt: moment("created_at").notNull().defaultNow(),
  startedAt: moment("started_at"),
  finishedAt: moment("finished_at"),
});

// deno-fmt-ignore
export const INGESTION_EVENT_TYPES = [
  "run_started", "range_ingested", "rate_limited", "gap_found", "revised", "rejected", "failed", "run_finished",
] as const;

export const ingestionEvents = pgTable("ingestion_events", {
  /** A UUIDv7, so that newest first is by id. */
  id: uuid("id").primaryKey(),
  runId: uuid("run_id").notNull().references(() => ingestionRuns.id, { onDelete: "cascade" }),
  type: text("type", { enum: INGESTION_EVENT_TYPES }).notNull(),
  provider: text("provider"),
  symbol: text("symbol"),
  exchange: text("exchange"),
  timeframe: text("timeframe"),
  start: moment("start"),
  end: moment("end"),
  candles: integer("candles"),
  message: text("message"),
  createdAt: moment("created_at").notNull().defaultNow(),
}, (table) => [
  index("ingestion_events_run_index").on(table.runId),
  // Finds the revisions since a run, see stale_results.ts.
  index("ingestion_events_revised_index").on(table.symbol, table.exchange, table.timeframe, table.createdAt)
    .where(sql`type = 'revised'`),
]);

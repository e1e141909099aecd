/** The tables of strategies and their code. */
import { boolean, index, integer, json, jsonb, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { user } from "./account_schema.ts";
import { bytea, CHECK_FORMATS, moment } from "./column_types.ts";

export const RUNTIME_TYPES = ["remote", "wasm", "script"] as const;

/** Readers of a public strategy's code: its owner alone, or everybody who may run it. */
export const SOURCE_ACCESS = ["hidden", "open"] as const;

export const strategies = pgTable("strategies", {
  /** A UUIDv7, so that newest first is by id. */
  id: uuid("id").primaryKey(),
  ownerId: text("owner_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  slug: text("slug").notNull().unique(),
  name: text("name").notNull(),
  description: text("description").notNull(),
  runtimeType: text("runtime_type", { enum: RUNTIME_TYPES }).notNull(),
  language: text("language").notNull(),
  defaultFrequency: text("default_frequency").notNull(),
  minCandles: integer("min_candles").notNull(),
  lookbackCandles: integer("lookback_candles").notNull(),
  // As written: jsonb would sort the keys, and forms and readers see their order.
  defaultConfig: json("default_config").$type<Readonly<Record<string, unknown>>>().notNull(),
  parameterSchema: json("parameter_schema").$type<Readonly<Record<string, unknown>>>().notNull(),
  isPublic: boolean("is_public").notNull(),
  sourceAccess: text("source_access", { enum: SOURCE_ACCESS }).notNull().default("hidden"),
  createdAt: moment("created_at").notNull().defaultNow(),
  updatedAt: moment("updated_at").notNull().defaultNow(),
}, (table) => [index("strategies_owner_index").on(table.ownerId), index("strategies_name_index").on(table.name)]);

/** Reserves a deleted strategy's slug for its owner while backtests reference it; the owner may be deleted too. */
export const slugs = pgTable("slugs", {
  slug: text("slug").primaryKey(),
  ownerId: text("owner_id").notNull(),
});

/** WASM modules and scripts by their content: equal bytes are stored once for all users. */
export const modules = pgTable("modules", {
  /** The SHA-256 of the bytes, hexadecimal. */
  sha256: text("sha256").primaryKey(),
  data: bytea("data").notNull(),
  createdAt: moment("created_at").notNull().defaultNow(),
});

export const strategyVersions = pgTable("strategy_versions", {
  strategyId: uuid("strategy_id").notNull().references(() => strategies.id, { onDelete: "cascade" }),
  /** Dotted numeric, as registered. */
  version: text("version").notNull(),
  /** The config as registered, without the artifact's content. */
  runtimeConfig: jsonb("runtime_config").$type<Readonly<Record<string, unknown>>>().notNull(),
  /** The module of a WASM version, the source of a script. */
  sha256: text("sha256").references(() => modules.sha256),
  sizeBytes: integer("size_bytes"),
  /** The parameters that its code declares or reads; null: those of the strategy's parameter_schema. As written, as that one is. */
  parameterSchema: json("parameter_schema").$type<Readonly<Record<string, unknown>>>(),
  createdAt: moment("created_at").notNull().defaultNow(),
}, (table) => [
  primaryKey({ columns: [table.strategyId, table.version] }),
  index("strategy_versions_module_index").on(table.sha256),
]);

/** Modules that wait for a worker's verdict before their registration; removed once it has been read. */
export const moduleChecks = pgTable("module_checks", {
  id: uuid("id").primaryKey(),
  ownerId: text("owner_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  format: text("format", { enum: CHECK_FORMATS }).notNull().default("wasm"),
  /** Uploaded bytes, or the bytes that a worker fetched from `moduleUrl`. */
  data: bytea("data"),
  moduleUrl: text("module_url"),
  /** Parameters for the dry run. */
  parameters: jsonb("parameters").$type<Readonly<Record<string, unknown>>>().notNull(),
  lookbackCandles: integer("lookback_candles").notNull(),
  /** Workers take lower positions first, as with backtests. */
  queuePosition: integer("queue_position").notNull().default(0),
  /** Null until a worker has checked it: accepted, with the parameters that the code declares and whether it decides on many markets, or refused with a code and a reason. As written: jsonb would sort the parameters. */
  verdict: json("verdict").$type<
    | { readonly accepted: true; readonly parameterSchema?: object; readonly decidesOn?: "markets" }
    | { readonly accepted: false; readonly code: string; readonly message: string }
  >(),
  createdAt: moment("created_at").notNull().defaultNow(),
});

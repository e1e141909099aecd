/** Every table. Columns are snake_case in SQL and camelCase here; migrations are generated from this file. */
import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  real,
  smallint,
  text,
  uuid,
} from "drizzle-orm/pg-core";
import type { BacktestResult, Integrity } from "../engine/result.ts";
import type { MonteCarloMethod, MonteCarloResult } from "../research/monte_carlo/request.ts";
import type { StressResult } from "../research/stress/stress_table.ts";
import { user } from "./account_schema.ts";
import type { StoredPlot } from "./codec/plots_part.ts";
import { RESULT_PARTS } from "./codec/result_parts.ts";
import { bytea, moment } from "./column_types.ts";
import { optimizations } from "./optimization_schema.ts";
import type { ResultInputs } from "./result_inputs.ts";
import { recordColumns, requestColumns } from "./run_columns.ts";

export { BACKTEST_STATUSES, CHECK_FORMATS, CODE_FORMATS, type SandboxRuntime } from "./column_types.ts";
export * from "./account_schema.ts";
export * from "./endpoint_schema.ts";
export * from "./market_schema.ts";
export * from "./optimization_schema.ts";
export * from "./strategy_schema.ts";
export * from "./universe_schema.ts";

/** The metrics by which a list shows and sorts runs. */
export const LISTED_METRICS = [
  "total_return",
  "cagr",
  "sharpe",
  "max_drawdown",
  "trades",
  "win_rate",
  "profit_factor",
] as const;

// PostgreSQL computes it from the result, also of a process of an older version.
const metric = (name: (typeof LISTED_METRICS)[number]) =>
  doublePrecision(name).generatedAlwaysAs(sql.raw(`(result -> 'metrics' ->> '${name}')::float8`));

export const backtests = pgTable("backtests", {
  ...recordColumns(),
  ...requestColumns(),
  /** Workers take lower positions first; see quotas.ts. */
  queuePosition: integer("queue_position").notNull().default(0),
  progress: real("progress").notNull().default(0),
  /** Of a running backtest: the equity at the last close, and the open time of that candle. */
  partialEquity: jsonb("partial_equity").$type<{ readonly timestamp: string; readonly equity: number }>(),
  /** How often a worker began it. Only the worker of the last attempt can store a result. */
  attempts: smallint("attempts").notNull().default(0),
  result: jsonb("result").$type<BacktestResult>(),
  /** Of the result: equal for equal inputs. A column of its own, so that an index can count them. */
  runKey: text("run_key").generatedAlwaysAs(sql`result ->> 'run_key'`),
  totalReturn: metric("total_return"),
  cagr: metric("cagr"),
  sharpe: metric("sharpe"),
  maxDrawdown: metric("max_drawdown"),
  trades: metric("trades"),
  winRate: metric("win_rate"),
  profitFactor: metric("profit_factor"),
  /** The names of the integrity checks that failed; null without a result. */
  failedChecks: jsonb("failed_checks").$type<readonly (keyof Integrity)[]>().generatedAlwaysAs(
    sql.raw(`jsonb_path_query_array(result -> 'integrity', '$.keyvalue() ? (@.value.status == "failed").key')`),
  ),
  /** Null until completed, and for results from before there were any. */
  inputs: jsonb("inputs").$type<ResultInputs>(),
  /** The submission wants no stored result of an equal one. */
  fresh: boolean("fresh").notNull().default(false),
  /** The backtest whose stored result this one got without a simulation; it may be gone. */
  reusedFrom: uuid("reused_from"),
  /** The names and panes of the series that its strategy plotted, in the order of their columns; null where it plotted none. */
  plots: json("plots").$type<readonly StoredPlot[]>(),
  /** The equity in a few points, as a fraction of the initial balance; null for results from before there were any. */
  sparkline: doublePrecision("sparkline").array(),
  /** The settings that differ from the strategy's defaults, in words; null where none does, and for records from before it existed. */
  changedSettings: text("changed_settings"),
  /** The owner's own words about it, as the name. */
  tags: text("tags").array().notNull().default(sql`'{}'`),
  notes: text("notes"),
  star: boolean("star").notNull().default(false),
}, (table) => [
  index("backtests_owner_index").on(table.ownerId, table.id),
  index("backtests_key_index").on(table.ownerId, table.idempotencyKey).where(sql`idempotency_key is not null`),
  // Each order and each usual filter of a list; a metric's nulls are at one end of its index.
  index("backtests_return_index").on(table.ownerId, table.totalReturn, table.id),
  index("backtests_sharpe_index").on(table.ownerId, table.sharpe, table.id),
  index("backtests_drawdown_index").on(table.ownerId, table.maxDrawdown, table.id),
  index("backtests_status_index").on(table.ownerId, table.status, table.id),
  index("backtests_symbol_index").on(table.ownerId, table.symbol, table.id),
  index("backtests_strategy_index").on(table.ownerId, table.strategy, table.id),
  // Counts the tries of a strategy on a market, see run_trials.ts.
  index("backtests_trials_index").on(
    table.ownerId,
    table.symbol,
    table.exchange,
    table.strategySlug,
    table.strategy,
    table.runKey,
  )
    .where(sql`status = 'completed'`),
  index("backtests_tags_index").using("gin", table.tags).where(sql`tags <> '{}'`),
  index("backtests_star_index").on(table.ownerId, table.id).where(sql`star`),
  index("backtests_slug_index").on(table.strategySlug).where(sql`runtime is not null`),
  index("backtests_queue_index").on(table.queuePosition).where(sql`status = 'queued'`),
  // Finds the modules in use, see modules.ts.
  index("backtests_module_index").on(sql`(runtime ->> 'sha256')`).where(sql`runtime ->> 'sha256' is not null`),
  // Finds a user's modules, see quotas.ts.
  index("backtests_owner_module_index").on(table.ownerId, sql`(runtime ->> 'sha256')`)
    .where(sql`runtime ->> 'sha256' is not null`),
  // Finds the results of equal submissions, see equal_results.ts.
  index("backtests_inputs_index").on(table.ownerId, sql`(inputs ->> 'key')`).where(sql`inputs is not null`),
  index("backtests_unended_index").on(table.ownerId, table.queuePosition).where(sql`status in ('queued', 'running')`),
]);

/** The sum of `sizeBytes` over each user's backtests: to add it up at each submission would take longer the more there are. */
export const backtestSizes = pgTable("backtest_sizes", {
  ownerId: text("owner_id").primaryKey().references(() => user.id, { onDelete: "cascade" }),
  bytes: bigint("bytes", { mode: "number" }).notNull(),
});

/** Times and closes of candles that curves were marked at, by their content: runs over the same candles share them. */
export const resultCandles = pgTable("result_candles", {
  /** The SHA-256 of the bytes, hexadecimal. */
  sha256: text("sha256").primaryKey(),
  data: bytea("data").notNull(),
  /** The object that has the bytes; null where `data` has them. */
  object: text("object"),
}, (table) => [index("result_candles_object_index").on(table.object).where(sql`object is not null`)]);

/** This database's names in buckets: before the keys of its objects, so that it removes no others. */
export const objectPrefixes = pgTable("object_prefixes", {
  /** The server's origin and the bucket. */
  bucket: text("bucket").primaryKey(),
  prefix: uuid("prefix").notNull().defaultRandom(),
});

/** Lines that a strategy logged, and the stack of the error that ended its run; only for runs that have any. */
export const backtestLogs = pgTable("backtest_logs", {
  backtestId: uuid("backtest_id").primaryKey().references(() => backtests.id, { onDelete: "cascade" }),
  lines: text("lines").array().notNull(),
});

/** A run's trades, orders, equity and plots, each in chunks of equal length (but for the last), as compressed columns. */
export const resultChunks = pgTable("result_chunks", {
  backtestId: uuid("backtest_id").notNull().references(() => backtests.id, { onDelete: "cascade" }),
  /** The attempt that wrote it. Only the chunks of the attempt that completed the record are its result. */
  attempt: smallint("attempt").notNull(),
  part: text("part", { enum: RESULT_PARTS }).notNull(),
  /** From 0. */
  chunk: integer("chunk").notNull(),
  rows: integer("rows").notNull(),
  /** The earliest and the latest time of its rows: of entries, placements and candles. */
  firstTime: moment("first_time").notNull(),
  lastTime: moment("last_time").notNull(),
  data: bytea("data").notNull(),
  /** The rows' tags as compressed JSON, or null where no row has one. */
  tags: bytea("tags"),
  /** The columns that it shares with other results, or null where it has all of its own. */
  candles: text("candles").references(() => resultCandles.sha256),
  /** The object that has the bytes of some chunks, this one among them; null where `data` and `tags` have them. */
  object: text("object"),
  /** Where they are in the object: their first byte, from 1, the length of the data, and of the tags if there are any. */
  objectPlace: integer("object_place").array(),
}, (table) => [
  index("result_chunks_object_index").on(table.object).where(sql`object is not null`),
  primaryKey({ columns: [table.backtestId, table.attempt, table.part, table.chunk] }),
  index("result_chunks_candles_index").on(table.candles).where(sql`candles is not null`),
]);

/** The columns of what is found out about a backtest, see backtest_studies.ts: it goes with the backtest. */
const studyColumns = () => ({
  ...recordColumns(),
  backtestId: uuid("backtest_id").notNull().references(() => backtests.id, { onDelete: "cascade" }),
  progress: real("progress").notNull().default(0),
  attempts: smallint("attempts").notNull().default(0),
});

type StudyKeys = Readonly<Record<"id" | "ownerId" | "backtestId" | "idempotencyKey", AnyPgColumn>>;

const studyIndexes = (name: string) => ({ id, ownerId, backtestId, idempotencyKey }: StudyKeys) => [
  index(`${name}_owner_index`).on(ownerId, id),
  index(`${name}_backtest_index`).on(backtestId, id),
  index(`${name}_key_index`).on(ownerId, idempotencyKey).where(sql`idempotency_key is not null`),
];

/** Many paths that a backtest might have taken. */
export const monteCarlos = pgTable("monte_carlos", {
  ...studyColumns(),
  method: text("method").$type<MonteCarloMethod>().notNull(),
  runs: integer("runs").notNull(),
  /** The mean length of blocks; null for a method without blocks. */
  blockDays: integer("block_days"),
  seed: bigint("seed", { mode: "number" }).notNull(),
  ruinDrawdown: doublePrecision("ruin_drawdown").notNull(),
  result: jsonb("result").$type<MonteCarloResult>(),
}, studyIndexes("monte_carlos"));

/** The series that figures of a Monte Carlo simulation are computed from: those of its paths, and their curves. */
export const monteCarloSeries = pgTable("monte_carlo_series", {
  monteCarloId: uuid("monte_carlo_id").notNull().references(() => monteCarlos.id, { onDelete: "cascade" }),
  name: text("name").notNull(),
  /** See codec/columns.ts. */
  data: bytea("data").notNull(),
}, (table) => [primaryKey({ columns: [table.monteCarloId, table.name] })]);

export const stressTests = pgTable(
  "stress_tests",
  { ...studyColumns(), result: jsonb("result").$type<StressResult>() },
  studyIndexes("stress_tests"),
);

/** Links by which anybody reads a run, a comparison or an optimization of their owner's. */
export const shares = pgTable("shares", {
  id: uuid("id").primaryKey(),
  ownerId: text("owner_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  /** The SHA-256 of the token in the address, hexadecimal. It is as random as a key, so that a slow hash would add nothing. */
  tokenSha256: text("token_sha256").notNull().unique(),
  /** The run, or the first of a comparison; null for an optimization. */
  backtestId: uuid("backtest_id").references(() => backtests.id, { onDelete: "cascade" }),
  /** All runs of a comparison, in its order; null for others. */
  comparedIds: uuid("compared_ids").array(),
  optimizationId: uuid("optimization_id").references(() => optimizations.id, { onDelete: "cascade" }),
  createdAt: moment("created_at").notNull().defaultNow(),
  expiresAt: moment("expires_at").notNull(),
}, (table) => [
  index("shares_owner_index").on(table.ownerId, table.id),
  index("shares_backtest_index").on(table.backtestId).where(sql`backtest_id is not null`),
  index("shares_optimization_index").on(table.optimizationId).where(sql`optimization_id is not null`),
]);

/** The tables of optimizations. */
import { sql } from "drizzle-orm";
import { bigint, index, integer, json, jsonb, pgTable, primaryKey, real, text, uuid } from "drizzle-orm/pg-core";
import type { PathRules } from "../research/luck/tested_paths.ts";
import type { Luck } from "../research/luck/conclusion.ts";
import type { Overfitting } from "../research/overfitting.ts";
import type { Space } from "../research/space.ts";
import type { OutOfSample, WalkForward, WindowDates } from "../research/walk_forward.ts";
import type { TrialNotes } from "./codec/trial_table.ts";
import { bytea } from "./column_types.ts";
import { recordColumns, requestColumns } from "./run_columns.ts";

/** How an optimization chooses its points: all of them, or some at random. */
export const METHODS = ["grid", "random", "tpe"] as const;

/** The end of the objective that is best: its largest value or its smallest. */
export const DIRECTIONS = ["max", "min"] as const;

/** A trial among the best of its optimization; without its other metrics. */
export interface BestTrial {
  readonly number: number;
  /** The number of its point in the space. */
  readonly point: number;
  readonly objective: number;
  /** The trial's Sharpe ratio and the ends of its 95 % interval; absent in older records. */
  readonly sharpe?: number | null;
  readonly sharpe_low?: number | null;
  readonly sharpe_high?: number | null;
}

/** Where the markets of an optimization come from. */
export interface Scan {
  /** With its version, as in `us-large@3`; null where they were listed. */
  readonly universe: string | null;
  /** Trials of a market without candles fail with it; else the optimization fails. */
  readonly skipsMissing: boolean;
  /** Ids of instruments that are no members within the range. */
  readonly leftOut: readonly string[];
}

/** A trial over the dates of a window; null where a figure is undefined. Returns are fractions. */
export interface WindowRun {
  readonly objective: number | null;
  readonly totalReturn: number | null;
  /** Per year. */
  readonly annualReturn: number | null;
  /** Share of the candles with a position; absent in records from before it. */
  readonly exposure?: number | null;
}

/** A walk-forward window as far as it has run. */
export interface OptimizationWindow extends WindowDates {
  /** Of its training; `number` is that of the point. */
  readonly best: BestTrial | null;
  readonly train: WindowRun | null;
  readonly test: WindowRun | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** Of the training's candles; null until its first slice has read them. */
  readonly dataSha256: string | null;
}

export const optimizations = pgTable("optimizations", {
  ...recordColumns(),
  ...requestColumns(),
  space: jsonb("space").$type<Space>().notNull(),
  /** The constraints as submitted. */
  constraints: text("constraints").array().notNull(),
  method: text("method", { enum: METHODS }).notNull(),
  objective: text("objective").notNull(),
  direction: text("direction", { enum: DIRECTIONS }).notNull(),
  trialsMax: integer("trials_max").notNull(),
  /** Up to 2^53 - 1. */
  seed: bigint("seed", { mode: "number" }).notNull(),
  walkForward: jsonb("walk_forward").$type<WalkForward>(),
  /** Of an optimization over many markets, which stand in its space and in scan_markets; null over one. */
  scan: jsonb("scan").$type<Scan>(),
  /** How the days of luck.tested_paths are cut; null: as usual. */
  testedPaths: jsonb("tested_paths").$type<PathRules>(),
  /** Points of the whole space. */
  spacePoints: bigint("space_points", { mode: "number" }).notNull(),
  /** Points that it tries: all of them, or those that it has drawn; 0 until it has begun. */
  points: integer("points").notNull().default(0),
  /** The points that are done, whatever became of them. */
  pointsDone: integer("points_done").notNull().default(0),
  /** Points that are no trials: they break a constraint, or the strategy refuses them. */
  pointsConstrained: integer("points_constrained").notNull().default(0),
  pointsRefused: integer("points_refused").notNull().default(0),
  trials: integer("trials").notNull().default(0),
  trialsFailed: integer("trials_failed").notNull().default(0),
  /** Jobs of its slices that wait or run. */
  slicesOpen: integer("slices_open").notNull().default(0),
  /** The best first. */
  best: jsonb("best").$type<readonly BestTrial[]>().notNull().default([]),
  /** Of the candles of its range: all trials run over the same. Null until the first slice has read them. */
  dataSha256: text("data_sha256"),
  /** How much of its best trial is luck; null until it has completed, and where there is nothing to measure. */
  overfitting: jsonb("overfitting").$type<Overfitting>(),
  /** The reality check of its trials; null as above, and where an earlier version completed it. */
  luck: jsonb("luck").$type<Luck>(),
  /** Of walk_forward; empty until it has begun. */
  windows: jsonb("windows").$type<readonly OptimizationWindow[]>().notNull().default([]),
  /** Points of training windows, and test windows, that are done. */
  windowPointsDone: integer("window_points_done").notNull().default(0),
  /** Null until it has completed. */
  outOfSample: jsonb("out_of_sample").$type<OutOfSample>(),
}, (table) => [
  index("optimizations_owner_index").on(table.ownerId, table.id),
  index("optimizations_key_index").on(table.ownerId, table.idempotencyKey).where(sql`idempotency_key is not null`),
  // Counts the trials of a strategy on a market, see run_trials.ts.
  index("optimizations_trials_index").on(
    table.ownerId,
    table.symbol,
    table.exchange,
    table.strategySlug,
    table.strategy,
  ),
  index("optimizations_unended_index").on(table.ownerId).where(sql`status in ('queued', 'running')`),
  // Finds the modules in use, see modules.ts.
  index("optimizations_module_index").on(sql`(runtime ->> 'sha256')`).where(sql`runtime ->> 'sha256' is not null`),
]);

/** The trials of an optimization, a chunk a slice, as compressed columns. */
export const trialChunks = pgTable("trial_chunks", {
  optimizationId: uuid("optimization_id").notNull().references(() => optimizations.id, { onDelete: "cascade" }),
  /** The place of its first point, from 0: windows come behind the range. A slice that runs twice writes once. */
  first: integer("first").notNull(),
  /** Of the walk-forward window to which it belongs, from 0; null for the whole range. Trainings keep their best trial alone, and all in a guided search. */
  window: integer("window"),
  /** Points, with those that are no trials. */
  points: integer("points").notNull(),
  trials: integer("trials").notNull(),
  /** A row a trial: its place, its metrics, its error; see codec/trial_table.ts. */
  data: bytea("data").notNull(),
  notes: jsonb("notes").$type<TrialNotes>().notNull(),
  /** The daily returns of its trials, see codec/trial_table.ts. */
  returns: bytea("returns").notNull(),
  /** Milliseconds that the slice computed. */
  durationMs: real("duration_ms").notNull(),
}, (table) => [primaryKey({ columns: [table.optimizationId, table.first] })]);

/** The series that figures of an optimization are computed from: its account out of sample, and its splits. */
export const optimizationSeries = pgTable("optimization_series", {
  optimizationId: uuid("optimization_id").notNull().references(() => optimizations.id, { onDelete: "cascade" }),
  name: text("name").notNull(),
  /** See codec/columns.ts. */
  data: bytea("data").notNull(),
}, (table) => [primaryKey({ columns: [table.optimizationId, table.name] })]);

/** The markets of an optimization over many of them, a scan; their symbol and exchange stand in the axis of the space. */
export const scanMarkets = pgTable("scan_markets", {
  optimizationId: uuid("optimization_id").notNull().references(() => optimizations.id, { onDelete: "cascade" }),
  /** The market's place on the axis, from 0. */
  market: integer("market").notNull(),
  symbol: text("symbol").notNull(),
  exchange: text("exchange").notNull(),
  /** The dates of its trials: those of the optimization, as far as it is a member. */
  startDate: text("start_date").notNull(),
  endDate: text("end_date").notNull(),
  /** Of its candles: all its trials run over the same. Null until its first slice has read them. */
  dataSha256: text("data_sha256"),
  /** The days of its trials' daily returns: the first one since 1970, then the days from each to the next. */
  days: json("days").$type<readonly number[]>(),
}, (table) => [primaryKey({ columns: [table.optimizationId, table.market] })]);

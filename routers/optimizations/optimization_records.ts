import { z } from "zod";
import type { Optimization } from "../../db/optimizations.ts";
import { BACKTEST_STATUSES, DIRECTIONS, METHODS } from "../../db/schema.ts";
import { errorOf, reasonsOf, timesOf, type TrialRows } from "../../db/codec/trial_rows.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { marketAt, marketsOf, parametersAt, withoutMarkets } from "../../research/market_axis.ts";
import { type Axis, type Space, valueAt } from "../../research/space.ts";
import { runTrialsSchema } from "../backtests/backtest_records.ts";
import { resultSchema } from "../backtests/backtest_result.ts";
import { outOfSampleSchema, showWindows, walkForwardSchema, windowSchema } from "./optimization_windows.ts";
import { luckSchema, overfittingSchema, showLuck } from "./optimization_luck.ts";
import { recordReader } from "../common/stored_records.ts";
import { errorSchema, RUN_MOMENTS, RUN_QUESTION, showMoments, showQuestion } from "../runs/run_state.ts";
import { metricNameSchema } from "./optimization_request.ts";

const freeForm = z.record(z.string(), z.unknown());
const parameterSchema = z.union([z.number(), z.string(), z.boolean()]);
const parametersSchema = z.record(z.string(), parameterSchema);
const axisSchema = z.union([
  z.object({ min: z.number(), max: z.number(), step: z.number() }),
  z.object({ values: z.array(parameterSchema) }),
]);

const marketSchema = z.string().optional().describe("As in SPY@ARCA; absent in an optimization over one market.");

/** An optimization as clients read it. */
export const optimizationSchema = z.object({
  id: z.uuid(),
  name: z.string().nullable(),
  ...RUN_QUESTION,
  parameters: freeForm,
  space: z.record(z.string(), axisSchema),
  markets: z.object({
    count: z.int().describe("How many there are."),
    universe: z.string().nullable().describe("With its version; null where the markets were listed."),
    missing: z.enum(["fail", "skip"]).describe("As submitted."),
    left_out: z.array(z.string()).describe("Instruments that are no members within the range."),
  }).meta({ id: "ScanMarkets" }).nullable()
    .describe("The markets in which each point is tried; null of an optimization over one."),
  constraints: z.array(z.string()),
  method: z.enum(METHODS),
  objective: metricNameSchema,
  direction: z.enum(DIRECTIONS),
  trials_max: z.int(),
  seed: z.int(),
  walk_forward: walkForwardSchema.nullable(),
  tested_paths: z.object({
    groups: z.int().describe("Equal parts of the days."),
    embargo_days: z.int().nullable().describe("Trading days left out on either side; null: 1 % of all days."),
  }).nullable().describe(
    "As submitted; null where it was left out.",
  ),
  status: z.enum(BACKTEST_STATUSES),
  progress: z.number().min(0).max(1),
  /** Of the space, of those that are tried, and of those that are done; constrained and refused ones are no trials. */
  points: z.object({
    space: z.number(),
    tried: z.int(),
    done: z.int(),
    constrained: z.int(),
    refused: z.int(),
  }),
  trials: z.object({ done: z.int(), failed: z.int(), per_second: z.number().nullable() }),
  /** The best ten so far, the best first. */
  best: z.array(z.object({
    number: z.int(),
    market: marketSchema,
    parameters: parametersSchema,
    objective: z.number(),
    /** Null of optimizations from before these. */
    sharpe: z.number().nullable(),
    sharpe_low: z.number().nullable(),
    sharpe_high: z.number().nullable(),
  })),
  /** How much of the best trial is luck; null until completed, and where no trial has the objective. */
  overfitting: overfittingSchema.nullable(),
  /** The reality check of the trials, or the reason why no trial has the objective; null until completed. */
  luck: luckSchema.nullable(),
  /** Of walk_forward, as far as they have run; null without it. */
  windows: z.array(windowSchema).nullable(),
  /** The test windows as one account; null until completed, and without walk_forward. */
  out_of_sample: outOfSampleSchema.nullable(),
  error: errorSchema.nullable(),
  ...RUN_MOMENTS,
  /** Only where one record is read without waiting, and null until it has ended. */
  tries: runTrialsSchema.nullable().optional(),
}).meta({ id: "Optimization" });

/** A trial as clients read it. */
export const trialSchema = z.object({
  number: z.int(),
  market: marketSchema,
  parameters: parametersSchema,
  metrics: resultSchema.shape.metrics.nullable(),
  undefined_metrics: z.record(z.string(), z.string()),
  error: errorSchema.nullable(),
}).meta({ id: "Trial" });

export type TrialAnswer = z.infer<typeof trialSchema>;

/** @throws {UnreadableRecord} */
export const toOptimization = recordReader(({ id }) => `optimization ${id}`, optimizationSchema, show);

function show(row: Optimization): z.infer<typeof optimizationSchema> {
  const isQueued = row.status === "queued";
  return {
    id: row.id,
    name: row.name,
    ...showQuestion(row),
    parameters: { ...row.parameters },
    space: Object.fromEntries(withoutMarkets(row.space).axes.map((axis) => [axis.name, showAxis(axis)])),
    markets: row.scan === null ? null : {
      count: marketsOf(row.space)?.count ?? 0,
      universe: row.scan.universe,
      missing: row.scan.skipsMissing ? "skip" : "fail",
      left_out: [...row.scan.leftOut],
    },
    constraints: row.constraints,
    method: row.method,
    objective: metricNameSchema.parse(row.objective),
    direction: row.direction,
    trials_max: row.trialsMax,
    seed: row.seed,
    tested_paths: row.testedPaths === null
      ? null
      : { groups: row.testedPaths.groups, embargo_days: row.testedPaths.embargoDays },
    status: row.status,
    progress: measureProgress(row),
    points: {
      space: row.spacePoints,
      tried: isQueued ? Math.min(row.spacePoints, row.trialsMax) : row.points,
      done: row.pointsDone,
      constrained: row.pointsConstrained,
      refused: row.pointsRefused,
    },
    trials: { done: row.trials, failed: row.trialsFailed, per_second: measureSpeed(row) },
    best: row.best.map(({ point, sharpe = null, sharpe_low = null, sharpe_high = null, ...trial }) => ({
      ...trial,
      ...showMarket(row.space, point),
      parameters: { ...parametersAt(row.space, point) },
      sharpe,
      sharpe_low,
      sharpe_high,
    })),
    ...showLuck(row),
    ...showWindows(row),
    error: row.error,
    ...showMoments(row),
  };
}

/** The market of a trial of a scan. */
function showMarket(space: Space, point: number): { readonly market?: string } {
  const market = marketAt(space, point);
  return market === null ? {} : { market };
}

/** The part of all points that is done, over the range and over the windows. */
function measureProgress({ status, points, pointsDone, windows, windowPointsDone }: Optimization): number {
  if (status === "completed") return 1;
  const all = points * (windows.length + 1) + windows.length;
  return all === 0 ? 0 : (pointsDone + windowPointsDone) / all;
}

function showAxis(axis: Axis): z.infer<typeof axisSchema> {
  const values = (count: number) => Array.from({ length: count }, (_, i) => valueAt(axis, i));
  if (!("step" in axis)) return { values: values(axis.count) };
  const [min, max] = [Number(valueAt(axis, 0)), Number(valueAt(axis, axis.count - 1))];
  return { min, max, step: axis.step / 10 ** axis.decimals };
}

/** Trials a second since the beginning; null where there is no time yet. */
function measureSpeed({ trials, startedAt, finishedAt }: Optimization): number | null {
  if (startedAt === null || trials === 0) return null;
  const seconds = ((finishedAt ?? new Date()).getTime() - startedAt.getTime()) / 1000;
  return seconds > 0 ? trials / seconds : null;
}

/** The trial in a row of a chunk. */
export function toTrial(space: Space, rows: TrialRows, row: number): TrialAnswer {
  const { columns } = rows;
  const error = errorOf(rows, row);
  const times = timesOf(rows, row);
  const point = columns.point![row]!;
  return {
    number: columns.place![row]! + 1,
    ...showMarket(space, point),
    parameters: { ...parametersAt(space, point) },
    metrics: error !== null || times === null ? null : readMetrics(columns, times, row),
    undefined_metrics: { ...reasonsOf(rows, row) },
    error,
  };
}

// The records were checked as they were stored. Checking them again takes longer than all the rest.
const metricsSchema = z.custom<z.infer<typeof resultSchema.shape.metrics>>();

/** Metrics that no column holds are null: a chunk from before a metric existed lacks it. */
function readMetrics(
  columns: TrialRows["columns"],
  { start, end }: { readonly start: string; readonly end: string },
  row: number,
): z.infer<typeof resultSchema.shape.metrics> {
  const values = NUMERIC_METRIC_NAMES.map((name) => {
    const value = columns[name]?.[row] ?? NaN;
    return [name, Number.isNaN(value) ? null : value] as const;
  });
  return metricsSchema.parse({ start, end, ...Object.fromEntries(values) });
}

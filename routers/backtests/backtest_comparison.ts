import { z } from "zod";
import { shortSettings } from "../../db/backtest_lists.ts";
import type { Backtest } from "../../db/backtests.ts";
import { readEquityPieces } from "../../db/equity.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { summarySchema, toSummary } from "./backtest_records.ts";
import { CurveGrid } from "./curve_grid.ts";
import { AppError, pointer } from "../common/errors.ts";
import { showQuestion } from "../runs/run_state.ts";
import { readLarge } from "../common/large_reads.ts";
import { idSchema } from "../runs/runs.ts";
import { type CompletedBacktest, mustGet } from "./owned_backtest.ts";
import { curveReader } from "./series.ts";
import { integerSchema } from "../common/paging.ts";
import type { Context, User } from "../common/trpc.ts";

export const COMPARED_MIN = 2;
export const COMPARED_MAX = 5;
const POINTS_MAX = 2_000;
// A time with a value of each curve, and the settings and metrics of a run, as JSON, about.
const POINT_BYTES = 250;
const RUN_BYTES = 20_000;

/** The input of a comparison; in a query, `ids` are separated by commas. */
export const comparisonShape = {
  ids: z.union([z.string().max(1000).transform((text) => text.split(",").map((id) => id.trim())), z.array(idSchema)])
    .pipe(z.array(idSchema).min(COMPARED_MIN).max(COMPARED_MAX)),
  points: integerSchema.pipe(z.int().min(2).max(POINTS_MAX)).default(500),
};

const lines = z.array(z.array(z.number().nullable()));

/** Backtests side by side: each list of values has one for each, in the order of the request. */
export const comparisonSchema = z.object({
  backtests: z.array(summarySchema),
  /** The settings that are not the same in all; null where one does not have it. */
  differences: z.array(z.object({ path: z.string(), values: z.array(z.unknown()) })),
  metrics: z.array(z.object({ name: z.enum(NUMERIC_METRIC_NAMES), values: z.array(z.number().nullable()) })),
  curves: z.object({
    timestamps: z.array(z.iso.datetime()),
    /** 1 at the common start; null after a run's last candle. */
    equity: lines,
    /** The deepest since the timestamp before, against the highest equity since the common start. */
    drawdown: lines,
  }),
});

/** Backtests side by side. */
export type Comparison = z.infer<typeof comparisonSchema>;

/**
 * Compares completed backtests of one user.
 *
 * @throws AppError BACKTEST_NOT_FOUND; VALIDATION_FAILED when one comes twice or has no result.
 */
export async function compareBacktests(
  ctx: Context & { readonly user: User },
  { ids, points }: { readonly ids: readonly string[]; readonly points: number },
): Promise<Comparison> {
  return await readLarge(ctx, async () => {
    const rows: CompletedBacktest[] = [];
    for (const id of ids) rows.push(requireComparable(await mustGet(ctx.db, id, ctx.user.id), rows));
    const curves = await drawCurves(ctx, rows, points);
    ctx.answer.take(curves.timestamps.length * POINT_BYTES + rows.length * RUN_BYTES);
    return {
      backtests: rows.map((row) =>
        toSummary({ ...row, timeframe: timeframeOf(row), settings: shortSettings(row.parameters) })
      ),
      differences: findDifferences(rows),
      metrics: NUMERIC_METRIC_NAMES.map((name) => ({
        name,
        // Results from before a metric existed lack it.
        values: rows.map(({ result }) => result.metrics[name] ?? null),
      })),
      curves,
    };
  });
}

function requireComparable(row: Backtest, others: readonly Backtest[]): CompletedBacktest {
  const { id, result, status } = row;
  if (others.some((other) => other.id === id)) throw refuse(`must name each backtest once, not ${id} twice`);
  if (result === null) throw refuse(`must name completed backtests, and ${id} is ${status}`);
  return { ...row, result };
}

function refuse(message: string): AppError {
  const issues = [{ path: "/ids", message }];
  return new AppError("VALIDATION_FAILED", `Cannot compare the backtests: /ids ${message}`, { issues });
}

function timeframeOf({ parameters: { timeframe } }: Backtest): string | null {
  return typeof timeframe === "string" ? timeframe : null;
}

async function drawCurves(
  ctx: Context & { readonly user: User },
  rows: readonly CompletedBacktest[],
  points: number,
): Promise<Comparison["curves"]> {
  const start = Math.max(...rows.map(({ result }) => Date.parse(result.data.first)));
  const end = Math.max(...rows.map(({ result }) => Date.parse(result.data.last)));
  const grid = new CurveGrid({ start, end, points });
  ctx.answer.takeCandles(rows.reduce((sum, { result }) => sum + result.data.candles, 0));
  for (const { id } of rows) {
    const key = { backtestId: id, ownerId: ctx.user.id };
    await grid.draw(readEquityPieces(ctx.db, key, { sinceMs: start, decode: curveReader(ctx) }));
  }
  const { time, equity, drawdown } = grid.read();
  return {
    timestamps: time.map((timeMs) => new Date(timeMs).toISOString()),
    equity: equity.map((values) => [...values]),
    drawdown: drawdown.map((values) => [...values]),
  };
}

function findDifferences(rows: readonly CompletedBacktest[]): Comparison["differences"] {
  const settings = rows.map((row) => new Map(flatten(settingsOf(row), [])));
  const paths = new Set(settings.flatMap((each) => [...each.keys()]));
  return [...paths].map((path) => ({ path, values: settings.map((each) => each.get(path) ?? null) }))
    .filter(({ values }) => new Set(values.map((value) => JSON.stringify(value))).size > 1);
}

/** The settings that decide a result, as they are named in the record. */
function settingsOf({ result, parameters, ...row }: CompletedBacktest) {
  return {
    ...showQuestion(row),
    // The result has the settings that depend on the market, too.
    parameters: { ...parameters, execution: result.execution },
    result: {
      engine_version: result.engine_version,
      module_sha256: result.module_sha256,
      data: { sha256: result.data.sha256 },
    },
  };
}

function* flatten(value: object, path: readonly string[]): Generator<readonly [path: string, value: unknown]> {
  for (const [key, inner] of Object.entries(value)) {
    const innerPath = [...path, key];
    if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) yield* flatten(inner, innerPath);
    else yield [pointer(innerPath), inner];
  }
}

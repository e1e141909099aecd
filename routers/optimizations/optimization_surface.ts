import { z } from "zod";
import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { collectInSlices } from "../../db/result_chunks.ts";
import { readTrialMetric } from "../../db/trial_chunks.ts";
import { PARAMETER_NAME_LENGTH_MAX } from "../../research/parse_space.ts";
import { type Axis, placesAt, valueAt } from "../../research/space.ts";
import { AppError, quote } from "../common/errors.ts";
import { hintNearest } from "../common/errors.ts";
import { metricNameSchema } from "./optimization_request.ts";

/** Most cells of a surface. */
const CELLS_MAX = 250_000;

const REDUCTIONS = ["max", "min", "mean", "median"] as const;

const parameterSchema = z.union([z.number(), z.string(), z.boolean()]);
const axisSchema = z.object({ parameter: z.string(), values: z.array(parameterSchema) });

export const surfaceShape = {
  x: z.string().max(PARAMETER_NAME_LENGTH_MAX),
  /** Absent: the surface is a line. */
  y: z.string().max(PARAMETER_NAME_LENGTH_MAX).optional(),
  metric: metricNameSchema.optional(),
  reduce: z.enum(REDUCTIONS).optional(),
};

// Our own, and up to 250,000 cells: to check each of them takes longer than all the rest.
const gridOf = <Cell>(type: "number" | "integer", isNullable: boolean) =>
  z.custom<Cell[][]>(Array.isArray).meta({
    type: "array",
    items: { type: "array", items: { type: isNullable ? [type, "null"] : type } },
  });

/** A metric over two parameters; a cell is null where no trial has the metric. */
export const surfaceSchema = z.object({
  x: axisSchema,
  y: axisSchema.nullable(),
  metric: metricNameSchema,
  reduce: z.enum(REDUCTIONS),
  /** A row for each value of y, in it a cell for each value of x. */
  values: gridOf<number | null>("number", true),
  /** Trials behind each cell. */
  counts: gridOf<number>("integer", false),
  /** The number of the trial in each cell that is best by the optimization's direction. */
  best: gridOf<number | null>("integer", true),
}).meta({ id: "Surface" });

type SurfaceRequest = z.infer<z.ZodObject<typeof surfaceShape>>;

/**
 * Reduces all trials of an optimization to a surface over one or two of its parameters.
 *
 * @throws AppError VALIDATION_FAILED for a parameter that the space does not have, and for too many cells.
 */
export async function readSurface(
  db: Db,
  record: Optimization,
  request: SurfaceRequest,
): Promise<z.infer<typeof surfaceSchema>> {
  const { axes } = record.space;
  const x = findAxis(axes, "x", request.x);
  const y = request.y === undefined ? null : findAxis(axes, "y", request.y);
  if (x === y) throw refuse("y", `must be another parameter than x, not ${quote(request.y)}`);
  const [columns, rows] = [axes[x]!.count, y === null ? 1 : axes[y]!.count];
  if (columns * rows > CELLS_MAX) {
    throw refuse("x", `and y must have at most ${CELLS_MAX} pairs of values, not ${columns * rows}`);
  }
  const metric = request.metric ?? metricNameSchema.parse(record.objective);
  const reduce = request.reduce ?? record.direction;
  const cells: number[][] = Array.from({ length: columns * rows }, () => []);
  const best: { readonly value: number; readonly number: number }[] = [];
  const isBetter = (value: number, than: number) => record.direction === "max" ? value > than : value < than;
  for await (const chunk of readTrialMetric(db, record.id, metric)) {
    const values = chunk.columns[metric] ?? new Float64Array(chunk.count).fill(NaN);
    for (let row = 0; row < chunk.count; row++) {
      if (Number.isNaN(values[row]!)) continue;
      const places = placesAt(record.space, chunk.columns.point![row]!);
      const cell = (y === null ? 0 : places[y]!) * columns + places[x]!;
      const value = values[row]!;
      cells[cell]!.push(value);
      const before = best[cell];
      if (before === undefined || isBetter(value, before.value)) {
        best[cell] = { value, number: chunk.columns.place![row]! + 1 };
      }
    }
  }
  const rowOf = <T>(row: number, show: (cell: number[], i: number) => T): T[] =>
    cells.slice(row * columns, (row + 1) * columns).map((cell, column) => show(cell, row * columns + column));
  const grid = <T>(show: (cell: number[], i: number) => T): Promise<T[][]> =>
    collectInSlices(Array.from({ length: rows }).keys().map((row) => rowOf(row, show)));
  return {
    x: showAxis(axes[x]!),
    y: y === null ? null : showAxis(axes[y]!),
    metric,
    reduce,
    values: await grid((cell) => cell.length === 0 ? null : REDUCE[reduce](cell)),
    counts: await grid((cell) => cell.length),
    best: await grid((_, i) => best[i]?.number ?? null),
  };
}

const REDUCE: Readonly<Record<(typeof REDUCTIONS)[number], (values: number[]) => number>> = {
  max: (values) => values.reduce((a, b) => Math.max(a, b)),
  min: (values) => values.reduce((a, b) => Math.min(a, b)),
  mean: (values) => values.reduce((a, b) => a + b) / values.length,
  median: (values) => {
    const sorted = values.toSorted((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  },
};

function findAxis(axes: readonly Axis[], key: "x" | "y", name: string): number {
  const at = axes.findIndex((axis) => axis.name === name);
  if (at >= 0) return at;
  const names = axes.map((axis) => axis.name);
  throw refuse(
    key,
    `must be a parameter of the space, ${names.join(" or ")}, not ${quote(name)}${hintNearest(name, names)}`,
  );
}

function showAxis(axis: Axis): z.infer<typeof axisSchema> {
  return { parameter: axis.name, values: Array.from({ length: axis.count }, (_, i) => valueAt(axis, i)) };
}

function refuse(key: string, message: string): AppError {
  const path = `/${key}`;
  return new AppError("VALIDATION_FAILED", `Cannot show the surface: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

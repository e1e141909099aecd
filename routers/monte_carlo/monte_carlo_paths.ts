/** The paths of a Monte Carlo simulation, as tables. */
import { z } from "zod";
import type { Columns } from "../../db/codec/columns.ts";
import { readMonteCarloSeries } from "../../db/series.ts";
import type { MonteCarlo } from "../../db/monte_carlos.ts";
import { curvesName, figuresName, type Sampling, SAMPLINGS } from "../../research/monte_carlo/path_sample.ts";
import { columnsOf } from "../common/formats.ts";
import type { Page } from "../common/paging.ts";
import { pageRows } from "../common/row_pages.ts";
import type { Context, User } from "../common/trpc.ts";

const NONE = new Float64Array();

type Reading = Pick<Context, "db" | "userTurns"> & { readonly user: User };

const sampledShape = {
  sampling: z.enum(SAMPLINGS),
  path: z.int().describe("From 1, in the order in which they were made."),
};

/** The figures of a path. */
export const pathSchema = z.object({
  ...sampledShape,
  final_equity: z.number().describe("The account at the end of the path."),
  max_drawdown: z.number().describe("The largest fall from a peak, the initial balance included, as a fraction."),
  sharpe: z.number().nullable(),
  losing_streak: z.number().describe("The longest series of losing trades, or of losing days."),
}).meta({ id: "MonteCarloPath" });

/** A point of a path's curve. */
export const curvePointSchema = z.object({
  ...sampledShape,
  position: z.int().describe("How many trades, days or candles are over."),
  equity: z.number().describe("The account then."),
}).meta({ id: "MonteCarloPoint" });

export const PATH_COLUMNS = columnsOf(pathSchema);
export const POINT_COLUMNS = columnsOf(curvePointSchema);

/** Reads the figures of a simulation's paths; none of one that has not completed. */
export function readPathRows(ctx: Reading, row: MonteCarlo): AsyncGenerator<Page<z.infer<typeof pathSchema>>> {
  return pageRows(ctx, listPaths(ctx, row));
}

async function* listPaths({ db }: Reading, { id, result }: MonteCarlo) {
  for (const { sampling } of result?.samples ?? []) {
    const columns = await readMonteCarloSeries(db, id, figuresName(sampling));
    if (columns !== null) yield toPathRows(sampling, columns);
  }
}

/** The rows of the stored figures of a sample's paths. */
function toPathRows(
  sampling: Sampling,
  { final_equity: finals = NONE, max_drawdown = NONE, sharpe = NONE, losing_streak = NONE }: Columns,
): z.infer<typeof pathSchema>[] {
  return Array.from(finals, (equity, i) => ({
    sampling,
    path: i + 1,
    final_equity: equity,
    max_drawdown: max_drawdown[i] ?? NaN,
    sharpe: Number.isNaN(sharpe[i] ?? NaN) ? null : sharpe[i]!,
    losing_streak: losing_streak[i] ?? NaN,
  }));
}

/** Reads the curves of a simulation's first paths. */
export function readPointRows(ctx: Reading, row: MonteCarlo): AsyncGenerator<Page<z.infer<typeof curvePointSchema>>> {
  return pageRows(ctx, listPoints(ctx, row));
}

async function* listPoints({ db }: Reading, { id, result }: MonteCarlo) {
  for (const { sampling, curves: { positions } } of result?.samples ?? []) {
    const columns = await readMonteCarloSeries(db, id, curvesName(sampling));
    if (columns !== null) yield* toPointRows({ sampling, positions }, columns);
  }
}

/** The rows of the stored curves of a sample, a path at a time. */
function* toPointRows(
  { sampling, positions }: { readonly sampling: Sampling; readonly positions: readonly number[] },
  { equity = NONE }: Columns,
): Generator<z.infer<typeof curvePointSchema>[]> {
  for (let from = 0; from < equity.length; from += positions.length) {
    const path = from / positions.length + 1;
    yield positions.map((position, i) => ({ sampling, path, position, equity: equity[from + i] ?? NaN }));
  }
}

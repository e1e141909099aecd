/** The series that a run's strategy plotted, or decided by if it is built in: each candle, and merged for drawing. */
import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { CHUNK_ROWS } from "../../db/codec/result_parts.ts";
import { countPlotCandles, type PlotPiece, type PlotsKey, readPlots } from "../../db/plots.ts";
import { findLines, readLines } from "./builtin_lines.ts";
import { type Buckets, chooseBuckets } from "./chart_columns.ts";
import { plotSchema } from "./backtest_records.ts";
import { formatSchema } from "../common/formats.ts";
import { inputObject } from "../common/input_object.ts";
import { idSchema } from "../runs/runs.ts";
import { mustGet } from "./owned_backtest.ts";
import { piecesInTurns, readLarge } from "../common/large_reads.ts";
import { encodeCursor, integerSchema, listShape } from "../common/paging.ts";
import { countBefore, type TimeRange } from "./equity.ts";
import { type ChartRange, MARKET_LETTERS_MAX } from "./run_chart.ts";
import { afterCursor, rangeShape, type SeriesAnswer, toRange } from "./series.ts";
import { type Context, linkedProcedure, type UserContext, userProcedure } from "../common/trpc.ts";

const ROWS_DEFAULT = 500;
const ROWS_MAX = 10_000;
const POINTS_MAX = 4_000;
// A value as JSON, about.
const VALUE_BYTES = 20;
// A candle of the market has as many values.
const CANDLE_COLUMNS = 6;

/** A candle's plotted values, in the order of the plots; null where there is none. */
export const plotPointSchema = z.object({
  timestamp: z.iso.datetime(),
  values: z.array(z.number().nullable()),
}).meta({ id: "PlotPoint" });

/** Plots for drawing: a value per bucket of `step` candles, in columns. */
export const plotChartSchema = z.object({
  plots: z.array(plotSchema),
  /** Candles of all: those of the run, or fewer where it failed. */
  candles: z.int(),
  /** Index of the first candle of the answer, and of the one after its last. */
  from: z.int(),
  until: z.int(),
  /** Candles in a bucket, as in the run's chart. */
  step: z.int(),
  /** Open of the bucket's first candle, milliseconds since 1970. */
  time: z.array(z.number()),
  /** For each plot, the last value of each bucket; null where it has none. */
  values: z.array(z.array(z.number().nullable())),
});
type PlotChart = z.infer<typeof plotChartSchema>;

/** How a request wants plots: a page of their candles, or all of them. */
const plotsShape = {
  id: idSchema,
  ...rangeShape,
  format: formatSchema,
  limit: integerSchema.pipe(z.int().min(1).max(ROWS_MAX)).optional(),
  cursor: listShape.cursor,
};

export const plotProcedures = {
  /** The plots of one of the caller's ended backtests, merged into about `points` buckets to draw. */
  series: linkedProcedure("backtest", "id")
    .input(inputObject({
      id: idSchema,
      from: z.int().min(0).default(0),
      until: z.int().min(1).optional(),
      points: z.int().min(2).max(POINTS_MAX).default(1_000),
      market: z.string().max(MARKET_LETTERS_MAX).optional(),
    }))
    .output(plotChartSchema)
    .query(async ({ ctx, input: { id, ...range } }) => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      return await readLarge(ctx, async () => {
        const chart = await readPlotChart(ctx, row, range);
        ctx.answer.take(chart.time.length * (1 + chart.plots.length) * VALUE_BYTES);
        return chart;
      });
    }),
};

export const plotStreamsProcedures = {
  /** The plots of one of the caller's ended backtests. CSV and Arrow hold every candle unless there is a limit; JSON is a page. */
  series: userProcedure
    .input(inputObject(plotsShape))
    .query(async ({ ctx, input: { id, ...request } }) =>
      answerPlots(ctx, await mustGet(ctx.db, id, ctx.user.id), request)
    ),
};

/** The plots in the format that is asked for, read in turns of the caller's. */
async function answerPlots(
  ctx: UserContext,
  row: Backtest,
  { format, limit, cursor, ...moments }: Omit<z.infer<z.ZodObject<typeof plotsShape>>, "id">,
): Promise<SeriesAnswer> {
  const range = afterCursor(toRange(moments), cursor);
  const plots = findLines(row, undefined)?.plots ?? row.plots ?? [];
  const columns = plots.map(({ name }) => name);
  const cut = (rows: number) => readLarge(ctx, () => cutPage(readRange(ctx, row, range), rows));
  const page = limit === undefined ? null : await cut(limit);
  const body = async () => {
    const { pieces, nextCursor } = page ?? await cut(ROWS_DEFAULT);
    return { plots, series: pieces.flatMap(toPoints), next_cursor: nextCursor };
  };
  const pieces = async function* () {
    for await (const { time, columns: values } of page?.pieces ?? piecesInTurns(ctx, readRange(ctx, row, range))) {
      yield { time, columns: Object.fromEntries(columns.map((name, place) => [name, values[place]!])) };
    }
  };
  return { format, columns, body, pieces, nextCursor: page?.nextCursor ?? null };
}

/** The plotted candles of a range, a piece of which is in memory at a time. */
async function* readRange(ctx: Context, row: Backtest, { from, to }: TimeRange): AsyncGenerator<PlotPiece> {
  const lines = findLines(row, undefined);
  const sinceMs = Number.isFinite(from) ? from : undefined;
  for await (const piece of lines === null ? storedSince(ctx, row, sinceMs) : readLines(ctx, row, lines, { sinceMs })) {
    const end = countBefore(piece.time, to);
    const cut = cutPiece(piece, countBefore(piece.time, from), end);
    if (cut.time.length > 0) yield cut;
    if (end < piece.time.length) return;
  }
}

/** The plots that a run has stored, from the piece with the first candle at this time or later. */
async function* storedSince({ db }: Context, row: Backtest, sinceMs: number | undefined): AsyncGenerator<PlotPiece> {
  const key = plotsKey(row);
  if (key !== null) yield* readPlots(db, key, sinceMs === undefined ? { index: 0 } : { timeMs: sinceMs });
}

/** The first candles of pieces, and the cursor of the rest. @param limit At least 1. */
async function cutPage(
  pieces: AsyncIterable<PlotPiece>,
  limit: number,
): Promise<{ readonly pieces: readonly PlotPiece[]; readonly nextCursor: string | null }> {
  const kept: PlotPiece[] = [];
  let left = limit;
  for await (const piece of pieces) {
    if (piece.time.length > left) {
      if (left > 0) kept.push(cutPiece(piece, 0, left));
      return { pieces: kept, nextCursor: encodeCursor(String(kept.at(-1)?.time.at(-1))) };
    }
    kept.push(piece);
    left -= piece.time.length;
  }
  return { pieces: kept, nextCursor: null };
}

/** Merges plots into the same buckets as the run's chart. @param range Its market: of a run over many, whose lines are drawn. */
export async function readPlotChart(ctx: Context, row: Backtest, range: ChartRange): Promise<PlotChart> {
  const lines = findLines(row, range.market);
  const plots = [...lines?.plots ?? row.plots ?? []];
  const key = plotsKey(row);
  const stored = async () => key === null ? 0 : await countPlotCandles(ctx.db, key);
  const candles = lines === null ? await stored() : row.result?.data.candles ?? 0;
  const until = Math.min(range.until ?? candles, candles);
  const buckets = chooseBuckets(Math.min(range.from, until), until, range.points);
  if (lines !== null) {
    const merged = new PlotBuckets(plots.length, buckets, buckets.from);
    for await (const piece of readLines(ctx, row, lines, buckets)) merged.add(piece);
    return { plots, candles, ...buckets, time: merged.time, values: merged.values };
  }
  const merged = new PlotBuckets(plots.length, buckets, Math.floor(buckets.from / CHUNK_ROWS) * CHUNK_ROWS);
  if (key !== null && candles > 0) {
    for await (const piece of readPlots(ctx.db, key, { index: buckets.from })) {
      ctx.answer.takeCandles(Math.ceil(piece.time.length * (1 + plots.length) / CANDLE_COLUMNS));
      if (!merged.add(piece)) break;
    }
  }
  return { plots, candles, ...buckets, time: merged.time, values: merged.values };
}

/** Plots in buckets, filled from pieces in their order. */
class PlotBuckets {
  readonly time: number[] = [];
  readonly values: (number | null)[][];
  readonly #buckets: Buckets;
  #row: number;

  /** @param firstRow Of the first piece, at most that of the first bucket. */
  constructor(plots: number, buckets: Buckets, firstRow: number) {
    this.values = Array.from({ length: plots }, () => []);
    this.#buckets = buckets;
    this.#row = firstRow;
  }

  /** Adds the next piece. @returns False once all buckets are full. */
  add({ time, columns }: PlotPiece): boolean {
    const { from, until, step } = this.#buckets;
    const first = this.#row;
    this.#row += time.length;
    const begin = Math.max(from, first);
    const end = Math.min(until, this.#row);
    for (let row = begin; row < end; row++) {
      if ((row - from) % step === 0) {
        this.time.push(time[row - first]!);
        for (const values of this.values) values.push(null);
      }
      const last = this.time.length - 1;
      for (let n = 0; n < columns.length; n++) {
        const value = columns[n]![row - first]!;
        if (!Number.isNaN(value)) this.values[n]![last] = value;
      }
    }
    return this.#row < until;
  }
}

/** Null where the run has no plots. */
function plotsKey({ id: backtestId, ownerId, plots }: Backtest): PlotsKey | null {
  return plots === null || plots.length === 0 ? null : { backtestId, ownerId, plots: plots.length };
}

function cutPiece({ time, columns }: PlotPiece, begin: number, end: number): PlotPiece {
  return { time: time.subarray(begin, end), columns: columns.map((values) => values.subarray(begin, end)) };
}

function toPoints({ time, columns }: PlotPiece): z.infer<typeof plotPointSchema>[] {
  return Array.from(time, (timeMs, i) => ({
    timestamp: new Date(timeMs).toISOString(),
    values: columns.map((values) => Number.isNaN(values[i]) ? null : values[i]!),
  }));
}

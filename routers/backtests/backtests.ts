import { z } from "zod";
import { listFilterValues } from "../../db/backtest_lists.ts";
import type { Backtest } from "../../db/backtests.ts";
import { RETURN_PERIODS } from "../../engine/metrics/period_returns.ts";
import { backtestRuns } from "./backtest_runs.ts";
import {
  backtestSchema,
  equityPointSchema,
  orderSchema,
  returnSchema,
  summarySchema,
  toBacktest,
  tradeSchema,
} from "./backtest_records.ts";
import { backtestFilters, backtestList, type OrderedList, summaryList } from "./backtest_lists.ts";
import { afterNumber, countOrdersBefore, listRows, orderList, tradeList } from "./row_lists.ts";
import { drawingProcedures } from "./backtest_drawings.ts";
import { tradeProcedures } from "./trade_procedures.ts";
import { logProcedures } from "./backtest_log.ts";
import { reportProcedures } from "./backtest_report.ts";
import { verificationProcedures } from "./backtest_verification.ts";
import { compareBacktests, comparisonSchema, comparisonShape } from "./backtest_comparison.ts";
import { changeLabels, labelShape } from "./backtest_labels.ts";
import { followList } from "./list_changes.ts";
import { backtestRequestSchema, submitBacktest } from "./backtest_submission.ts";
import { inputObject } from "../common/input_object.ts";
import { answerCurve, curveShape, POINTS_DEFAULT, pointsSchema } from "./curve_answer.ts";
import { columnsOf, formatSchema } from "../common/formats.ts";
import { readInTurns, readLarge } from "../common/large_reads.ts";
import { HOLDING_COLUMNS, readHoldings } from "./holdings.ts";
import { marketIn, mustGet, mustOwnRun } from "./owned_backtest.ts";
import { type ListAnswer, listShape, pageShape, readList, readListPage } from "../common/paging.ts";
import { plotProcedures, plotStreamsProcedures } from "./plot_series.ts";
import {
  rangeShape,
  readCurve,
  readReturns,
  RETURNS_COLUMNS,
  type SeriesAnswer,
  toCurveRows,
  toRange,
  toReturnRows,
} from "./series.ts";
import { runProcedures, runStreams } from "../runs/run_procedures.ts";
import { idSchema } from "../runs/runs.ts";
import { readRunTrials } from "./run_trials.ts";
import { type Context, linkedProcedure, router, type UserContext, userProcedure } from "../common/trpc.ts";

// A point of a series as JSON, about.
const POINT_BYTES = 120;
const INSTRUMENT_LENGTH_MAX = 200;
const periodSchema = z.enum(RETURN_PERIODS).default("monthly");
const tradeColumns = columnsOf(tradeSchema);
const orderColumns = columnsOf(orderSchema);
const marketShape = { instrument: z.string().max(INSTRUMENT_LENGTH_MAX).optional() };
const rowsShape = { id: idSchema, ...marketShape };

/** The inputs of a run's files, without the run. */
export const EXPORT_SHAPES = {
  orders: { ...marketShape, format: formatSchema, ...listShape },
  trades: { ...marketShape, format: formatSchema, ...listShape },
  equity: curveShape,
  holdings: { ...marketShape, format: formatSchema },
  returns: { period: periodSchema, format: formatSchema },
};

const shown = {
  runs: backtestRuns,
  createSchema: inputObject({ backtest: backtestRequestSchema }).transform((input) => ({ request: input.backtest })),
  answerSchema: z.object({ backtest: backtestSchema }),
  submit: submitBacktest,
  show: toBacktest,
  showOne: showWithTrials,
  answer: (backtest: z.infer<typeof backtestSchema>) => ({ backtest }),
  eventId: ({ attempts, status, progress }: Backtest) => `${attempts}-${status}-${progress}`,
};

async function showWithTrials(ctx: Context, row: Backtest): Promise<z.infer<typeof backtestSchema>> {
  return { ...toBacktest(row), trials: await readRunTrials(ctx, row) };
}

export const backtestsRouter = router({
  ...runProcedures(shown),

  /** A page of the caller's backtests, newest first where nothing else is asked for. */
  list: userProcedure
    .input(inputObject({ ...pageShape, ...backtestFilters }))
    .output(z.object({ backtests: z.array(backtestSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, ...request } }) => {
      const { list, after } = backtestList(ctx.db, ctx.user.id, request);
      const { items, next_cursor } = await readListPage(list, { limit, after }, ctx.answer);
      return { backtests: [...items], next_cursor };
    }),

  /** The same, each without its parameters, notes and result. */
  summaries: userProcedure
    .input(inputObject({ ...pageShape, ...backtestFilters }))
    .output(z.object({ backtests: z.array(summarySchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, ...request } }) => {
      const { list, after } = summaryList(ctx.db, ctx.user.id, request);
      const { items, next_cursor } = await readListPage(list, { limit, after }, ctx.answer);
      return { backtests: [...items], next_cursor };
    }),

  /** Counts the changes of the caller's list: now, and again after backtests were submitted, begun, labelled, ended or deleted. */
  onListChange: userProcedure.subscription(({ ctx, signal }) => followList(ctx, signal)),

  /** The strategies, symbols and tags of the caller's 10,000 newest backtests, to choose filters from; 200 of each at most. */
  filterValues: userProcedure
    .output(z.object({ strategies: z.array(z.string()), symbols: z.array(z.string()), tags: z.array(z.string()) }))
    .query(({ ctx }) => listFilterValues(ctx.db, ctx.user.id)),

  /** Compares two to five of the caller's completed backtests: settings, metrics, curves from a common start. */
  compare: userProcedure
    .input(inputObject(comparisonShape))
    .output(comparisonSchema)
    .query(({ ctx, input }) => compareBacktests(ctx, input)),

  /** Changes the name, tags, notes and star of one of the caller's backtests; null clears. */
  update: userProcedure
    .input(inputObject({ id: idSchema, backtest: inputObject(labelShape) }))
    .output(z.object({ backtest: backtestSchema }))
    .mutation(async ({ ctx, input }) => {
      const { id } = await mustGet(ctx.db, input.id, ctx.user.id);
      return {
        backtest: await showWithTrials(ctx, await changeLabels(ctx, { id, ownerId: ctx.user.id }, input.backtest)),
      };
    }),

  /** A page of the orders of one of the caller's completed backtests, in order of placement; from a time on, where one is given. */
  orders: linkedProcedure("backtest", "id")
    .input(inputObject({ ...rowsShape, ...pageShape, placed_from: z.number().int().min(0).optional() }))
    .output(z.object({ orders: z.array(orderSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { id, instrument, limit, cursor, placed_from: from } }) => {
      const list = readInTurns(ctx, orderList(ctx, await mustOwnRun(ctx, id, instrument)));
      const before = from === undefined ? 0 : await countOrdersBefore(list, from);
      const after = String(Math.max(before, Number(afterNumber(cursor) ?? 0)));
      const { items, next_cursor } = await readListPage(list, { limit, after }, ctx.answer);
      return { orders: [...items], next_cursor };
    }),

  /** A page of the trades of one of the caller's completed backtests, oldest first. */
  trades: linkedProcedure("backtest", "id")
    .input(inputObject({ ...rowsShape, ...pageShape }))
    .output(z.object({ trades: z.array(tradeSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { id, instrument, limit, cursor } }) => {
      const list = readInTurns(ctx, tradeList(ctx, await mustOwnRun(ctx, id, instrument)));
      const { items, next_cursor } = await readListPage(list, { limit, after: afterNumber(cursor) }, ctx.answer);
      return { trades: [...items], next_cursor };
    }),

  /** The equity curve of one of the caller's completed backtests, thinned to about `points`; extremes stay. */
  equity: linkedProcedure("backtest", "id")
    .input(inputObject({ id: idSchema, points: pointsSchema.default(POINTS_DEFAULT), ...rangeShape }))
    .output(z.object({ equity: z.array(equityPointSchema) }))
    .query(async ({ ctx, input: { id, points, ...moments } }) => {
      const range = toRange(moments);
      const row = await mustGet(ctx.db, id, ctx.user.id);
      const equity = await readRows(ctx, row, async () => toCurveRows(await readCurve(ctx, row, points, range)));
      return { equity };
    }),

  /** The returns of one of the caller's completed backtests by trading day, month or year, oldest first. */
  returns: linkedProcedure("backtest", "id")
    .input(inputObject({ id: idSchema, period: periodSchema }))
    .output(z.object({ returns: z.array(returnSchema) }))
    .query(async ({ ctx, input }) => {
      const row = await mustGet(ctx.db, input.id, ctx.user.id);
      const returns = await readRows(ctx, row, async () => toReturnRows(await readReturns(ctx, row, input.period)));
      return { returns };
    }),

  ...drawingProcedures,
  ...tradeProcedures,
  ...plotProcedures,
  ...reportProcedures,
  ...logProcedures,
  ...verificationProcedures,
});

/** Procedures with streams, which only REST can carry. */
export const backtestsStreamsRouter = router({
  ...runStreams(shown),

  /** The caller's backtests, in the order asked for: all of them, or a page where there is a limit. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...backtestFilters, view: z.enum(["full", "summary"]).default("full") }))
    .query(({ ctx, input: { limit, view, ...request } }): ListAnswer => {
      const read = <Row, Item>({ list, after }: OrderedList<Row, Item>) => readList(list, { limit, after }, ctx.answer);
      const pages = view === "full"
        ? read(backtestList(ctx.db, ctx.user.id, request))
        : read(summaryList(ctx.db, ctx.user.id, request));
      return { name: "backtests", pages };
    }),

  /** The orders of one of the caller's backtests: all of them, or a page. */
  orders: userProcedure
    .input(inputObject({ id: idSchema, ...EXPORT_SHAPES.orders }))
    .query(async ({ ctx, input: { id, instrument, format, limit, cursor } }): Promise<ListAnswer> => {
      const run = await mustOwnRun(ctx, id, instrument);
      return listRows(ctx, run, { part: "orders", list: orderList(ctx, run), columns: orderColumns }, {
        format,
        limit,
        cursor,
      });
    }),

  /** The trades of one of the caller's backtests: all of them, or a page. */
  trades: userProcedure
    .input(inputObject({ id: idSchema, ...EXPORT_SHAPES.trades }))
    .query(async ({ ctx, input: { id, instrument, format, limit, cursor } }): Promise<ListAnswer> => {
      const run = await mustOwnRun(ctx, id, instrument);
      return listRows(ctx, run, { part: "trades", list: tradeList(ctx, run), columns: tradeColumns }, {
        format,
        limit,
        cursor,
      });
    }),

  /** Streams `backtests.equity`. CSV and Arrow hold every candle unless `points` or `limit` says otherwise. */
  equity: userProcedure
    .input(inputObject({ id: idSchema, ...EXPORT_SHAPES.equity }))
    .query(async ({ ctx, input: { id, ...request } }) =>
      answerCurve(ctx, await mustGet(ctx.db, id, ctx.user.id), request)
    ),

  /** The weights of one of the caller's backtests over many markets, and the profit of each market so far. */
  holdings: userProcedure
    .input(inputObject({ id: idSchema, ...EXPORT_SHAPES.holdings }))
    .query(async ({ ctx, input: { id, instrument, format } }): Promise<ListAnswer> => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      const pages = readHoldings(ctx, row, marketIn(row, instrument));
      return { name: "holdings", pages, table: { format, columns: HOLDING_COLUMNS, isPage: false } };
    }),

  ...plotStreamsProcedures,

  /** Streams `backtests.returns`. */
  returns: userProcedure
    .input(inputObject({ id: idSchema, ...EXPORT_SHAPES.returns }))
    .query(async ({ ctx, input: { id, period, format } }): Promise<SeriesAnswer> => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      const returns = await readLarge(ctx, () => readReturns(ctx, row, period));
      const body = () => Promise.resolve({ returns: toReturnRows(returns) });
      return { format, columns: RETURNS_COLUMNS, body, pieces: () => [returns] };
    }),
});

/** Reads rows that are made of a run's whole curve, and counts its candles and their bytes. */
async function readRows<Row>(
  ctx: UserContext,
  run: Backtest,
  read: () => Promise<Row[]>,
): Promise<Row[]> {
  return await readLarge(ctx, async () => {
    ctx.answer.takeCandles(run.result?.data.candles ?? 0);
    const rows = await read();
    ctx.answer.take(rows.length * POINT_BYTES);
    return rows;
  });
}

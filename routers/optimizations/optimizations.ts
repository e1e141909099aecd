import { z } from "zod";
import type { Optimization } from "../../db/optimizations.ts";
import { type NewScanMarket, readScanMarkets } from "../../db/scan_markets.ts";
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import { trialColumns } from "../../workers/rows/write_trials.ts";
import { backtestSchema, toBacktest } from "../backtests/backtest_records.ts";
import { submitBacktest } from "../backtests/backtest_submission.ts";
import { AppError } from "../common/errors.ts";
import { formatSchema } from "../common/formats.ts";
import { inputObject } from "../common/input_object.ts";
import { readInTurns, readLarge } from "../common/large_reads.ts";
import { integerSchema, type ListAnswer, listShape, pageShape, readList, readListPage } from "../common/paging.ts";
import { afterId, newestFirst, runProcedures, runStreams } from "../runs/run_procedures.ts";
import { idSchema } from "../runs/runs.ts";
import { sameMembers } from "../universes/same_members.ts";
import { sameStrategy } from "../strategies/same_strategy.ts";
import { type Context, linkedProcedure, router, type UserContext, userProcedure } from "../common/trpc.ts";
import { optimizationSchema, toOptimization, type TrialAnswer, trialSchema } from "./optimization_records.ts";
import { optimizationRequestSchema } from "./optimization_request.ts";
import { type Execution, resolveExecution } from "../../engine/execution.ts";
import { executionOf, isExecutionAxis, ownParameters } from "../../research/execution_axes.ts";
import { executionRequestSchema } from "../runs/execution_request.ts";
import { candleAxesOf } from "../../research/candle_axes.ts";
import { marketsOf } from "../../research/market_axis.ts";
import type { Parameters } from "../strategies/parameters.ts";
import { readOptimizationTries } from "./optimization_tries.ts";
import { optimizationRuns } from "./optimization_runs.ts";
import { submitOptimization } from "./optimization_submission.ts";
import { rankingSchema, rankingShape, rankScan } from "./scan_ranking.ts";
import { readSurface, surfaceSchema, surfaceShape } from "./optimization_surface.ts";
import {
  findTrial,
  isByNumber,
  toTrialRow,
  trialFilters,
  trialList,
  writeTrialList,
  WRITTEN_ROWS,
} from "./trial_lists.ts";
import {
  ACCOUNT_COLUMNS,
  readAccountRows,
  readReturnRows,
  readSplitRows,
  RETURN_COLUMNS,
  returnsOf,
  SPLIT_COLUMNS,
} from "./trial_returns.ts";

/** The input of the trials as a file, without the optimization. */
export const TRIALS_SHAPE = { format: formatSchema, ...listShape, ...trialFilters };
const statusShape = { status: z.enum(BACKTEST_STATUSES).optional() };
const numberSchema = integerSchema.pipe(z.int().min(1));

const shown = {
  runs: optimizationRuns,
  createSchema: inputObject({ optimization: optimizationRequestSchema }).transform((input) => ({
    request: input.optimization,
  })),
  answerSchema: z.object({ optimization: optimizationSchema }),
  submit: submitOptimization,
  show: toOptimization,
  showOne: async (ctx: Context, row: Optimization) => ({
    ...toOptimization(row),
    tries: await readOptimizationTries(ctx, row),
  }),
  answer: (optimization: z.infer<typeof optimizationSchema>) => ({ optimization }),
  eventId: ({ status, pointsDone, windowPointsDone }: Optimization) => `${status}-${pointsDone + windowPointsDone}`,
};

export const optimizationsRouter = router({
  ...runProcedures(shown),

  /** A page of the caller's optimizations, newest first. */
  list: userProcedure
    .input(inputObject({ ...pageShape, ...statusShape }))
    .output(z.object({ optimizations: z.array(optimizationSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, status } }) => {
      const list = optimizationList(ctx, status);
      const { items, next_cursor } = await readListPage(list, { limit, after: afterId(cursor) }, ctx.answer);
      return { optimizations: [...items], next_cursor };
    }),

  /** A page of the trials of one of the caller's optimizations, by number or by a metric. */
  trials: linkedProcedure("optimization", "id")
    .input(inputObject({ id: idSchema, ...pageShape, ...trialFilters }))
    .output(z.object({ trials: z.array(trialSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { id, limit, ...request } }) => {
      const row = await optimizationRuns.find(ctx.db, id, ctx.user.id);
      const { list, after } = trialList(ctx, row, { limit, ...request });
      const { items, next_cursor } = await readListPage(readInTurns(ctx, list), { limit, after }, ctx.answer);
      return { trials: [...items], next_cursor };
    }),

  /** A metric of the trials of one of the caller's optimizations over one or two parameters. */
  surface: linkedProcedure("optimization", "id")
    .input(inputObject({ id: idSchema, ...surfaceShape }))
    .output(z.object({ surface: surfaceSchema }))
    .query(async ({ ctx, input: { id, ...request } }) => {
      const row = await optimizationRuns.find(ctx.db, id, ctx.user.id);
      return { surface: await readLarge(ctx, () => readSurface(ctx.db, row, request)) };
    }),

  /** The points of one of the caller's scans by the median over its markets, and its markets by the best point. */
  ranking: linkedProcedure("optimization", "id")
    .input(inputObject({ id: idSchema, ...rankingShape }))
    .output(z.object({ ranking: rankingSchema }))
    .query(async ({ ctx, input: { id, ...request } }) => {
      const row = await optimizationRuns.find(ctx.db, id, ctx.user.id);
      return { ranking: await readLarge(ctx, () => rankScan(ctx.db, row, request)) };
    }),

  /** Submits a trial of one of the caller's optimizations as a backtest. */
  backtestTrial: userProcedure
    .input(inputObject({ id: idSchema, number: numberSchema }))
    .output(z.object({ backtest: backtestSchema }))
    .mutation(async ({ ctx, input }) => {
      const row = await optimizationRuns.find(ctx.db, input.id, ctx.user.id);
      const { market, parameters: shown } = await mustFindTrial(ctx, row, input.number);
      const { candles, parameters } = splitCandles(row, shown);
      const strategy = await sameStrategy(ctx, row, "optimization");
      const { symbol, exchange, startDate, endDate } = market === undefined
        ? row
        : await mustFindMarket(ctx, row, market);
      const backtest = await submitBacktest(ctx, {
        symbol,
        exchange,
        strategy: row.strategy,
        start_date: candles.start_date ?? startDate,
        end_date: candles.end_date ?? endDate,
        initial_balance: row.initialBalance,
        parameters: {
          ...row.parameters,
          ...await sameMembers(ctx, row),
          ...(candles.timeframe === undefined ? {} : { timeframe: candles.timeframe }),
          ...strategy,
          ...ownParameters(parameters),
          ...executionOfTrial(row.parameters, parameters),
        },
      });
      return { backtest: toBacktest(backtest) };
    }),
});

/** A market of a scan, with the dates of its trials. */
async function mustFindMarket(ctx: UserContext, { id, space }: Optimization, market: string): Promise<NewScanMarket> {
  const place = marketsOf(space)?.values.indexOf(market) ?? -1;
  const [row] = await readScanMarkets(ctx.db, id, [place]);
  if (row !== undefined) return row;
  throw new AppError("OPTIMIZATION_NOT_FOUND", `Cannot find the market ${market} of the optimization ${id}`);
}

/** A trial's parameters without its dates and timeframe, where the space varies them. */
function splitCandles({ space }: Optimization, shown: TrialAnswer["parameters"]) {
  const names: readonly string[] = candleAxesOf(space).map(({ name }) => name);
  const entries = Object.entries(shown);
  const candles = Object.fromEntries(entries.filter(([name]) => names.includes(name)).map(([k, v]) => [k, String(v)]));
  const parameters = Object.fromEntries(entries.filter(([name]) => !names.includes(name)));
  return { candles: candlesSchema.parse(candles), parameters };
}

const candlesSchema = z.object({ start_date: z.string(), end_date: z.string(), timeframe: z.string() }).partial();

/** The execution of a trial whose space varies it; else the record's stays. */
function executionOfTrial(common: Parameters, trial: Parameters): { readonly execution?: Execution } {
  if (!Object.keys(trial).some(isExecutionAxis)) return {};
  const execution = resolveExecution(executionRequestSchema.parse(common["execution"] ?? {}), null);
  return { execution: executionOf(execution, trial) };
}

/** Procedures with streams, which only REST can carry. */
export const optimizationsStreamsRouter = router({
  ...runStreams(shown),

  /** The caller's optimizations, newest first: all of them, or a page. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...statusShape }))
    .query(({ ctx, input: { limit, cursor, status } }): ListAnswer => {
      const pages = readList(optimizationList(ctx, status), { limit, after: afterId(cursor) }, ctx.answer);
      return { name: "optimizations", pages };
    }),

  /** The daily returns of the trials that keep them, or of the benchmark. */
  returns: userProcedure
    .input(inputObject({ id: idSchema, format: formatSchema, of: returnsOf }))
    .query(async ({ ctx, input: { id, format, of } }): Promise<ListAnswer> => {
      const row = await optimizationRuns.find(ctx.db, id, ctx.user.id);
      const pages = readReturnRows(ctx, row, of);
      return { name: "returns", pages, table: { format, columns: RETURN_COLUMNS, isPage: false } };
    }),

  /** Every day of the account out of sample. */
  account: userProcedure
    .input(inputObject({ id: idSchema, format: formatSchema }))
    .query(async ({ ctx, input: { id, format } }): Promise<ListAnswer> => {
      const row = await optimizationRuns.find(ctx.db, id, ctx.user.id);
      const pages = readAccountRows(ctx, row.id);
      return { name: "account", pages, table: { format, columns: ACCOUNT_COLUMNS, isPage: false } };
    }),

  /** The splits of combinatorially symmetric cross-validation. */
  splits: userProcedure
    .input(inputObject({ id: idSchema, format: formatSchema }))
    .query(async ({ ctx, input: { id, format } }): Promise<ListAnswer> => {
      const row = await optimizationRuns.find(ctx.db, id, ctx.user.id);
      const pages = readSplitRows(ctx, row.id);
      return { name: "splits", pages, table: { format, columns: SPLIT_COLUMNS, isPage: false } };
    }),

  /** Streams `optimizations.trials`: all of them, or a page where there is a limit. */
  trials: userProcedure
    .input(inputObject({ id: idSchema, ...TRIALS_SHAPE }))
    .query(async ({ ctx, input: { id, format, limit, ...request } }): Promise<ListAnswer> => {
      const row = await optimizationRuns.find(ctx.db, id, ctx.user.id);
      const { list, after } = trialList(ctx, row, { limit, ...request });
      const pages = readList(readInTurns(ctx, list), { limit, after }, ctx.answer);
      const isWhole = limit === undefined && after === undefined;
      const isLong = ctx.link === null && isWhole && isByNumber(request) && row.trials > WRITTEN_ROWS;
      return {
        name: "trials",
        pages,
        table: {
          format,
          columns: trialColumns(row.space),
          toRow: toTrialRow,
          isPage: limit !== undefined,
          ...(isLong ? { write: (chosen) => writeTrialList(ctx, row, chosen) } : {}),
        },
      };
    }),
});

function optimizationList(ctx: UserContext, status: Optimization["status"] | undefined) {
  return newestFirst(ctx, optimizationRuns, { status }, { show: toOptimization, pieceRows: 100 });
}

/** @throws AppError TRIAL_NOT_FOUND for a point that is no trial, or not yet. */
async function mustFindTrial(ctx: UserContext, record: Optimization, number: number): Promise<TrialAnswer> {
  // A larger number than any point's may be more than a column holds.
  const trial = await findTrial(ctx, record, Math.min(number - 1, record.points));
  if (trial?.number === number) return trial;
  throw new AppError("TRIAL_NOT_FOUND", `Cannot find the trial ${number} of the optimization ${record.id}`);
}

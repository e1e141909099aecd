import { z } from "zod";
import type { Db } from "../../db/client.ts";
import {
  cancelOptimization,
  deleteOptimization,
  listOptimizations,
  type Optimization,
} from "../../db/optimizations.ts";
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import { readTrialChunks } from "../../db/trial_chunks.ts";
import { backtestSchema, toBacktest } from "../backtests/backtest_records.ts";
import { submitBacktest } from "../backtests/backtest_submission.ts";
import { AppError } from "../errors.ts";
import { formatSchema } from "../formats.ts";
import { inputObject } from "../input_object.ts";
import { readLarge } from "../large_reads.ts";
import { optimizationFollower } from "./optimization_events.ts";
import {
  mustGetOptimization,
  optimizationSchema,
  toOptimization,
  toTrial,
  type TrialAnswer,
  trialSchema,
} from "./optimization_records.ts";
import { optimizationRequestSchema } from "./optimization_request.ts";
import { submitOptimization } from "./optimization_submission.ts";
import { readSurface, surfaceSchema, surfaceShape } from "./optimization_surface.ts";
import { idSchema } from "../backtests/owned_backtest.ts";
import {
  decodeCursor,
  integerSchema,
  type List,
  type ListAnswer,
  listShape,
  pageShape,
  readList,
  readListPage,
} from "../paging.ts";
import { sameStrategy } from "../strategies/same_strategy.ts";
import { toTrialRow, trialColumns, trialFilters, trialList } from "./trial_lists.ts";
import { hasEnded, toRecordEvents, waitShape } from "../runs/record_follower.ts";
import { type Context, router, type User, userProcedure } from "../trpc.ts";

const answerSchema = z.object({ optimization: optimizationSchema });
const statusShape = { status: z.enum(BACKTEST_STATUSES).optional() };
const numberSchema = integerSchema.pipe(z.int().min(1));

export const optimizationsRouter = router({
  /** A page of the caller's optimizations, newest first. */
  list: userProcedure
    .input(inputObject({ ...pageShape, ...statusShape }))
    .output(z.object({ optimizations: z.array(optimizationSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, status } }) => {
      const list = optimizationList(ctx, status);
      const { items, next_cursor } = await readListPage(list, { limit, after: afterId(cursor) }, ctx.answer);
      return { optimizations: [...items], next_cursor };
    }),

  /** Accepts an optimization: it is checked now and runs later. A repeated Idempotency-Key gets the first record again. */
  create: userProcedure
    .input(inputObject({ optimization: optimizationRequestSchema }))
    .output(answerSchema)
    .mutation(async ({ ctx, input }) => ({
      optimization: toOptimization(await submitOptimization(ctx, input.optimization)),
    })),

  /** One of the caller's optimizations; with `wait`, once it has ended, or after so many seconds. */
  get: userProcedure
    .input(inputObject({ id: idSchema, ...waitShape }))
    .output(answerSchema)
    .query(async ({ ctx, input, signal }) => ({
      optimization: toOptimization(await optimizationFollower.get(ctx, input.id, input.wait, signal)),
    })),

  /** One of the caller's optimizations, now and after changes, until it has ended. */
  onEvent: userProcedure
    .input(inputObject({ id: idSchema }))
    .subscription(async function* ({ ctx, input, signal }) {
      for await (const each of optimizationFollower.followToEnd(ctx, input.id, signal)) yield toOptimization(each);
    }),

  /** Stops one of the caller's optimizations within a second. Its trials so far stay. */
  cancel: userProcedure
    .input(inputObject({ id: idSchema }))
    .output(answerSchema)
    .mutation(async ({ ctx, input }) => {
      const key = await keyOf(ctx, input.id);
      return await ctx.db.transaction(async (tx: Db) => {
        const before = await mustGetOptimization(tx, key.id, key.ownerId);
        const row = await cancelOptimization(tx, key);
        await ctx.queue.dequeueOptimization(tx, key);
        if (!hasEnded(before) && row?.status === "cancelled") return { optimization: toOptimization(row) };
        throw new AppError(
          "NOT_CANCELLABLE",
          `Cannot cancel the optimization ${key.id}: it is already ${row?.status ?? "gone"}`,
        );
      });
    }),

  /** Removes one of the caller's optimizations, running or not, with its trials. */
  delete: userProcedure.input(inputObject({ id: idSchema })).mutation(async ({ ctx, input }) => {
    const key = await keyOf(ctx, input.id);
    await ctx.db.transaction(async (tx: Db) => {
      // The record before its jobs, as where a slice is stored; the storage totals last. Another order could deadlock.
      await cancelOptimization(tx, key);
      await ctx.queue.dequeueOptimization(tx, key);
      await deleteOptimization(tx, key);
    });
  }),

  /** A page of the trials of one of the caller's optimizations, by number or by a metric. */
  trials: userProcedure
    .input(inputObject({ id: idSchema, ...pageShape, ...trialFilters }))
    .output(z.object({ trials: z.array(trialSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { id, limit, ...request } }) => {
      const row = await mustGetOptimization(ctx.db, id, ctx.user.id);
      const { list, after } = trialList(ctx.db, row, { limit, ...request });
      const { items, next_cursor } = await readListPage(list, { limit, after }, ctx.answer);
      return { trials: [...items], next_cursor };
    }),

  /** A metric of the trials of one of the caller's optimizations over one or two parameters. */
  surface: userProcedure
    .input(inputObject({ id: idSchema, ...surfaceShape }))
    .output(z.object({ surface: surfaceSchema }))
    .query(async ({ ctx, input: { id, ...request } }) => {
      const row = await mustGetOptimization(ctx.db, id, ctx.user.id);
      return { surface: await readLarge(ctx, () => readSurface(ctx.db, row, request)) };
    }),

  /** Submits a trial of one of the caller's optimizations as a backtest. */
  backtestTrial: userProcedure
    .input(inputObject({ id: idSchema, number: numberSchema }))
    .output(z.object({ backtest: backtestSchema }))
    .mutation(async ({ ctx, input }) => {
      const row = await mustGetOptimization(ctx.db, input.id, ctx.user.id);
      const { parameters } = await mustFindTrial(ctx.db, row, input.number);
      const strategy = await sameStrategy(ctx, row, "optimization");
      const backtest = await submitBacktest(ctx, {
        symbol: row.symbol,
        exchange: row.exchange,
        strategy: row.strategy,
        start_date: row.startDate,
        end_date: row.endDate,
        initial_balance: row.initialBalance,
        parameters: { ...row.parameters, ...strategy, ...parameters },
      });
      return { backtest: toBacktest(backtest) };
    }),
});

/** Procedures with streams, which only REST can carry. */
export const optimizationsStreamsRouter = router({
  /** The caller's optimizations, newest first: all of them, or a page. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...statusShape }))
    .query(({ ctx, input: { limit, cursor, status } }): ListAnswer => {
      const pages = readList(optimizationList(ctx, status), { limit, after: afterId(cursor) }, ctx.answer);
      return { name: "optimizations", pages };
    }),

  /** As `optimizations.trials`: all of them, or a page where there is a limit. */
  trials: userProcedure
    .input(inputObject({ id: idSchema, format: formatSchema, ...listShape, ...trialFilters }))
    .query(async ({ ctx, input: { id, format, limit, ...request } }): Promise<ListAnswer> => {
      const row = await mustGetOptimization(ctx.db, id, ctx.user.id);
      const { list, after } = trialList(ctx.db, row, { limit, ...request });
      const pages = readList(list, { limit, after }, ctx.answer);
      return {
        name: "trials",
        pages,
        table: { format, columns: trialColumns(row), toRow: toTrialRow, isPage: limit !== undefined },
      };
    }),

  /** Server-sent events: the record after changes, the last one named `end`. */
  events: userProcedure
    .input(inputObject({ id: idSchema }))
    .query(async ({ ctx, input, signal }) =>
      toRecordEvents(optimizationFollower.follow(ctx, await keyOf(ctx, input.id), signal), (row) => ({
        id: `${row.status}-${row.pointsDone + row.windowPointsDone}`,
        data: { optimization: toOptimization(row) },
      }))
    ),
});

type UserContext = Context & { readonly user: User };

function optimizationList({ db, user }: UserContext, status: Optimization["status"] | undefined) {
  const list: List<Optimization, ReturnType<typeof toOptimization>> = {
    read: (after, limit) => listOptimizations(db, { ownerId: user.id, status, after, limit }),
    key: ({ id }) => id,
    show: toOptimization,
    pieceRows: 100,
  };
  return list;
}

const afterId = (cursor: string | undefined) => decodeCursor(cursor, z.uuid());

/** The key of one of the caller's optimizations. @throws AppError OPTIMIZATION_NOT_FOUND */
async function keyOf({ db, user }: UserContext, id: string) {
  return { id: (await mustGetOptimization(db, id, user.id)).id, ownerId: user.id };
}

/** @throws AppError TRIAL_NOT_FOUND for a point that is no trial, or not yet. */
async function mustFindTrial(db: Db, { id, space, points }: Optimization, number: number): Promise<TrialAnswer> {
  // A larger number than any point's may be more than a column holds.
  const from = Math.min(number - 1, points);
  for await (const rows of readTrialChunks(db, id, { from })) {
    const row = rows.columns.place!.indexOf(number - 1);
    if (row >= 0) return toTrial(space, rows, row);
    break;
  }
  throw new AppError("TRIAL_NOT_FOUND", `Cannot find the trial ${number} of the optimization ${id}`);
}

import { z } from "zod";
import { resolveExecution } from "../engine/execution.ts";
import type { Db } from "../db/client.ts";
import {
  type Backtest,
  cancelBacktest,
  deleteBacktest,
  getBacktest,
  insertBacktest,
  listBacktests,
} from "../db/backtests.ts";
import { readEquity } from "../db/equity.ts";
import { insertSubmission } from "../db/idempotency.ts";
import { listOrders } from "../db/orders.ts";
import { BACKTEST_STATUSES } from "../db/schema.ts";
import { lockUser } from "../db/quotas.ts";
import { listTrades } from "../db/trades.ts";
import { isTimeframe, type Timeframe, TIMEFRAMES } from "../market/timeframes.ts";
import { awaitEnd, followBacktest, followToEnd, hasEnded, notFound } from "./backtest_events.ts";
import {
  backtestSchema,
  equityPointSchema,
  orderSchema,
  toBacktest,
  toOrder,
  toTrade,
  tradeSchema,
} from "./backtest_records.ts";
import { dateSchema, parseRange } from "./dates.ts";
import { samplePoints } from "./equity.ts";
import { AppError, quote, validationFailed } from "./errors.ts";
import { executionRequestSchema } from "./execution_request.ts";
import { findEarlier, nameSubmission } from "./idempotency.ts";
import { cutPage, decodeCursor, integerSchema, pageShape } from "./paging.ts";
import { effectiveParameters } from "./parameters.ts";
import { requireRoomForModule, takeTurn } from "./quotas.ts";
import { keepModule, type ResolvedStrategy, resolveStrategy } from "./resolve_strategy.ts";
import { marketNameSchema } from "./ticks.ts";
import { router, userProcedure } from "./trpc.ts";

const freeForm = z.record(z.string(), z.unknown());
const strategyNameSchema = z.string().trim().min(1).max(100);

const requestSchema = z.strictObject({
  symbol: marketNameSchema,
  exchange: marketNameSchema,
  strategy: strategyNameSchema,
  start_date: dateSchema,
  end_date: dateSchema,
  initial_balance: z.number().positive().max(1e12),
  parameters: freeForm.default({}),
});

// An id is looked up whatever it looks like: what is no UUID does not exist, like any other unknown id.
const idSchema = z.string().max(100);

const WAIT_SECONDS_MAX = 30;
// For calls from where no one can leave.
const NEVER = new AbortController().signal;

export const backtestsRouter = router({
  /** The caller's backtests, newest first. */
  list: userProcedure
    .input(z.strictObject({
      ...pageShape,
      status: z.enum(BACKTEST_STATUSES).optional(),
      strategy: strategyNameSchema.optional(),
      symbol: marketNameSchema.optional(),
    }))
    .output(z.object({ backtests: z.array(backtestSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { limit, cursor, ...filter } = input;
      const before = decodeCursor(cursor, z.uuid());
      const rows = await listBacktests(ctx.db, { ownerId: ctx.user.id, ...filter, before, limit: limit + 1 });
      const { page, next_cursor } = cutPage(rows, limit, (row) => row.id);
      return { backtests: page.map(toBacktest), next_cursor };
    }),

  /** Accepts a backtest: it is checked now and runs later. One that came before with the same Idempotency-Key is answered again. */
  create: userProcedure
    .input(z.strictObject({ backtest: requestSchema }))
    .output(z.object({ backtest: backtestSchema }))
    .mutation(async ({ ctx, input: { backtest } }) => {
      const submission = nameSubmission(ctx.user.id, ctx.idempotencyKey, backtest);
      const earlier = submission === null ? null : await findEarlier(ctx.db, submission);
      if (earlier !== null) return { backtest: toBacktest(earlier) };
      const range = parseRange(backtest.start_date, backtest.end_date, {
        start: "/backtest/start_date",
        end: "/backtest/end_date",
      });
      const strategy = await resolveStrategy(ctx, backtest.strategy, backtest.parameters);
      const parameters = completeParameters(strategy, backtest.parameters);
      requireShort(range, parameters.timeframe, ctx.runCandlesMax);
      const row = await ctx.db.transaction(async (tx: Db) => {
        if (submission !== null) {
          // Another of the same key may be under way: from here on there is one at a time.
          await lockUser(tx, ctx.user.id);
          const twin = await findEarlier(tx, submission);
          if (twin !== null) return twin;
        }
        const turn = await takeTurn(tx, ctx.user.id, ctx.quotas);
        if (strategy.module !== null) await requireRoomForModule(tx, ctx.user.id, ctx.quotas, strategy.module);
        await keepModule(tx, strategy);
        const inserted = await insertBacktest(tx, {
          ...backtest,
          ownerId: ctx.user.id,
          startDate: backtest.start_date,
          endDate: backtest.end_date,
          initialBalance: backtest.initial_balance,
          strategySlug: strategy.slug,
          strategyVersion: strategy.version,
          runtime: strategy.runtime,
          parameters,
          turn,
        });
        if (submission !== null) await insertSubmission(tx, submission, inserted.id);
        await ctx.queue.enqueueBacktest(tx, inserted.id, ctx.user.id, turn);
        return inserted;
      });
      return { backtest: toBacktest(row) };
    }),

  /** One of the caller's backtests; with `wait`, as soon as it has ended, or as it is after so many seconds. */
  get: userProcedure
    .input(z.strictObject({ id: idSchema, wait: integerSchema.pipe(z.int().min(0).max(WAIT_SECONDS_MAX)).default(0) }))
    .output(z.object({ backtest: backtestSchema }))
    .query(async ({ ctx, input, signal = NEVER }) => {
      const row = await mustGet(ctx.db, input.id, ctx.user.id);
      if (input.wait === 0 || hasEnded(row)) return { backtest: toBacktest(row) };
      const later = await awaitEnd(ctx, row, input.wait * 1000, signal);
      if (later === null) throw notFound(row.id);
      return { backtest: toBacktest(later) };
    }),

  /** One of the caller's backtests now and after each change, until it has ended; a client that loses the connection begins anew. */
  onEvent: userProcedure
    .input(z.strictObject({ id: idSchema }))
    .subscription(async function* ({ ctx, input, signal = NEVER }) {
      const row = await mustGet(ctx.db, input.id, ctx.user.id);
      for await (const each of followToEnd(ctx, row, signal)) yield toBacktest(each);
    }),

  /** Stops one of the caller's backtests: a queued one at once, a running one within two seconds. */
  cancel: userProcedure
    .input(z.strictObject({ id: idSchema }))
    .output(z.object({ backtest: backtestSchema }))
    .mutation(async ({ ctx, input }) => {
      const key = { id: (await mustGet(ctx.db, input.id, ctx.user.id)).id, ownerId: ctx.user.id };
      return await ctx.db.transaction(async (tx: Db) => {
        const before = await mustGet(tx, key.id, key.ownerId);
        // The record first and then its job, as whoever stores a result does: the other way round they would wait for each other.
        const row = await cancelBacktest(tx, key);
        await ctx.queue.dequeueBacktest(tx, key.id);
        if (!hasEnded(before) && row?.status === "cancelled") return { backtest: toBacktest(row) };
        throw new AppError(
          "NOT_CANCELLABLE",
          `Cannot cancel the backtest ${key.id}: it is ${row?.status ?? "gone"} already`,
        );
      });
    }),

  /** Removes one of the caller's backtests with all that belongs to it, running or not. */
  delete: userProcedure.input(z.strictObject({ id: idSchema })).mutation(async ({ ctx, input }) => {
    const key = { id: (await mustGet(ctx.db, input.id, ctx.user.id)).id, ownerId: ctx.user.id };
    await ctx.db.transaction(async (tx: Db) => {
      await deleteBacktest(tx, key);
      await ctx.queue.dequeueBacktest(tx, key.id);
    });
  }),

  /** Every order of one of the caller's backtests in order of placement, with its fate; none before it has completed. */
  orders: userProcedure
    .input(z.strictObject({ id: idSchema, ...pageShape }))
    .output(z.object({ orders: z.array(orderSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { id: backtestId } = await mustGet(ctx.db, input.id, ctx.user.id);
      const after = decodeNumber(input.cursor);
      const rows = await listOrders(ctx.db, { backtestId, ownerId: ctx.user.id, after, limit: input.limit + 1 });
      const { page, next_cursor } = cutPage(rows, input.limit, (row) => String(row.number));
      return { orders: page.map(toOrder), next_cursor };
    }),

  /** The trades of one of the caller's backtests, oldest first; none before it has completed. */
  trades: userProcedure
    .input(z.strictObject({ id: idSchema, ...pageShape }))
    .output(z.object({ trades: z.array(tradeSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { id: backtestId } = await mustGet(ctx.db, input.id, ctx.user.id);
      const after = decodeNumber(input.cursor);
      const key = { backtestId, ownerId: ctx.user.id };
      const rows = await listTrades(ctx.db, { ...key, after, limit: input.limit + 1 });
      const { page, next_cursor } = cutPage(rows, input.limit, (row) => String(row.number));
      return { trades: page.map(toTrade), next_cursor };
    }),

  /** The equity curve of one of the caller's backtests, thinned to about `points`; its extremes are kept. */
  equity: userProcedure
    .input(z.strictObject({ id: idSchema, points: integerSchema.pipe(z.int().min(2).max(10_000)).default(500) }))
    .output(z.object({ equity: z.array(equityPointSchema) }))
    .query(async ({ ctx, input }) => {
      const row = await mustGet(ctx.db, input.id, ctx.user.id);
      const columns = await readEquity(ctx.db, { backtestId: row.id, ownerId: ctx.user.id });
      if (columns === null) return { equity: [] };
      return { equity: samplePoints(columns, row.initialBalance, input.points) };
    }),
});

function decodeNumber(cursor: string | undefined): number {
  return Number(decodeCursor(cursor, z.string().regex(/^\d{1,9}$/)) ?? 0);
}

/** What only REST can carry. */
export const backtestsStreamsRouter = router({
  /** Server-sent events: the record whenever it has changed, the last time as `end`. */
  events: userProcedure
    .input(z.strictObject({ id: idSchema }))
    .query(async ({ ctx, input, signal = NEVER }) => {
      const { id } = await mustGet(ctx.db, input.id, ctx.user.id);
      return toEvents(followBacktest(ctx, { id, ownerId: ctx.user.id }, signal));
    }),
});

async function* toEvents(rows: AsyncGenerator<Backtest>) {
  let status = "";
  for await (const row of rows) {
    const event = hasEnded(row) ? "end" : row.status === status ? "progress" : "status";
    status = row.status;
    yield { id: `${row.attempts}-${row.status}-${row.progress}`, event, data: { backtest: toBacktest(row) } };
  }
}

async function mustGet(db: Db, id: string, ownerId: string): Promise<Backtest> {
  const row = z.uuid().safeParse(id).success ? await getBacktest(db, { id, ownerId }) : null;
  if (row === null) throw notFound(id);
  return row;
}

// The strategy's own default when the request names no timeframe.
const FREQUENCIES: Readonly<Record<string, Timeframe>> = { MINUTE: "1m", HOURLY: "1h", DAILY: "1d", WEEKLY: "1w" };

const PARAMETERS_PATH = "/backtest/parameters";

/** Submitted parameters with everything filled in that decides the result, so that the record says what was run. */
function completeParameters(
  strategy: ResolvedStrategy,
  submitted: Readonly<Record<string, unknown>>,
): Record<string, unknown> & { readonly timeframe: Timeframe } {
  const settings = executionRequestSchema.safeParse(submitted.execution ?? {});
  if (!settings.success) throw validationFailed(settings.error, `${PARAMETERS_PATH}/execution`);
  const own = effectiveParameters(strategy, submitted, PARAMETERS_PATH);
  try {
    strategy.builtin?.create(own);
  } catch (error) {
    // Parameters that contradict each other in a way that the schema cannot say.
    if (error instanceof RangeError) throw invalidParameters(strategy, PARAMETERS_PATH, error.message);
    throw error;
  }
  return {
    ...own,
    timeframe: chooseTimeframe(strategy, submitted.timeframe),
    ...(strategy.shown === undefined ? {} : { runtime: strategy.shown }),
    execution: resolveExecution(settings.data, null),
  };
}

function chooseTimeframe(strategy: ResolvedStrategy, requested: unknown): Timeframe {
  const frequency = strategy.default_config.timeframe ?? strategy.default_frequency;
  const timeframe = requested ?? FREQUENCIES[String(frequency).toUpperCase()] ?? frequency;
  if (typeof timeframe === "string" && isTimeframe(timeframe)) return timeframe;
  const message = `must be one of ${Object.keys(TIMEFRAMES).join(", ")}, not ${quote(timeframe)}`;
  throw invalidParameters(strategy, `${PARAMETERS_PATH}/timeframe`, message);
}

function invalidParameters(strategy: ResolvedStrategy, path: string, message: string): AppError {
  return new AppError("INVALID_PARAMETERS", `Cannot run ${strategy.name}: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

/** @throws AppError RANGE_TOO_LARGE */
function requireShort(range: { start: number; end: number }, timeframe: Timeframe, candlesMax: number): void {
  const candles = Math.floor((range.end - range.start) / TIMEFRAMES[timeframe]);
  if (candles <= candlesMax) return;
  const path = "/backtest/end_date";
  const message = `must be at most ${candlesMax} candles after start_date, not ${candles} (${timeframe}): ` +
    "shorten the range or choose a coarser timeframe";
  throw new AppError("RANGE_TOO_LARGE", `Cannot run over so large a range: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

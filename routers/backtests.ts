import { z } from "zod";
import { resolveExecution } from "../engine/execution.ts";
import type { Db } from "../db/client.ts";
import { type Backtest, getBacktest, insertBacktest, listBacktests } from "../db/backtests.ts";
import { readEquity } from "../db/equity.ts";
import { BACKTEST_STATUSES } from "../db/schema.ts";
import { listTrades, type Trade } from "../db/trades.ts";
import { isTimeframe, type Timeframe, TIMEFRAMES } from "../market/timeframes.ts";
import { dateSchema, parseRange } from "./dates.ts";
import { samplePoints } from "./equity.ts";
import { AppError, quote, validationFailed } from "./errors.ts";
import { executionRequestSchema } from "./execution.ts";
import { cutPage, decodeCursor, integerSchema, pageShape } from "./paging.ts";
import { effectiveParameters } from "./parameters.ts";
import { type ResolvedStrategy, resolveStrategy } from "./resolve_strategy.ts";
import { router, userProcedure } from "./trpc.ts";

const freeForm = z.record(z.string(), z.unknown());
const label = z.string().trim().min(1).max(100);

const requestSchema = z.strictObject({
  symbol: label,
  exchange: label,
  strategy: label,
  start_date: dateSchema,
  end_date: dateSchema,
  initial_balance: z.number().positive().max(1e12),
  parameters: freeForm.default({}),
});

const backtestSchema = z.object({
  id: z.uuid(),
  symbol: z.string(),
  exchange: z.string(),
  strategy: z.string(),
  strategy_slug: z.string().nullable(),
  strategy_version: z.string().nullable(),
  start_date: z.string(),
  end_date: z.string(),
  initial_balance: z.number(),
  parameters: freeForm,
  status: z.enum(BACKTEST_STATUSES),
  progress: z.number().min(0).max(1),
  attempts: z.int(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  result: freeForm.nullable(),
});

const tradeSchema = z.object({
  number: z.int(),
  side: z.enum(["long", "short"]),
  quantity: z.number(),
  entry_time: z.iso.datetime(),
  entry_price: z.number(),
  exit_time: z.iso.datetime().nullable(),
  exit_price: z.number().nullable(),
  fees: z.number(),
  pnl: z.number(),
  return: z.number(),
  candles: z.int(),
  mae: z.number(),
  mfe: z.number(),
  exit_reason: z.string().nullable(),
  ambiguous: z.boolean(),
  tag: z.string().nullable(),
});

const equityPointSchema = z.object({
  timestamp: z.iso.datetime(),
  equity: z.number(),
  drawdown: z.number(),
  position: z.number(),
});

// An id is looked up whatever it looks like: what is no UUID does not exist, like any other unknown id.
const idSchema = z.string().max(100);

export const backtestsRouter = router({
  /** The caller's backtests, newest first. */
  list: userProcedure
    .input(z.strictObject({
      ...pageShape,
      status: z.enum(BACKTEST_STATUSES).optional(),
      strategy: label.optional(),
      symbol: label.optional(),
    }))
    .output(z.object({ backtests: z.array(backtestSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { limit, cursor, ...filter } = input;
      const before = decodeCursor(cursor, z.uuid());
      const rows = await listBacktests(ctx.db, { ownerId: ctx.user.id, ...filter, before, limit: limit + 1 });
      const { page, next_cursor } = cutPage(rows, limit, (row) => row.id);
      return { backtests: page.map(toBacktest), next_cursor };
    }),

  /** Accepts a backtest: it is checked now and runs later. */
  create: userProcedure
    .input(z.strictObject({ backtest: requestSchema }))
    .output(z.object({ backtest: backtestSchema }))
    .mutation(async ({ ctx, input: { backtest } }) => {
      parseRange(backtest.start_date, backtest.end_date, {
        start: "/backtest/start_date",
        end: "/backtest/end_date",
      });
      const strategy = await resolveStrategy(ctx, backtest.strategy, backtest.parameters.runtime);
      const parameters = completeParameters(strategy, backtest.parameters);
      const row = await ctx.db.transaction(async (tx: Db) => {
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
        });
        await ctx.queue.enqueueBacktest(tx, inserted.id, ctx.user.id);
        return inserted;
      });
      return { backtest: toBacktest(row) };
    }),

  /** One of the caller's backtests. */
  get: userProcedure
    .input(z.strictObject({ id: idSchema }))
    .output(z.object({ backtest: backtestSchema }))
    .query(async ({ ctx, input }) => ({ backtest: toBacktest(await mustGet(ctx.db, input.id, ctx.user.id)) })),

  /** The trades of one of the caller's backtests, oldest first; none before it has completed. */
  trades: userProcedure
    .input(z.strictObject({ id: idSchema, ...pageShape }))
    .output(z.object({ trades: z.array(tradeSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const { id: backtestId } = await mustGet(ctx.db, input.id, ctx.user.id);
      const after = Number(decodeCursor(input.cursor, z.string().regex(/^\d{1,9}$/)) ?? 0);
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

async function mustGet(db: Db, id: string, ownerId: string): Promise<Backtest> {
  const row = z.uuid().safeParse(id).success ? await getBacktest(db, { id, ownerId }) : null;
  if (row === null) throw new AppError("BACKTEST_NOT_FOUND", `Cannot find the backtest ${quote(id)}`);
  return row;
}

// The strategy's own default when the request names no timeframe.
const FREQUENCIES: Readonly<Record<string, Timeframe>> = { MINUTE: "1m", HOURLY: "1h", DAILY: "1d", WEEKLY: "1w" };

const PARAMETERS_PATH = "/backtest/parameters";

/** Submitted parameters with everything filled in that decides the result, so that the record says what was run. */
function completeParameters(
  strategy: ResolvedStrategy,
  submitted: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
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

function toBacktest(row: Backtest): z.infer<typeof backtestSchema> {
  return {
    id: row.id,
    symbol: row.symbol,
    exchange: row.exchange,
    strategy: row.strategy,
    strategy_slug: row.strategySlug,
    strategy_version: row.strategyVersion,
    start_date: row.startDate,
    end_date: row.endDate,
    initial_balance: row.initialBalance,
    parameters: { ...row.parameters },
    status: row.status,
    progress: row.progress,
    attempts: row.attempts,
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    finished_at: row.finishedAt?.toISOString() ?? null,
    error: row.error,
    result: row.result === null ? null : { ...row.result },
  };
}

function toTrade(row: Trade): z.infer<typeof tradeSchema> {
  return {
    number: row.number,
    side: row.side,
    quantity: row.quantity,
    entry_time: row.entryTime.toISOString(),
    entry_price: row.entryPrice,
    exit_time: row.exitTime?.toISOString() ?? null,
    exit_price: row.exitPrice,
    fees: row.fees,
    pnl: row.pnl,
    return: row.return,
    candles: row.candles,
    mae: row.mae,
    mfe: row.mfe,
    exit_reason: row.exitReason,
    ambiguous: row.ambiguous,
    tag: row.tag,
  };
}

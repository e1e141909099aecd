import { createHash } from "node:crypto";
import { z } from "zod";
import { type Backtest, insertBacktest, newBacktestId } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { findSubmission, insertSubmission, type NamedSubmission, SUBMISSION_KEPT_MS } from "../db/idempotency.ts";
import { lockUser, readUsage } from "../db/quotas.ts";
import { resolveExecution } from "../engine/execution.ts";
import { HOURS, type Hours } from "../market/calendar/exchange_sessions.ts";
import { shortestMs, type Timeframe } from "../market/timeframes.ts";
import { dateSchema, parseRange } from "./dates.ts";
import { inputObject } from "./input_object.ts";
import { AppError, hintNearest, quote, validationFailed } from "./errors.ts";
import { executionRequestSchema } from "./execution_request.ts";
import { effectiveParameters, type Parameters, requireShortParameters, wantedTimeframe } from "./parameters.ts";
import { requireQueuePosition, requireRoomForModule } from "./quotas.ts";
import { keepModule, type ResolvedStrategy, resolveStrategy } from "./resolve_strategy.ts";
import { labelShape } from "./backtest_labels.ts";
import { marketNameSchema } from "./market_name.ts";
import { parseTimeframe, TIMEFRAME_WORDS } from "./timeframe.ts";
import { traceStep } from "../workers/telemetry.ts";
import type { Context, User } from "./trpc.ts";

export const strategyNameSchema = z.string().trim().min(1).max(100);

/** A backtest as a client submits it. */
export const backtestRequestSchema = inputObject({
  symbol: marketNameSchema,
  exchange: marketNameSchema,
  strategy: strategyNameSchema,
  start_date: dateSchema,
  end_date: dateSchema,
  initial_balance: z.number().positive().max(1e12),
  parameters: z.record(z.string(), z.unknown()).default({}),
  ...labelShape,
});

type BacktestRequest = z.infer<typeof backtestRequestSchema>;

const PATH = "/backtest";
const PARAMETERS_PATH = `${PATH}/parameters`;
// Printable, as header values are.
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * Checks a backtest and queues it. A request that came before with the same Idempotency-Key gets the record of that time.
 *
 * @throws AppError for a request, range, strategy or parameters that cannot be run, and QUOTA_EXCEEDED; nothing is stored then.
 */
export async function submitBacktest(
  ctx: Context & { readonly user: User },
  request: BacktestRequest,
): Promise<Backtest> {
  requireShortParameters(request.parameters, PARAMETERS_PATH);
  const submission = nameSubmission(ctx.user.id, ctx.idempotencyKey, request);
  const earlier = await findEarlier(ctx.db, submission);
  if (earlier !== null) return earlier;
  const range = parseRange(request.start_date, request.end_date, {
    start: `${PATH}/start_date`,
    end: `${PATH}/end_date`,
  });
  const strategy = await resolveStrategy(ctx, request.strategy, request.parameters);
  const parameters = completeParameters(strategy, request.parameters);
  requireShort(range, parameters.timeframe, ctx.runCandlesMax);
  return await transact(ctx.db, async (tx: Db) => {
    // Statements that are started together are sent in their order and share a round trip: the lock comes first.
    const [, twin, usage] = await Promise.all([
      lockUser(tx, ctx.user.id),
      // The same submission may have been stored since the first look.
      findEarlier(tx, submission),
      readUsage(tx, ctx.user.id, ctx.quotas.backtestsMax),
    ]);
    if (twin !== null) return twin;
    const queuePosition = requireQueuePosition(usage, ctx.quotas);
    if (strategy.module !== null) await requireRoomForModule(tx, ctx.user.id, ctx.quotas, strategy.module);
    await keepModule(tx, strategy);
    const id = newBacktestId();
    const values = {
      ...request,
      ownerId: ctx.user.id,
      startDate: request.start_date,
      endDate: request.end_date,
      initialBalance: request.initial_balance,
      strategySlug: strategy.slug,
      strategyVersion: strategy.version,
      runtime: strategy.runtime,
      parameters,
      queuePosition,
    };
    const [inserted] = await Promise.all([
      insertBacktest(tx, values, id),
      submission === null ? undefined : insertSubmission(tx, submission, id),
      ctx.queue.enqueueBacktest(tx, id, ctx.user.id, queuePosition),
    ]);
    return inserted;
  });
}

function transact<T>(db: Db, write: (tx: Db) => Promise<T>): Promise<T> {
  return traceStep("submit", () => db.transaction(write));
}

/** @throws AppError VALIDATION_FAILED for a key that is empty, too long or not printable. */
function nameSubmission(ownerId: string, key: string | undefined, request: BacktestRequest): NamedSubmission | null {
  if (key === undefined) return null;
  if (!IDEMPOTENCY_KEY.test(key)) {
    const message = `must be 1 to 255 printable characters, not ${quote(key)}`;
    throw new AppError("VALIDATION_FAILED", `Cannot accept the request: the header Idempotency-Key ${message}`);
  }
  return { ownerId, key, requestSha256: createHash("sha256").update(JSON.stringify(request)).digest("hex") };
}

/**
 * The record that the same submission made before; null for a submission without a name.
 *
 * @throws AppError IDEMPOTENCY_CONFLICT when the key was used for another request.
 */
async function findEarlier(db: Db, submission: NamedSubmission | null): Promise<Backtest | null> {
  if (submission === null) return null;
  const found = await findSubmission(db, submission, new Date(Date.now() - SUBMISSION_KEPT_MS));
  if (found === null || found.requestSha256 === submission.requestSha256) return found?.backtest ?? null;
  throw new AppError(
    "IDEMPOTENCY_CONFLICT",
    `Cannot accept the request: another one came with the Idempotency-Key ${quote(submission.key)}; choose a new key`,
  );
}

/** Fills in everything that decides the result, so that the record says what runs. */
function completeParameters(
  strategy: ResolvedStrategy,
  submitted: Parameters,
): Record<string, unknown> & { readonly timeframe: Timeframe } {
  const settings = executionRequestSchema.safeParse(submitted.execution ?? {});
  if (!settings.success) throw validationFailed(settings.error, `${PARAMETERS_PATH}/execution`);
  const own = effectiveParameters(strategy, submitted, PARAMETERS_PATH);
  try {
    strategy.builtin?.create(own);
  } catch (error) {
    // The parameters contradict each other in a way that no schema can say.
    if (error instanceof RangeError) throw invalidParameters(strategy, PARAMETERS_PATH, error.message);
    throw error;
  }
  return {
    ...own,
    timeframe: chooseTimeframe(strategy, submitted),
    ...chooseHours(strategy, submitted.session),
    ...(strategy.shown === undefined ? {} : { runtime: strategy.shown }),
    execution: resolveExecution(settings.data, null),
  };
}

function chooseTimeframe(strategy: ResolvedStrategy, submitted: Parameters): Timeframe {
  const wanted = wantedTimeframe(strategy, submitted) ?? strategy.default_frequency;
  const timeframe = parseTimeframe(wanted);
  if (timeframe !== undefined) return timeframe;
  const message = `must be one of ${TIMEFRAME_WORDS.join(", ")}, not ${quote(wanted)}${
    hintNearest(wanted, TIMEFRAME_WORDS)
  }`;
  throw invalidParameters(strategy, `${PARAMETERS_PATH}/timeframe`, message);
}

function chooseHours(strategy: ResolvedStrategy, requested: unknown): { readonly session?: Hours } {
  if (requested === undefined || requested === null) return {};
  const hours = HOURS.find((name) => name === requested);
  if (hours !== undefined) return { session: hours };
  const message = `must be one of ${HOURS.join(", ")}, not ${quote(requested)}${hintNearest(requested, HOURS)}`;
  throw invalidParameters(strategy, `${PARAMETERS_PATH}/session`, message);
}

function invalidParameters(strategy: ResolvedStrategy, path: string, message: string): AppError {
  return new AppError("INVALID_PARAMETERS", `Cannot run ${strategy.name}: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

/** @throws AppError RANGE_TOO_LARGE */
function requireShort(range: { start: number; end: number }, timeframe: Timeframe, candlesMax: number): void {
  const candles = Math.floor((range.end - range.start) / shortestMs(timeframe));
  if (candles <= candlesMax) return;
  const path = `${PATH}/end_date`;
  const message = `must be at most ${candlesMax} candles after start_date, not ${candles} (${timeframe}): ` +
    "shorten the range or choose a coarser timeframe";
  throw new AppError("RANGE_TOO_LARGE", `Cannot run over so large a range: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

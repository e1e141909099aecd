import { z } from "zod";
import { type Backtest, insertBacktest, newBacktestId } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { findSubmission, insertSubmission, type NamedSubmission, SUBMISSION_KEPT_MS } from "../db/idempotency.ts";
import { transactFromReads } from "../db/postgres_session.ts";
import { lockUser, readUsage } from "../db/quotas.ts";
import { dateSchema } from "./dates.ts";
import { inputObject } from "./input_object.ts";
import { requireShortParameters } from "./parameters.ts";
import { requireQueuePosition, requireRoomForModule } from "./quotas.ts";
import { keepModule, resolveStrategy } from "./resolve_strategy.ts";
import {
  completeParameters,
  idempotencyConflict,
  nameSubmission,
  PARAMETERS_PATH,
  parseRequestRange,
  requireConsistent,
  requireShort,
} from "./run_request.ts";
import { labelShape } from "./backtest_labels.ts";
import { marketNameSchema } from "./market_name.ts";
import { traceStep } from "../workers/telemetry.ts";
import type { Context, User } from "./trpc.ts";

export const strategyNameSchema = z.string().trim().min(1).max(100);

/** The settings of a run as a client submits them. */
export const runShape = {
  symbol: marketNameSchema,
  exchange: marketNameSchema,
  strategy: strategyNameSchema,
  start_date: dateSchema,
  end_date: dateSchema,
  initial_balance: z.number().positive().max(1e12),
  parameters: z.record(z.string(), z.unknown()).default({}),
};

/** A backtest as a client submits it. */
export const backtestRequestSchema = inputObject({ ...runShape, ...labelShape });

type BacktestRequest = z.infer<typeof backtestRequestSchema>;

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
  const range = parseRequestRange(request);
  const strategy = await resolveStrategy(ctx, request.strategy, request.parameters);
  const parameters = completeParameters(strategy, request.parameters);
  requireConsistent(strategy, parameters);
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
  return traceStep("submit", () => transactFromReads(db, write));
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
  throw idempotencyConflict(submission.key);
}

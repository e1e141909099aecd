import { z } from "zod";
import { AsyncLocalStorage } from "node:async_hooks";
import { measureRecord } from "../../db/backtest_sizes.ts";
import { type Backtest, insertBacktest, type NewBacktest, newBacktestId } from "../../db/backtests.ts";
import { Batcher } from "../../db/batcher.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import type { Db } from "../../db/client.ts";
import { findSubmission, insertSubmission, type NamedSubmission, SUBMISSION_KEPT_MS } from "../../db/idempotency.ts";
import { transactPipelined } from "../../db/postgres_session.ts";
import { lockUser, readUsage } from "../../db/quotas.ts";
import { dateSchema } from "../dates.ts";
import { inputObject } from "../input_object.ts";
import { requireShortParameters } from "../strategies/parameters.ts";
import { requireQueuePosition, requireRoomForModule } from "../quotas.ts";
import { keepModule, type ResolvedStrategy, resolveStrategy } from "../strategies/resolve_strategy.ts";
import {
  completeParameters,
  idempotencyConflict,
  nameSubmission,
  PARAMETERS_PATH,
  parseRequestRange,
  requireConsistent,
  requireShort,
} from "../runs/run_request.ts";
import { labelShape } from "./backtest_labels.ts";
import { marketNameSchema } from "../market_data/market_name.ts";
import { traceStep } from "../../workers/telemetry.ts";
import type { Context, User } from "../trpc.ts";

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
export const backtestRequestSchema = inputObject({
  ...runShape,
  /** True: simulate even if the result of an equal backtest is stored. */
  fresh: z.boolean().optional(),
  ...labelShape,
});

type BacktestRequest = z.infer<typeof backtestRequestSchema>;
type UserContext = Context & { readonly user: User };

// As many as finish together (see workers/backtest/records.ts).
const BATCH_MAX = 32;

/**
 * Checks a backtest and queues it. A request that came before with the same Idempotency-Key gets the record of that time.
 *
 * @throws AppError for a request, range, strategy or parameters that cannot be run, and QUOTA_EXCEEDED; nothing is stored then.
 */
export async function submitBacktest(
  ctx: UserContext,
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
    fresh: request.fresh ?? false,
  };
  return await traceStep("submit", () => storeTogether(ctx, { submission, strategy, values }));
}

/** A submission that was checked. */
interface Checked {
  readonly submission: NamedSubmission | null;
  readonly strategy: ResolvedStrategy;
  readonly values: Omit<NewBacktest, "queuePosition">;
}

/** A checked submission, and a function that continues its request's trace. */
type Waiting = Checked & { readonly inRequest: <T>(work: () => T) => T };

interface Batches {
  readonly batcher: Batcher<Waiting, Backtest>;
  waiting: number;
}

// A connection that is lost during a commit does not tell whether it succeeded: another attempt could store all of them twice.
const wasRolledBack = (error: unknown) => !isDatabaseFault(error);

// Users' submissions on their way, by database and user.
const batchesOf = new WeakMap<Db, Map<string, Batches>>();

/** Stores a submission. Those of one user that come meanwhile share the next transaction instead of waiting for each other's commits. */
async function storeTogether({ db, queue, quotas, user }: UserContext, checked: Checked): Promise<Backtest> {
  const users = batchesOf.get(db) ?? new Map<string, Batches>();
  batchesOf.set(db, users);
  // A named one is alone, because two of one name must find each other.
  const key = JSON.stringify([user.id, checked.submission?.key]);
  const store = (some: readonly Waiting[]) => storeAll({ db, queue, quotas, ownerId: user.id }, some);
  const batches = users.get(key) ?? { batcher: new Batcher(store, BATCH_MAX, wasRolledBack), waiting: 0 };
  users.set(key, batches);
  batches.waiting++;
  try {
    return await batches.batcher.add({ ...checked, inRequest: AsyncLocalStorage.snapshot() });
  } finally {
    if (--batches.waiting === 0) users.delete(key);
  }
}

/** Stores one user's submissions. @throws Where one of them may not be stored; the batcher then tries each alone. */
async function storeAll(
  { db, queue, quotas, ownerId }: Pick<Context, "db" | "queue" | "quotas"> & { readonly ownerId: string },
  all: readonly Waiting[],
): Promise<Backtest[]> {
  return await transactPipelined(db, async (tx) => {
    // Statements that are started together are sent in their order and share a round trip: the lock comes first.
    const [, twin, usage] = await Promise.all([
      lockUser(tx, ownerId),
      // The same submission may have been stored since the first look.
      findEarlier(tx, all[0]?.submission ?? null),
      readUsage(tx, ownerId, quotas.backtestsMax - (all.length - 1)),
    ]);
    if (twin !== null) return { answer: Promise.resolve([twin]) };
    const bytes = usage.bytes + all.slice(1).reduce((sum, { values }) => sum + measureRecord(values), 0);
    const firstPosition = requireQueuePosition({ ...usage, bytes }, quotas);
    for (const { strategy } of all) {
      if (strategy.module !== null) await requireRoomForModule(tx, ownerId, quotas, strategy.module);
      await keepModule(tx, strategy);
    }
    const jobs = all.map(() => Promise.withResolvers<void>());
    const answer = Promise.all(all.map(({ submission, values, inRequest }, index) =>
      inRequest(async () => {
        const id = newBacktestId();
        const queuePosition = firstPosition + index;
        const [inserted] = await Promise.all([
          insertBacktest(tx, { ...values, queuePosition }, id),
          submission === null ? undefined : insertSubmission(tx, submission, id),
          queue.enqueueBacktest(tx, id, ownerId, queuePosition, jobs[index]?.resolve),
        ]);
        return inserted;
      })
    ));
    await Promise.race([answer, Promise.all(jobs.map(({ promise }) => promise))]);
    return { answer };
  });
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

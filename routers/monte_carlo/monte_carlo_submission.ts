import { z } from "zod";
import { addSizes, measureBacktests } from "../../db/backtest_sizes.ts";
import type { Db } from "../../db/client.ts";
import { type NamedSubmission, SUBMISSION_KEPT_MS } from "../../db/idempotency.ts";
import {
  countMonteCarlos,
  findMonteCarloSubmission,
  insertMonteCarlo,
  type MonteCarlo,
} from "../../db/monte_carlos.ts";
import { lockUser } from "../../db/quotas.ts";
import {
  defaultBlockDays,
  ENDPOINT_RUNS_MAX,
  MONTE_CARLO_METHODS,
  type MonteCarloMethod,
  PATH_STEPS_MAX,
  RUIN_DRAWDOWN,
  RUNS_MAX,
} from "../../research/monte_carlo/request.ts";
import { notFound } from "../backtests/backtest_events.ts";
import { AppError } from "../errors.ts";
import { inputObject } from "../input_object.ts";
import { type CompletedBacktest, idSchema, mustGet, requireCompleted } from "../backtests/owned_backtest.ts";
import { requireStorage } from "../quotas.ts";
import { idempotencyConflict, nameSubmission } from "../runs/run_request.ts";
import type { Context, User } from "../trpc.ts";

/** Queued and running ones of one user; each computes for minutes at most. */
export const UNENDED_MAX = 20;
const RUN_SECONDS = 10;
/** Those of one backtest; the curves of each take about 30 kB. */
export const OF_BACKTEST_MAX = 20;
const REMOVAL_SECONDS = 3600;

export const monteCarloRequestSchema = inputObject({
  backtest_id: idSchema,
  method: z.enum(MONTE_CARLO_METHODS),
  runs: z.int().min(1).max(RUNS_MAX),
  block_days: z.int().min(1).optional(),
  seed: z.int().min(0).default(1),
  ruin_drawdown: z.number().gt(0).max(1).default(RUIN_DRAWDOWN),
});

type UserContext = Context & { readonly user: User };
type MonteCarloRequest = z.infer<typeof monteCarloRequestSchema>;

/**
 * Accepts a Monte Carlo simulation: record and job are written together. A request that came before with the same Idempotency-Key gets
 * the record of that time.
 *
 * @throws AppError BACKTEST_NOT_FOUND, NOT_COMPLETED, VALIDATION_FAILED with a pointer, QUOTA_EXCEEDED, IDEMPOTENCY_CONFLICT.
 */
export async function submitMonteCarlo(ctx: UserContext, request: MonteCarloRequest): Promise<MonteCarlo> {
  const submission = nameSubmission(ctx.user.id, ctx.idempotencyKey, request);
  const earlier = await findEarlier(ctx.db, submission);
  if (earlier !== null) return earlier;
  const backtest = requireCompleted(await mustGet(ctx.db, request.backtest_id, ctx.user.id), "simulate");
  const blockDays = chooseBlockDays(backtest, request.method, request.block_days);
  requirePaths(backtest, request);
  return await ctx.db.transaction(async (tx: Db) => {
    await lockUser(tx, ctx.user.id);
    // The same submission may have been stored since the first look.
    const twin = await findEarlier(tx, submission);
    if (twin !== null) return twin;
    const key = { ownerId: ctx.user.id, backtestId: backtest.id };
    requireStorage("another Monte Carlo simulation", await measureBacktests(tx, ctx.user.id), ctx.quotas);
    const queuePosition = requireRoom(await countMonteCarlos(tx, key));
    const { method, runs, seed, ruin_drawdown: ruinDrawdown } = request;
    const { key: idempotencyKey = null, requestSha256 = null } = submission ?? {};
    const values = { ...key, method, runs, seed, ruinDrawdown, blockDays, idempotencyKey, requestSha256 };
    const row = await insertMonteCarlo(tx, values);
    // It has been deleted since.
    if (row === null) throw notFound(backtest.id);
    await ctx.queue.enqueueMonteCarlo(tx, row.id, ctx.user.id, queuePosition);
    // Last, because it locks the storage totals, as everywhere.
    await addSizes(tx, [row]);
    return row;
  });
}

/** @throws AppError IDEMPOTENCY_CONFLICT when the key was used for another request. */
async function findEarlier(db: Db, submission: NamedSubmission | null): Promise<MonteCarlo | null> {
  if (submission === null) return null;
  const found = await findMonteCarloSubmission(db, submission, new Date(Date.now() - SUBMISSION_KEPT_MS));
  if (found === null || found.requestSha256 === submission.requestSha256) return found;
  throw idempotencyConflict(submission.key);
}

function chooseBlockDays(
  { result }: CompletedBacktest,
  method: MonteCarloMethod,
  wanted: number | undefined,
): number | null {
  const days = Math.max(1, Math.ceil(result.metrics.duration_days ?? 1));
  if (method === "trades") {
    if (wanted === undefined) return null;
    throw refuse("block_days", "must be left out: the method trades draws single trades");
  }
  if (wanted !== undefined && wanted > days) {
    throw refuse("block_days", `must be at most the ${days} days of the backtest, not ${wanted}`);
  }
  return wanted ?? defaultBlockDays(days);
}

/** Refuses what no worker can do. */
function requirePaths(
  { runtime, result: { metrics, data } }: CompletedBacktest,
  { method, runs }: { readonly method: MonteCarloMethod; readonly runs: number },
): void {
  if (method === "candles" && runtime?.type === "remote" && runs > ENDPOINT_RUNS_MAX) {
    throw refuse(
      "runs",
      `must be at most ${ENDPOINT_RUNS_MAX} where candles calls a remote endpoint for each path, not ${runs}`,
    );
  }
  if (method === "trades" && (metrics.trades ?? 0) < 2) {
    throw refuse("method", `must be returns or candles: the backtest has ${metrics.trades ?? 0} closed trades`);
  }
  const steps = method === "trades" ? metrics.trades ?? 0 : method === "candles" ? data.candles : 0;
  const most = Math.floor(PATH_STEPS_MAX / Math.max(1, steps));
  if (runs <= most) return;
  throw refuse("runs", `must be at most ${most} for a backtest of ${steps} ${method}, not ${runs}`);
}

function refuse(key: string, rule: string): AppError {
  const path = `/monte_carlo/${key}`;
  return new AppError("VALIDATION_FAILED", `Cannot accept the request: ${path} ${rule}`, {
    issues: [{ path, message: rule }],
  });
}

/** The queue position of another one: users take turns. @throws AppError QUOTA_EXCEEDED */
function requireRoom({ unended, ofBacktest }: { readonly unended: number; readonly ofBacktest: number }): number {
  if (ofBacktest >= OF_BACKTEST_MAX) {
    throw new AppError(
      "QUOTA_EXCEEDED",
      `Cannot keep another Monte Carlo simulation: the backtest has ${ofBacktest}; delete one that you no longer need`,
      { retryAfterSeconds: REMOVAL_SECONDS },
    );
  }
  if (unended < UNENDED_MAX) return unended;
  throw new AppError(
    "QUOTA_EXCEEDED",
    `Cannot queue another Monte Carlo simulation: ${unended} of yours are queued or running, and no more may be at a ` +
      "time; wait until one has ended, or cancel one",
    { retryAfterSeconds: RUN_SECONDS },
  );
}

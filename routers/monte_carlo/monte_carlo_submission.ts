import { z } from "zod";
import { beginStudy, STUDY_BYTES } from "../../db/backtest_studies.ts";
import { insertMonteCarlo, type MonteCarlo, monteCarloRecords, type NewMonteCarlo } from "../../db/monte_carlos.ts";
import { submissionColumns } from "../../db/runs.ts";
import { endsOfDays } from "../../market/calendar/run_days.ts";
import {
  defaultBlockDays,
  ENDPOINT_RUNS_MAX,
  MONTE_CARLO_METHODS,
  type MonteCarloMethod,
  PATH_STEPS_MAX,
  RUIN_DRAWDOWN,
  RUNS_MAX,
} from "../../research/monte_carlo/request.ts";
import { backtestRuns } from "../backtests/backtest_runs.ts";
import { type CompletedBacktest, requireCompleted } from "../backtests/owned_backtest.ts";
import { readDays } from "../backtests/series.ts";
import { AppError } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import { idSchema } from "../runs/runs.ts";
import { requireFewStudies } from "../runs/few_studies.ts";
import { RunSubmitter } from "../runs/submission.ts";
import type { UserContext } from "../common/trpc.ts";
import { monteCarloRuns } from "./monte_carlo_runs.ts";

/** Queued and running ones of one user; each computes for minutes at most. */
export const UNENDED_MAX = 20;

export const monteCarloRequestSchema = inputObject({
  backtest_id: idSchema,
  method: z.enum(MONTE_CARLO_METHODS),
  runs: z.int().min(1).max(RUNS_MAX),
  block_days: z.int().min(1).optional().describe(
    "Mean length of the blocks in trading days with candles, for returns and candles alike",
  ),
  seed: z.int().min(0).default(1),
  ruin_drawdown: z.number().gt(0).max(1).default(RUIN_DRAWDOWN),
});

type MonteCarloRequest = z.infer<typeof monteCarloRequestSchema>;

/** A submission that was checked. */
interface MonteCarloPlan {
  readonly values: Omit<NewMonteCarlo, "ownerId" | "idempotencyKey" | "requestSha256">;
}

const submitter = new RunSubmitter<MonteCarlo, MonteCarloRequest, MonteCarloPlan>({
  runs: monteCarloRuns,
  unendedMax: () => UNENDED_MAX,
  batchMax: 1,
  plan: checkRequest,
  measure: () => STUDY_BYTES,
  async admit(tx, _services, ownerId, { values: { backtestId } }) {
    // It may have been deleted since the check.
    if (!await beginStudy(tx, { id: backtestId, ownerId })) throw backtestRuns.notFound(backtestId);
    await requireFewStudies(tx, monteCarloRecords, backtestId);
  },
  insert: (tx, { id, ownerId, submission }, { values }) =>
    insertMonteCarlo(tx, { ...values, ownerId, ...submissionColumns(submission) }, id),
});

/** Submits a Monte Carlo simulation; see RunSubmitter.submit(). */
export const submitMonteCarlo = submitter.submit.bind(submitter);

/** @throws AppError BACKTEST_NOT_FOUND, NOT_COMPLETED, VALIDATION_FAILED with a pointer. */
async function checkRequest(ctx: UserContext, request: MonteCarloRequest): Promise<MonteCarloPlan> {
  const backtest = requireCompleted(await backtestRuns.find(ctx.db, request.backtest_id, ctx.user.id), "simulate");
  const blockDays = await chooseBlockDays(ctx, backtest, request);
  requirePaths(backtest, request);
  const { method, runs, seed, ruin_drawdown: ruinDrawdown } = request;
  return { values: { backtestId: backtest.id, method, runs, seed, ruinDrawdown, blockDays } };
}

async function chooseBlockDays(
  ctx: UserContext,
  backtest: CompletedBacktest,
  { method, block_days: wanted }: MonteCarloRequest,
): Promise<number | null> {
  if (method === "trades") {
    if (wanted === undefined) return null;
    throw refuse("block_days", "must be left out: the method trades draws single trades");
  }
  const { time } = await ctx.userTurns.run(ctx.user.id, () => readDays(ctx, backtest));
  const days = Math.max(1, endsOfDays(backtest.result, backtest.parameters.timeframe, time).length);
  if (wanted !== undefined && wanted > days) {
    throw refuse("block_days", `must be at most the ${days} trading days of the backtest, not ${wanted}`);
  }
  return wanted ?? defaultBlockDays(days);
}

/** Refuses what no worker can do. */
function requirePaths(
  { runtime, result: { metrics, data, portfolio } }: CompletedBacktest,
  { method, runs }: { readonly method: MonteCarloMethod; readonly runs: number },
): void {
  if (method === "candles" && portfolio !== undefined) {
    throw refuse(
      "method",
      "must be trades or returns: a path of candles is one market, and the backtest has many, whose members join, leave " +
        "and rest on days of their own",
    );
  }
  if (method === "candles" && data.inputs !== undefined) {
    throw refuse("method", "must be trades or returns: the inputs of the backtest do not move with a path of candles");
  }
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

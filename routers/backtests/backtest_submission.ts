import { z } from "zod";
import { shortSettings } from "../../db/backtest_lists.ts";
import { measureRecord } from "../../db/backtest_sizes.ts";
import { type Backtest, insertBacktest, type NewBacktest } from "../../db/backtests.ts";
import { readUsage } from "../../db/quotas.ts";
import { submissionColumns } from "../../db/runs.ts";
import { dateSchema } from "../common/dates.ts";
import { inputObject } from "../common/input_object.ts";
import { marketNameSchema } from "../market_data/market_name.ts";
import { completeInputs } from "../runs/inputs_request.ts";
import { completePortfolio } from "../runs/portfolio_request.ts";
import {
  completeParameters,
  countCandles,
  PARAMETERS_PATH,
  parseRequestRange,
  requireConsistent,
  requireShort,
} from "../runs/run_request.ts";
import { RunSubmitter } from "../runs/submission.ts";
import { changedParameters, requireShortParameters } from "../strategies/parameters.ts";
import { admitModule, type ResolvedStrategy, resolveStrategy } from "../strategies/resolve_strategy.ts";
import type { UserContext } from "../common/trpc.ts";
import { labelShape } from "./backtest_labels.ts";
import { backtestRuns } from "./backtest_runs.ts";

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

/** A submission that was checked. */
interface BacktestPlan {
  readonly strategy: ResolvedStrategy;
  readonly values: Omit<NewBacktest, "ownerId" | "queuePosition">;
}

const submitter = new RunSubmitter<Backtest, BacktestRequest, BacktestPlan>({
  runs: backtestRuns,
  unendedMax: ({ backtestsMax }) => backtestsMax,
  // As many as finish together (see workers/backtest/records.ts).
  batchMax: 32,
  plan: checkRequest,
  measure: ({ values }) => measureRecord(values),
  readUsage,
  admit: (tx, { quotas }, ownerId, { strategy }) => admitModule(tx, ownerId, quotas, strategy),
  insert: (tx, { id, ownerId, queuePosition, submission }, { values }) =>
    insertBacktest(tx, { ...values, ownerId, queuePosition, ...submissionColumns(submission) }, id),
});

/** Submits a backtest; see RunSubmitter.submit(). */
export async function submitBacktest(ctx: UserContext, request: BacktestRequest): Promise<Backtest> {
  requireShortParameters(request.parameters, PARAMETERS_PATH);
  return await submitter.submit(ctx, request);
}

/** @throws AppError for a range, strategy or parameters that cannot be run. */
async function checkRequest(ctx: UserContext, request: BacktestRequest): Promise<BacktestPlan> {
  const range = parseRequestRange(request);
  const strategy = await resolveStrategy(ctx, request.strategy, request.parameters);
  const parameters = completeParameters(strategy, request.parameters);
  requireConsistent(strategy, parameters);
  const { timeframe } = parameters;
  const { symbol, exchange } = request;
  const inputs = await completeInputs(ctx, strategy, request.parameters, { symbol, exchange, timeframe, range });
  requireShort(range, timeframe, ctx.runCandlesMax, inputs.candles);
  const candles = countCandles(range, timeframe) + inputs.candles;
  const { asked } = inputs;
  const markets = await completePortfolio(ctx, strategy, request.parameters, { path: PARAMETERS_PATH, candles, asked });
  const values = {
    ...request,
    startDate: request.start_date,
    endDate: request.end_date,
    initialBalance: request.initial_balance,
    strategySlug: strategy.slug,
    strategyVersion: strategy.version,
    runtime: strategy.runtime,
    changedSettings: describeChanges(changedParameters(strategy, parameters)),
    parameters: { ...parameters, ...inputs.parameters, ...markets.parameters },
    members: markets.members,
    fresh: request.fresh ?? false,
  };
  return { strategy, values };
}

// More would be no name.
const CHANGES_LENGTH_MAX = 150;

/** `fast 5, slow 30`: the first short ones that a name has room for; null where there is none. */
function describeChanges(changed: Readonly<Record<string, unknown>>): string | null {
  let words = "";
  for (const [name, value] of Object.entries(shortSettings(changed))) {
    const longer = `${words}${words && ", "}${name} ${value}`;
    if (longer.length > CHANGES_LENGTH_MAX) break;
    words = longer;
  }
  return words || null;
}

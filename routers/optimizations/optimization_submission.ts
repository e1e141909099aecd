import { addSizes } from "../../db/backtest_sizes.ts";
import { insertOptimization, type NewOptimization, type Optimization } from "../../db/optimizations.ts";
import { insertOptimizationMembers } from "../../db/run_members.ts";
import type { Member } from "../../db/universes.ts";
import { insertScanMarkets, type NewScanMarket, SCAN_MARKET_BYTES } from "../../db/scan_markets.ts";
import { submissionColumns } from "../../db/runs.ts";
import { ownParameters } from "../../research/execution_axes.ts";
import { candleAxesOf, countGroups, strategyParametersAt } from "../../research/candle_axes.ts";
import { countTrainings, type WalkForward } from "../../research/walk_forward.ts";
import { countPoints, type Space } from "../../research/space.ts";
import type { Timeframe } from "../../market/timeframes.ts";
import { parseTimeframe } from "../market_data/timeframe.ts";
import { AppError, type Issue } from "../common/errors.ts";
import {
  completeParameters,
  countCandles,
  PARAMETERS_PATH,
  parseRequestRange,
  requireShort,
} from "../runs/run_request.ts";
import { completeInputs } from "../runs/inputs_request.ts";
import { completePortfolio, requireOneMarket } from "../runs/portfolio_request.ts";
import { RunSubmitter } from "../runs/submission.ts";
import { type Parameters, requireShortParameters } from "../strategies/parameters.ts";
import { admitModule, type ResolvedStrategy, resolveStrategy } from "../strategies/resolve_strategy.ts";
import type { UserContext } from "../common/trpc.ts";
import {
  checkConstraints,
  chooseDirection,
  firstValues,
  type OptimizationRequest,
  PATH,
  readPathRules,
  readSpace,
  trialsMaxOf,
} from "./optimization_request.ts";
import { optimizationRuns } from "./optimization_runs.ts";
import { describeFlat, readWalkForward } from "./walk_forward_request.ts";
import { listCandleGroups } from "./candle_axes_request.ts";
import { readScan, requireTrialsRoom, SCAN_PATH } from "./scan_request.ts";

// A row without what is measured of it.
const RECORD_BYTES = 1000;

/** A submission that was checked. */
interface OptimizationPlan {
  readonly strategy: ResolvedStrategy;
  readonly values: Omit<NewOptimization, "ownerId" | "idempotencyKey" | "requestSha256">;
  /** Of a scan, or one for each date and timeframe; none where all trials have the same candles. */
  readonly markets: readonly NewScanMarket[];
  /** Of the universe that its parameters name. */
  readonly members: readonly Member[] | null;
}

const submitter = new RunSubmitter<Optimization, OptimizationRequest, OptimizationPlan>({
  runs: optimizationRuns,
  unendedMax: ({ optimizationsMax }) => optimizationsMax,
  batchMax: 1,
  plan: checkRequest,
  measure: ({ values }) => values.sizeBytes ?? 0,
  admit: (tx, { quotas }, ownerId, { strategy }) => admitModule(tx, ownerId, quotas, strategy),
  async insert(tx, { id, ownerId, submission }, { values, markets, members }) {
    const [row] = await Promise.all([
      insertOptimization(tx, { ...values, ownerId, ...submissionColumns(submission) }, id),
      ...(markets.length === 0 ? [] : [insertScanMarkets(tx, id, markets)]),
      ...(members === null ? [] : [insertOptimizationMembers(tx, id, members)]),
      addSizes(tx, [{ ownerId, sizeBytes: values.sizeBytes ?? 0 }]),
    ]);
    return row;
  },
});

/** Submits an optimization; see RunSubmitter.submit(). */
export const submitOptimization = submitter.submit.bind(submitter);

/** Everything that a request says, checked and completed. */
async function checkRequest(ctx: UserContext, request: OptimizationRequest): Promise<OptimizationPlan> {
  return await pointing(Object.keys(request.space ?? {}), async () => {
    requireShortParameters(request.parameters, PARAMETERS_PATH);
    if (request.markets !== undefined) requireOneMarket(request.parameters, PARAMETERS_PATH, "a scan");
    const range = parseRequestRange(request);
    const direction = chooseDirection(request);
    // A module or a script that comes along is tried out with the first values of the space.
    const strategy = await resolveStrategy(ctx, request.strategy, { ...firstValues(request), ...request.parameters });
    if (request.markets !== undefined && strategy.decidesOnMarkets) throw decidesOnMany(strategy.name);
    const scan = await readScan(ctx, request);
    const space = readSpace(request, strategy.parameter_schema, scan);
    const names = new Set(space.axes.map(({ name }) => name));
    const timeframes = timeframesOf(space);
    // One point stands for all: the values of each parameter have been checked one by one.
    const complete = completeParameters(strategy, {
      ...request.parameters,
      ...ownParameters(strategyParametersAt(space, 0)),
      ...(timeframes === null ? {} : { timeframe: timeframes[0] }),
    });
    const { symbol, exchange } = request;
    const { timeframe } = complete;
    const inputs = await completeInputs(ctx, strategy, request.parameters, { symbol, exchange, timeframe, range });
    const finest = timeframes?.reduce((a, b) => countCandles(range, a) > countCandles(range, b) ? a : b) ?? timeframe;
    requireShort(range, finest, ctx.runCandlesMax, inputs.candles);
    const spacePoints = countPoints(space);
    const trials = Math.min(spacePoints, trialsMaxOf(request));
    const candles = countCandles(range, finest) + inputs.candles;
    const one = { path: PARAMETERS_PATH, candles, asked: inputs.asked };
    const account = await completePortfolio(ctx, strategy, request.parameters, one);
    requireOneFill(strategy, space);
    const walkForward = readWalkForward(request, space, describeFlat(strategy, account.count));
    const groups = countGroups(space);
    const trainings = trainingsOf(request, walkForward);
    requireRoomForTrials(ctx, { trials, trainings, groups, isScan: scan !== null, markets: account.count, candles });
    // The record's own timeframe is the first one.
    const parameters = { ...withoutNames(complete, names), timeframe, ...inputs.parameters, ...account.parameters };
    checkConstraints(request, space, parameters);
    const bytes = measure([parameters, space, request.constraints, strategy.runtime, account.members]);
    const values = {
      symbol: request.symbol,
      exchange: request.exchange,
      strategy: request.strategy,
      strategySlug: strategy.slug,
      strategyVersion: strategy.version,
      startDate: request.start_date,
      endDate: request.end_date,
      initialBalance: request.initial_balance,
      parameters,
      runtime: strategy.runtime,
      space,
      constraints: request.constraints,
      method: request.method,
      objective: request.objective,
      direction,
      trialsMax: trialsMaxOf(request),
      seed: request.seed,
      walkForward,
      testedPaths: readPathRules(request),
      name: request.name ?? null,
      scan: scan?.scan ?? null,
      spacePoints,
      sizeBytes: bytes + (scan?.sizeBytes ?? (groups ?? 0) * SCAN_MARKET_BYTES),
    };
    return {
      strategy,
      values,
      markets: scan?.markets ?? listCandleGroups(request, space),
      members: account.members ?? null,
    };
  });
}

/** The trials of a submission. */
interface SubmittedTrials {
  readonly trials: number;
  readonly trainings: number;
  /** Markets of a scan, or ranges; null where all trials have the same candles. */
  readonly groups: number | null;
  readonly isScan: boolean;
  /** With one account over them; absent: one market. */
  readonly markets: number | undefined;
  /** Of one market. */
  readonly candles: number;
}

/** @throws AppError RANGE_TOO_LARGE where trials of several markets or ranges have too many candles together. */
function requireRoomForTrials(
  ctx: UserContext,
  { trials, trainings, groups, isScan, markets, candles }: SubmittedTrials,
): void {
  if (groups !== null) {
    const [path, what] = isScan ? [SCAN_PATH, "markets"] as const : [`${PATH}/space`, "ranges"] as const;
    requireTrialsRoom(ctx, { points: Math.floor(trials / groups), each: groups, what, candles, path });
  } else if (markets !== undefined) {
    requireTrialsRoom(ctx, {
      points: trials,
      trainings,
      each: markets,
      what: "markets",
      candles,
      path: PARAMETERS_PATH,
    });
  }
}

/** About how many bytes a record of these parts has before it runs. */
function measure(parts: readonly unknown[]): number {
  return RECORD_BYTES + JSON.stringify(parts).length;
}

/** How many times the trials of a request go through the range. */
function trainingsOf({ start_date: startDate, end_date: endDate }: OptimizationRequest, walk: WalkForward | null) {
  return walk === null ? 1 : Math.max(1, countTrainings({ startDate, endDate }, walk));
}

/** The timeframes that a space varies; null where it does not. */
function timeframesOf(space: Space): readonly Timeframe[] | null {
  const axis = candleAxesOf(space).find(({ name }) => name === "timeframe");
  return axis?.values.flatMap((value) => parseTimeframe(value) ?? []) ?? null;
}

function decidesOnMany(name: string): AppError {
  const message = `must be a strategy of one market, and ${name} decides on many: name them as parameters.instruments`;
  return new AppError("INVALID_PARAMETERS", `Cannot scan markets one by one: ${PATH}/strategy ${message}`, {
    issues: [{ path: `${PATH}/strategy`, message }],
  });
}

/** @throws AppError INVALID_PARAMETERS where targets would be filled otherwise than at the next open. */
function requireOneFill({ decidesOnMarkets, name }: ResolvedStrategy, { axes }: Space): void {
  const path = `${PATH}/space/execution.fill`;
  if (!decidesOnMarkets || !axes.some((axis) => axis.name === "execution.fill")) return;
  const message = `cannot vary for ${name}: targets of many markets are filled at the next open`;
  throw new AppError("INVALID_PARAMETERS", `Cannot run over many markets: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

function withoutNames(parameters: Parameters, names: ReadonlySet<string>): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !names.has(name)));
}

/** Does what a backtest's submission does, and has its refusals point into this request. @param varying Parameters of the space. */
async function pointing<Answer>(varying: readonly string[], check: () => Promise<Answer>): Promise<Answer> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const issues = error.issues.map(({ path, message }): Issue => ({ path: toOwnPath(path, varying), message }));
    const message = error.issues.reduce((text, { path }, i) => text.replace(path, issues[i]!.path), error.message);
    const { retryAfterSeconds, cause } = error;
    throw new AppError(error.appCode, message, {
      issues,
      cause,
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
}

function toOwnPath(path: string, varying: readonly string[]): string {
  const own = path.replace(/^\/backtest(?=\/|$)/, PATH);
  const name = varying.find((each) => own === `${PATH}/parameters/${each}`);
  return name === undefined ? own : `${PATH}/space/${name}`;
}

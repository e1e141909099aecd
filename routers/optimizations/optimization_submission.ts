import {
  countUnendedOptimizations,
  findOptimizationSubmission,
  insertOptimization,
  type Optimization,
} from "../../db/optimizations.ts";
import { addSizes, measureBacktests } from "../../db/backtest_sizes.ts";
import type { Db } from "../../db/client.ts";
import { type NamedSubmission, SUBMISSION_KEPT_MS } from "../../db/idempotency.ts";
import { lockUser } from "../../db/quotas.ts";
import { countPoints, pointAt } from "../../research/space.ts";
import { traceStep } from "../../workers/telemetry.ts";
import { AppError, type Issue } from "../errors.ts";
import {
  checkConstraints,
  chooseDirection,
  firstValues,
  type OptimizationRequest,
  PATH,
  readSpace,
  readWalkForward,
  trialsMaxOf,
} from "./optimization_request.ts";
import { type Parameters, requireShortParameters } from "../strategies/parameters.ts";
import { requireRoomForModule, requireRoomForOptimization } from "../quotas.ts";
import { keepModule, resolveStrategy } from "../strategies/resolve_strategy.ts";
import {
  completeParameters,
  idempotencyConflict,
  nameSubmission,
  PARAMETERS_PATH,
  parseRequestRange,
  requireShort,
} from "../runs/run_request.ts";
import type { Context, User } from "../trpc.ts";

type UserContext = Context & { readonly user: User };

// A row without what is measured of it.
const RECORD_BYTES = 1000;

/**
 * Checks an optimization and queues it. A request that came before with the same Idempotency-Key gets the record of that time.
 *
 * @throws AppError for a request, range, strategy, parameters or space that cannot be run, and QUOTA_EXCEEDED; nothing is stored then.
 */
export async function submitOptimization(ctx: UserContext, request: OptimizationRequest): Promise<Optimization> {
  const submission = nameSubmission(ctx.user.id, ctx.idempotencyKey, request);
  const earlier = await findEarlier(ctx.db, submission);
  if (earlier !== null) return earlier;
  const { strategy, values } = await checkRequest(ctx, request);
  return await traceStep("submit", () =>
    ctx.db.transaction(async (tx: Db) => {
      await lockUser(tx, ctx.user.id);
      // The same submission may have been stored since the first look.
      const twin = await findEarlier(tx, submission);
      if (twin !== null) return twin;
      const usage = {
        unended: await countUnendedOptimizations(tx, ctx.user.id),
        bytes: await measureBacktests(tx, ctx.user.id),
      };
      requireRoomForOptimization(usage, ctx.quotas);
      if (strategy.module !== null) await requireRoomForModule(tx, ctx.user.id, ctx.quotas, strategy.module);
      await keepModule(tx, strategy);
      const row = await insertOptimization(tx, {
        ...values,
        idempotencyKey: submission?.key ?? null,
        requestSha256: submission?.requestSha256 ?? null,
      });
      await ctx.queue.enqueueOptimization(tx, row.id, ctx.user.id);
      // Last, because it locks the storage totals, as everywhere.
      await addSizes(tx, [row]);
      return row;
    }));
}

/** Everything that a request says, checked and completed. */
async function checkRequest(ctx: UserContext, request: OptimizationRequest) {
  return await pointing(Object.keys(request.space ?? {}), async () => {
    requireShortParameters(request.parameters, PARAMETERS_PATH);
    const range = parseRequestRange(request);
    const direction = chooseDirection(request);
    // A module or a script that comes along is tried out with the first values of the space.
    const strategy = await resolveStrategy(ctx, request.strategy, { ...firstValues(request), ...request.parameters });
    const space = readSpace(request, strategy.parameter_schema);
    const names = new Set(space.axes.map(({ name }) => name));
    // One point stands for all: the values of each parameter have been checked one by one.
    const complete = completeParameters(strategy, { ...request.parameters, ...pointAt(space, 0) });
    requireShort(range, complete.timeframe, ctx.runCandlesMax);
    const parameters = withoutNames(complete, names);
    checkConstraints(request, space, parameters);
    const walkForward = readWalkForward(request, space);
    const bytes = RECORD_BYTES + JSON.stringify([parameters, space, request.constraints, strategy.runtime]).length;
    const values = {
      ownerId: ctx.user.id,
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
      name: request.name ?? null,
      spacePoints: countPoints(space),
      sizeBytes: bytes,
    };
    return { strategy, values };
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

/** @throws AppError IDEMPOTENCY_CONFLICT when the key was used for another request. */
async function findEarlier(db: Db, submission: NamedSubmission | null): Promise<Optimization | null> {
  if (submission === null) return null;
  const found = await findOptimizationSubmission(db, submission, new Date(Date.now() - SUBMISSION_KEPT_MS));
  if (found === null || found.requestSha256 === submission.requestSha256) return found;
  throw idempotencyConflict(submission.key);
}

import { createHash } from "node:crypto";
import type { NamedSubmission } from "../../db/runs.ts";
import { type Execution, resolveExecution } from "../../engine/execution.ts";
import { HOURS, type Hours } from "../../market/calendar/exchange_sessions.ts";
import { shortestMs, type Timeframe } from "../../market/timeframes.ts";
import { parseRange } from "../common/dates.ts";
import { AppError, hintNearest, quote, validationFailed } from "../common/errors.ts";
import { executionRequestSchema } from "./execution_request.ts";
import { effectiveParameters, type Parameters, wantedTimeframe } from "../strategies/parameters.ts";
import type { ResolvedStrategy } from "../strategies/resolve_strategy.ts";
import { parseTimeframe, TIMEFRAME_WORDS } from "../market_data/timeframe.ts";

const PATH = "/backtest";
export const PARAMETERS_PATH = `${PATH}/parameters`;
// Printable, as header values are.
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;

/** The range of a run, as milliseconds since 1970. @throws AppError INVALID_DATE_RANGE, FUTURE_DATE_RANGE */
export function parseRequestRange(request: { readonly start_date: string; readonly end_date: string }) {
  return parseRange(request.start_date, request.end_date, { start: `${PATH}/start_date`, end: `${PATH}/end_date` });
}

/**
 * A submission by the key that its client gave it; null without one.
 *
 * @throws AppError VALIDATION_FAILED for a key that is empty, too long or not printable.
 */
export function nameSubmission(ownerId: string, key: string | undefined, request: object): NamedSubmission | null {
  if (key === undefined) return null;
  if (!IDEMPOTENCY_KEY.test(key)) {
    const message = `must be 1 to 255 printable characters, not ${quote(key)}`;
    throw new AppError("VALIDATION_FAILED", `Cannot accept the request: the header Idempotency-Key ${message}`);
  }
  return { ownerId, key, requestSha256: createHash("sha256").update(JSON.stringify(request)).digest("hex") };
}

/** The refusal of a key that came with another request. */
export function idempotencyConflict(key: string): AppError {
  return new AppError(
    "IDEMPOTENCY_CONFLICT",
    `Cannot accept the request: another one came with the Idempotency-Key ${quote(key)}; choose a new key`,
  );
}

/** The parameters of a record: everything that decides a result, filled in. */
type CompleteParameters = Record<string, unknown> & { readonly timeframe: Timeframe };

/**
 * Fills in everything that decides the result, so that the record says what runs.
 *
 * @throws AppError INVALID_PARAMETERS, VALIDATION_FAILED
 */
export function completeParameters(strategy: ResolvedStrategy, submitted: Parameters): CompleteParameters {
  const settings = executionRequestSchema.safeParse(submitted.execution ?? {});
  if (!settings.success) throw validationFailed(settings.error, `${PARAMETERS_PATH}/execution`);
  const own = effectiveParameters(strategy, submitted, PARAMETERS_PATH);
  const execution = resolveExecution(settings.data, null);
  requireFillOfTargets(strategy, execution);
  return {
    ...own,
    timeframe: chooseTimeframe(strategy, submitted),
    ...chooseHours(strategy, submitted.session),
    ...(strategy.shown === undefined ? {} : { runtime: strategy.shown }),
    execution,
  };
}

/** Weights are of the equity at the next open, where markets are bought and sold together. */
function requireFillOfTargets(strategy: ResolvedStrategy, { fill, sizingPrice, exclusive }: Execution): void {
  if (!strategy.decidesOnMarkets) return;
  const refuse = (name: string, choices: string, value: string) => {
    const message = `must be ${choices} for a strategy that decides on many markets, not ${quote(value)}`;
    return invalidParameters(strategy, `${PARAMETERS_PATH}/execution/${name}`, message);
  };
  if (fill !== "next_open") throw refuse("fill", "next_open", fill);
  if (sizingPrice !== "fill") throw refuse("sizingPrice", "fill", sizingPrice);
  if (exclusive === "any") throw refuse("exclusive", "opposite or off", exclusive);
}

/** @throws AppError INVALID_PARAMETERS when parameters contradict each other in a way that no schema can say. */
export function requireConsistent(strategy: ResolvedStrategy, complete: Parameters): void {
  try {
    (strategy.builtin ?? strategy.portfolioBuiltin)?.create(complete);
  } catch (error) {
    if (error instanceof RangeError) throw invalidParameters(strategy, PARAMETERS_PATH, error.message);
    throw error;
  }
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

/** The most candles that a range of one market has. */
export function countCandles(range: { start: number; end: number }, timeframe: Timeframe): number {
  return Math.floor((range.end - range.start) / shortestMs(timeframe));
}

/** @param inputCandles Those of the run's inputs. @throws AppError RANGE_TOO_LARGE */
export function requireShort(
  range: { start: number; end: number },
  timeframe: Timeframe,
  candlesMax: number,
  inputCandles = 0,
): void {
  const candles = countCandles(range, timeframe) + inputCandles;
  if (candles <= candlesMax) return;
  const path = `${PATH}/end_date`;
  const counted = inputCandles === 0 ? timeframe : `${timeframe}, with ${inputCandles} of inputs`;
  const message = `must be at most ${candlesMax} candles after start_date, not ${candles} (${counted}): ` +
    "shorten the range or choose a coarser timeframe";
  throw new AppError("RANGE_TOO_LARGE", `Cannot run over so large a range: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

/** The walk-forward windows of an optimization as a client submits them. */
import { isExecutionAxis } from "../../research/execution_axes.ts";
import { countPoints, type Space } from "../../research/space.ts";
import { countDays, countWindows, type WalkForward } from "../../research/walk_forward.ts";
import type { ResolvedStrategy } from "../strategies/resolve_strategy.ts";
import {
  type OptimizationRequest,
  PATH,
  refuse,
  TRIALS_MAX,
  trialsMaxOf,
  WALK_WINDOWS_MAX,
} from "./optimization_request.ts";

/**
 * Reads a request's walk-forward windows.
 *
 * @param alone The reason why its strategy cannot carry positions between tests; null: it can.
 * @returns Null without any.
 * @throws AppError VALIDATION_FAILED with a pointer, where none fits into the range, tests overlap, or they are too many trials.
 */
export function readWalkForward(
  request: OptimizationRequest,
  space: Space,
  alone: string | null,
): WalkForward | null {
  const variesExecution = space.axes.some(({ name }) => isExecutionAxis(name));
  if (request.walk_forward === undefined) return null;
  const {
    train_days: trainDays,
    purge_days: purgeDays,
    test_days: testDays,
    step_days: stepDays = testDays,
    anchored,
  } = request.walk_forward;
  const path = `${PATH}/walk_forward`;
  const carry = readCarry(request.walk_forward.carry, { hasGaps: stepDays > testDays, alone, variesExecution });
  const walk = { trainDays, purgeDays, testDays, stepDays, anchored, carry };
  const range = { startDate: request.start_date, endDate: request.end_date };
  const days = countDays(range);
  const needed = trainDays + purgeDays + testDays;
  if (needed > days) {
    const names = purgeDays === 0 ? "and test_days" : "with purge_days and test_days";
    const message = `${names} need ${needed} days, and the range has ${days}: shorten the windows`;
    throw refuse([{ path: `${path}/train_days`, message }]);
  }
  if (stepDays < testDays) {
    const message = `must be at least test_days, ${testDays}, not ${stepDays}: test windows would overlap`;
    throw refuse([{ path: `${path}/step_days`, message }]);
  }
  const windows = countWindows(range, walk);
  if (windows > WALK_WINDOWS_MAX) {
    throw refuse([{
      path,
      message: `makes ${windows} windows, and at most ${WALK_WINDOWS_MAX} are allowed: take more days`,
    }]);
  }
  // Other methods than grid try trials_max points.
  const all = countPoints(space);
  const [points, allowed] = request.method === "grid"
    ? [all, trialsMaxOf(request)]
    : [Math.min(all, trialsMaxOf(request)), TRIALS_MAX];
  if (windows * points > allowed) {
    const message =
      `makes ${windows} windows of ${points} points, ${windows * points} trials, and at most ${allowed} are ` +
      "allowed: take fewer windows or points, or raise trials_max";
    throw refuse([{ path, message }]);
  }
  return walk;
}

/** The reason why a strategy's tests each start flat; null where positions are carried. @param markets Of one account. */
export function describeFlat(
  { runtime }: Pick<ResolvedStrategy, "runtime">,
  markets: number | undefined,
): string | null {
  if (runtime?.type === "remote") {
    return "positions of endpoints are not carried: leave it out, and each test starts flat";
  }
  return runtime === null || markets === undefined
    ? null
    : "positions over many markets are carried for built-in strategies alone: leave it out, and each test starts flat";
}

/** Positions are carried unless something prevents it. */
function readCarry(
  asked: boolean | undefined,
  { hasGaps, alone, variesExecution }: { hasGaps: boolean; alone: string | null; variesExecution: boolean },
): boolean {
  const obstacle = hasGaps
    ? "there are days between the tests: leave step_days out"
    : alone !== null
    ? alone
    : variesExecution
    ? "one account has one execution, and the space varies it"
    : null;
  if (asked !== true || obstacle === null) return asked ?? obstacle === null;
  throw refuse([{ path: `${PATH}/walk_forward/carry`, message: `cannot be true, because ${obstacle}` }]);
}

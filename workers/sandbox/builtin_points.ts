/** The points of an optimization: those that are drawn or suggested, and which of them are trials. */
import { isAskedToStop } from "../../engine/control.ts";
import { RunStopped } from "../../engine/run.ts";
import { acceptor, countLooksMax, drawPoints } from "../../research/accepted_points.ts";
import { executionOf, ownParameters } from "../../research/execution_axes.ts";
import { strategyParametersAt } from "../../research/candle_axes.ts";
import type { Space } from "../../research/space.ts";
import { suggest } from "../../research/tpe.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import type { Completed } from "../common/outcome.ts";
import { CONSTRAINED, type FoundPoints, type PointRules, type PointsTask, REFUSED } from "../common/protocol.ts";

// Points between two looks at the control words.
const POINTS_PER_LOOK = 64;

type Step<Name extends PointsTask["step"]> = Extract<PointsTask, { readonly step: Name }>;

/**
 * Finds the points of a task.
 *
 * @throws {RunStopped} When the control words ask for it.
 */
export function findPoints(task: PointsTask, control: Int32Array): Completed<FoundPoints> {
  const look = () => {
    if (isAskedToStop(control)) throw new RunStopped(0);
  };
  switch (task.step) {
    case "draw":
      return { type: "completed", ...drawPoints(task, task, look), lookbacks: new Float64Array() };
    case "sort":
      return sortPoints(task, look);
    case "suggest":
      return suggestPoints(task, look);
  }
}

function sortPoints(
  { space, constraints, rules, points }: Step<"sort">,
  look: () => void,
): Completed<FoundPoints> {
  const accepts = acceptor({ space, constraints, fixed: rules.own });
  const lookbackOf = lookbackFinder(rules, space);
  const lookbacks = new Float64Array(points.length);
  for (const [i, point] of points.entries()) {
    if (i % POINTS_PER_LOOK === 0) look();
    lookbacks[i] = accepts(point) ? lookbackOf(point) : CONSTRAINED;
  }
  return { type: "completed", points, lookbacks, constrained: 0 };
}

function suggestPoints(
  { space, constraints, rules, observations, count, seed, direction }: Step<"suggest">,
  look: () => void,
): Completed<FoundPoints> {
  const accepting = { space, constraints, fixed: rules.own };
  const isAccepted = acceptor(accepting);
  const lookbackOf = lookbackFinder(rules, space);
  const accepts = (point: number) => isAccepted(point) && lookbackOf(point) !== REFUSED;
  const points: number[] = [];
  let looks = 0;
  // A round of which the strategy refuses every point leaves no trial, and must not come again.
  const looksMax = countLooksMax(accepting);
  for (const point of suggest(space, observations, count, { seed, direction, accepts, looksMax })) {
    if (looks++ % POINTS_PER_LOOK === 0) look();
    if (point !== null) points.push(point);
  }
  const lookbacks = Float64Array.from(points, (point) => lookbackOf(point));
  return { type: "completed", points: Float64Array.from(points), lookbacks, constrained: 0 };
}

/** A function that tells how many candles a point needs before the start date; REFUSED where the strategy does not take it. */
function lookbackFinder({ own, builtin: slug, execution, lookback }: PointRules, space: Space) {
  const always = execution.lookback ? lookback : 0;
  const builtin = slug === null ? undefined : findBuiltin(slug);
  const portfolio = slug === null ? undefined : findPortfolioBuiltin(slug);
  const schema = (builtin ?? portfolio)?.parameter_schema;
  if (schema === undefined) return () => always;
  // A request may carry thousands of others.
  const read = Object.keys(schema.properties).filter((name) => Object.hasOwn(own, name));
  const fixed = Object.fromEntries(read.map((name) => [name, own[name]]));
  return (point: number) => {
    try {
      const parameters = strategyParametersAt(space, point);
      const varied = executionOf(execution, parameters);
      const all = { ...fixed, ...ownParameters(parameters) };
      const { warmup = 0, lookback: longer = 0 } = builtin?.create(all, varied) ?? {};
      const least = portfolio?.create(all).warmup ?? 0;
      return execution.lookback ? Math.max(always, warmup, longer, least) : 0;
    } catch (error) {
      if (error instanceof RangeError) return REFUSED;
      throw error;
    }
  };
}

import { LRUCache } from "lru-cache";
import type { Optimization } from "../../db/optimizations.ts";
import { pickNamed } from "../../research/accepted_points.ts";
import { type Constraint, parseConstraints } from "../../research/constraints.ts";
import { countGroups, strategyParametersAt, withoutGroups } from "../../research/candle_axes.ts";
import { countPoints, isOrdered } from "../../research/space.ts";
import type { Completed, Outcome } from "../common/outcome.ts";
import { CONSTRAINED, type FoundPoints, type PointRules, type PointsTask, type TrialTask } from "../common/protocol.ts";

// A random choice gives up after this many draws of which the constraints accept too few.
const DRAWS_MAX = 1_000_000;
// Of one process: the longest choices of as many optimizations as a user may run. To draw one anew for each slice takes longer than the slice.
const CHOICES_BYTES_MAX = 160_000_000;

/** The points that an optimization tries, by place; null: all of its space in order. */
interface Choice {
  readonly indexes: Float64Array | null;
  readonly count: number;
  /** Points that were passed over because they break a constraint. */
  readonly constrained: number;
}

export type PointsRecord = Pick<
  Optimization,
  "id" | "space" | "constraints" | "method" | "trialsMax" | "seed" | "parameters"
>;

/** Finds points away from the thread that answers requests; null where it was stopped. */
export type FindPoints = (task: PointsTask) => Promise<FoundPoints | null>;

const choices = new LRUCache<string, Choice>({ maxSize: CHOICES_BYTES_MAX });

/**
 * The points that an optimization tries: equal on every worker, since they follow from its record.
 *
 * @returns Null where the search was stopped.
 */
export async function choosePoints(record: PointsRecord, find: FindPoints): Promise<Choice | null> {
  const { id, space, method, trialsMax, seed } = record;
  if (method === "grid") return { indexes: null, count: countPoints(space), constrained: 0 };
  // The points follow from the trials: listGuided() finds them.
  if (method === "tpe") return { indexes: null, count: Math.min(trialsMax, countPoints(space)), constrained: 0 };
  const held = choices.get(id);
  if (held !== undefined) return held;
  const constraints = constraintsOf(record);
  const fixed = pickNamed(constraints, record.parameters);
  // The same points are tried over each market, date and timeframe.
  const groups = countGroups(space) ?? 1;
  const count = Math.floor(trialsMax / groups);
  const own = withoutGroups(space);
  const drawn = await find({ step: "draw", space: own, constraints, fixed, count, looksMax: DRAWS_MAX, seed });
  if (drawn === null) return null;
  const indexes = inEachGroup(drawn.points, { groups, points: countPoints(own) });
  const choice = { indexes, count: indexes.length, constrained: drawn.constrained * groups };
  choices.set(id, choice, { size: Math.max(1, indexes.byteLength) });
  return choice;
}

/** Points of one group, in all of them. @param space `points`: those of one group, tried or not. */
function inEachGroup(
  drawn: Float64Array,
  { groups, points }: { readonly groups: number; readonly points: number },
): Float64Array {
  if (groups === 1) return drawn;
  const all = new Float64Array(drawn.length * groups);
  for (let i = 0; i < all.length; i++) {
    all[i] = Math.floor(i / drawn.length) * points + drawn[i % drawn.length]!;
  }
  return all;
}

/** The constraints of an optimization. */
export function constraintsOf({ space, constraints, parameters }: PointsRecord): readonly Constraint[] {
  const varying = space.axes.filter(isOrdered).map(({ name }) => name);
  const fixed = Object.keys(parameters).filter((name) => typeof parameters[name] === "number");
  const { value } = parseConstraints(constraints, [...varying, ...fixed]);
  if (value === undefined) throw new Error(`Cannot read the constraints ${JSON.stringify(constraints)} of a record`);
  return value;
}

/** A stretch of an optimization's points, sorted into trials and others. */
export interface Stretch {
  readonly from: number;
  /** The place behind its last point. */
  readonly until: number;
  readonly trials: readonly TrialTask[];
  /** Places of the points that break a constraint, and of those that the strategy refuses. */
  readonly constrained: readonly number[];
  readonly refused: readonly number[];
}

/** Sorts the points from one place to before another, both from the start of their part. @returns Null where the search was stopped. */
export async function listStretch(
  record: PointsRecord,
  rules: PointRules,
  { from, until }: { readonly from: number; readonly until: number },
  find: FindPoints,
): Promise<Stretch | null> {
  const choice = await choosePoints(record, find);
  if (choice === null) return null;
  const points = choice.indexes?.slice(from, until) ?? Float64Array.from({ length: until - from }, (_, i) => from + i);
  // Points that were drawn satisfy the constraints.
  const constraints = record.method === "grid" ? constraintsOf(record) : [];
  const sorted = await find({ step: "sort", space: record.space, constraints, rules, points });
  return sorted === null ? null : toStretch(record, sorted, { from, until });
}

/** The trials of points that were found, the first of which is at a place. */
export function toStretch(
  { space }: Pick<PointsRecord, "space">,
  { points, lookbacks }: FoundPoints,
  { from, until }: { readonly from: number; readonly until: number },
): Stretch {
  const trials: TrialTask[] = [];
  const [constrained, refused]: [number[], number[]] = [[], []];
  for (const [i, lookback] of lookbacks.entries()) {
    const [place, point] = [from + i, points[i]!];
    if (lookback >= 0) trials.push({ place, point, parameters: strategyParametersAt(space, point), lookback });
    else (lookback === CONSTRAINED ? constrained : refused).push(place);
  }
  return { from, until, trials, constrained, refused };
}

/**
 * The point of a test window, alone at place 0: the best one of its training, if it has one.
 *
 * @returns Null where the search was stopped.
 */
export async function listTest(
  { space }: PointsRecord,
  rules: PointRules,
  point: number | undefined,
  find: FindPoints,
): Promise<Stretch | null> {
  const range = { from: 0, until: 1 };
  if (point === undefined) return { ...range, trials: [], constrained: [], refused: [] };
  const sorted = await find({ step: "sort", space, constraints: [], rules, points: Float64Array.of(point) });
  return sorted === null ? null : toStretch({ space }, sorted, range);
}

/** The points of an outcome; null where it was stopped. @throws {Error} Where the search broke. */
export function pointsOf(outcome: Outcome<FoundPoints>): Completed<FoundPoints> | null {
  if (outcome.type === "completed") return outcome;
  if (outcome.type === "stopped") return null;
  throw new Error(outcome.message);
}

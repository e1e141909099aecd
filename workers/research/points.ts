import { LRUCache } from "lru-cache";
import type { Optimization } from "../../db/optimizations.ts";
import { collectInSlices } from "../../db/result_chunks.ts";
import type { Execution } from "../../engine/execution.ts";
import { type Constraint, holds, parseConstraints } from "../../research/constraints.ts";
import { countPoints, isOrdered, pointAt, randomIndices } from "../../research/space.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import type { TrialTask } from "../protocol.ts";

// A random choice gives up after so many draws of which the constraints accept too few.
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
type Parameters = Readonly<Record<string, unknown>>;

const choices = new LRUCache<string, Promise<Choice>>({ maxSize: CHOICES_BYTES_MAX });

/** The points that an optimization tries: equal on every worker, since they follow from its record. */
export async function choosePoints(record: PointsRecord): Promise<Choice> {
  const { id, space, method, trialsMax } = record;
  if (method === "grid") return { indexes: null, count: countPoints(space), constrained: 0 };
  // They follow from the trials: listGuided() finds them.
  if (method === "tpe") return { indexes: null, count: Math.min(trialsMax, countPoints(space)), constrained: 0 };
  const held = choices.get(id);
  if (held !== undefined) return await held;
  const chosen = drawPoints(record);
  choices.set(id, chosen, { size: Math.min(trialsMax, countPoints(space)) * Float64Array.BYTES_PER_ELEMENT });
  return await chosen;
}

async function drawPoints(record: PointsRecord): Promise<Choice> {
  // The embedded service answers requests on this thread.
  const draws = await collectInSlices(listDraws(record));
  const indexes = draws.filter((index) => index !== null);
  return { indexes: Float64Array.from(indexes), count: indexes.length, constrained: draws.length - indexes.length };
}

/** The points that are drawn; null for one that breaks a constraint. */
function* listDraws(record: PointsRecord): Generator<number | null> {
  const { space, trialsMax, seed, parameters } = record;
  const constraints = constraintsOf(record);
  let left = trialsMax;
  for (const index of randomIndices(space, DRAWS_MAX, seed)) {
    const isPoint = holds(constraints, { ...parameters, ...pointAt(space, index) });
    yield isPoint ? index : null;
    if (isPoint && --left === 0) return;
  }
}

/** The number of the point at a place of an optimization, for pointAt(). */
function indexAt({ indexes }: Choice, place: number): number {
  return indexes === null ? place : indexes[place]!;
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

/** The part of a strategy that decides which of its points are trials. */
export interface PointRules {
  /** The parameters that stay. */
  readonly own: Parameters;
  readonly execution: Execution;
  /** Slug; null for foreign code, which refuses its parameters when it is created. */
  readonly builtin: string | null;
  /** Candles that any point needs before the start date. */
  readonly lookback: number;
}

/** Sorts the points from one place to before another, both from the start of their part. */
export async function listStretch(
  record: PointsRecord,
  rules: PointRules,
  { from, until }: { readonly from: number; readonly until: number },
): Promise<Stretch> {
  const choice = await choosePoints(record);
  // The embedded service answers requests on this thread.
  const sorted = await collectInSlices(sortPoints(record, rules, choice, { from, until }));
  const placesOf = (kind: "constrained" | "refused") =>
    sorted.flatMap(({ place, trial }) => trial === kind ? [place] : []);
  return {
    from,
    until,
    trials: sorted.flatMap(({ trial }) => typeof trial === "string" ? [] : [trial]),
    constrained: placesOf("constrained"),
    refused: placesOf("refused"),
  };
}

function* sortPoints(
  record: PointsRecord,
  rules: PointRules,
  choice: Choice,
  { from, until }: { readonly from: number; readonly until: number },
): Generator<{ readonly place: number; readonly trial: TrialTask | "constrained" | "refused" }> {
  const constraints = record.method === "grid" ? constraintsOf(record) : [];
  for (let place = from; place < until; place++) {
    const point = indexAt(choice, place);
    const parameters = { ...rules.own, ...pointAt(record.space, point) };
    const lookback = holds(constraints, parameters) ? lookbackOf(rules, parameters) : undefined;
    const trial = lookback === undefined
      ? "constrained"
      : lookback === null
      ? "refused"
      : { place, point, parameters, lookback };
    yield { place, trial };
  }
}

/** The point of a test window, alone at place 0: the best one of its training, if it has one. */
export function listTest({ space }: PointsRecord, rules: PointRules, point: number | undefined): Stretch {
  const whole = { from: 0, until: 1, constrained: [], refused: [] };
  if (point === undefined) return { ...whole, trials: [] };
  const parameters = { ...rules.own, ...pointAt(space, point) };
  return { ...whole, trials: [{ place: 0, point, parameters, lookback: lookbackOf(rules, parameters) ?? 0 }] };
}

/** Candles that a point needs before the start date; null where the strategy refuses it. */
export function lookbackOf({ builtin, execution, lookback }: PointRules, parameters: Parameters): number | null {
  if (builtin === null) return execution.lookback ? lookback : 0;
  try {
    const { warmup, lookback: own = 0 } = findBuiltin(builtin)!.create(parameters, execution);
    return execution.lookback ? Math.max(lookback, warmup, own) : 0;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

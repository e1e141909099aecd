import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { collectInSlices } from "../../db/result_chunks.ts";
import { readTrialMetric } from "../../db/trial_chunks.ts";
import { holds } from "../../research/constraints.ts";
import { pointAt } from "../../research/space.ts";
import { type Observation, suggest } from "../../research/tpe.ts";
import type { TrialTask } from "../protocol.ts";
import { constraintsOf, lookbackOf, type PointRules, type PointsRecord, type Stretch } from "./points.ts";
import type { Part } from "./windows.ts";

// A round has this share of the trials before it, within bounds: points of one round learn nothing from each other.
const ROUND_MIN = 20;
const ROUND_SHARE = 1 / 8;
const ROUND_MAX = 50;

type GuidedRecord = PointsRecord & Pick<Optimization, "objective" | "direction">;

/**
 * The places of a guided search from one place to the end of its round: the points that the trials before the round suggest. A slice
 * that ends within a round changes nothing, so equal seeds try equal points. Each part is a search of its own.
 *
 * @param range Places from the start of the part.
 * @returns Up to `end` where no other point is left: the rest of the places counts as constrained, or as refused without constraints.
 */
export async function listGuided(
  db: Db,
  record: GuidedRecord,
  rules: PointRules,
  { window }: Part,
  { from, until: end }: { readonly from: number; readonly until: number },
): Promise<Stretch> {
  const { space, seed, direction } = record;
  const constraints = constraintsOf(record);
  const parametersOf = (point: number) => ({ ...rules.own, ...pointAt(space, point) });
  const accepts = (point: number) => {
    const parameters = parametersOf(point);
    return holds(constraints, parameters) && lookbackOf(rules, parameters) !== null;
  };
  const round = findRound(from);
  const wanted = Math.min(round.count, end - round.first);
  const observations = await readObservations(db, record, window, round.first);
  // A round of which the strategy refuses every point leaves no trial, and must not come again.
  const looks = suggest(space, observations, wanted, { seed: seed + round.first, direction, accepts });
  // The embedded service answers requests on this thread.
  const points = (await collectInSlices(looks)).filter((point) => point !== null);
  const trials = points.slice(from - round.first).map((point, i): TrialTask => {
    const parameters = parametersOf(point);
    return { place: from + i, point, parameters, lookback: lookbackOf(rules, parameters) ?? 0 };
  });
  const last = from + trials.length;
  const until = points.length < wanted ? end : last;
  const passed = Array.from({ length: until - last }, (_, i) => last + i);
  const isConstrained = constraints.length > 0;
  return { from, until, trials, constrained: isConstrained ? passed : [], refused: isConstrained ? [] : passed };
}

/** The round that a place belongs to. */
function findRound(place: number): { readonly first: number; readonly count: number } {
  let [first, count] = [0, ROUND_MIN];
  while (place >= first + count) {
    first += count;
    count = Math.min(ROUND_MAX, Math.max(ROUND_MIN, Math.floor(first * ROUND_SHARE)));
  }
  return { first, count };
}

/** The trials of a part before a place. */
async function readObservations(
  db: Db,
  { id, objective }: GuidedRecord,
  window: number | null,
  end: number,
): Promise<Observation[]> {
  const observations: Observation[] = [];
  for await (const { count, columns } of readTrialMetric(db, id, objective, window)) {
    for (let row = 0; row < count && columns.place![row]! < end; row++) {
      const value = columns[objective]?.[row] ?? NaN;
      observations.push({ index: columns.point![row]!, objective: Number.isNaN(value) ? null : value });
    }
  }
  return observations;
}

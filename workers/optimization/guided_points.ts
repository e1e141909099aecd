import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { readTrialMetric } from "../../db/trial_chunks.ts";
import type { Observation } from "../../research/tpe.ts";
import type { PointRules } from "../common/protocol.ts";
import { constraintsOf, type FindPoints, type PointsRecord, type Stretch, toStretch } from "./points.ts";
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
 * @returns Null where the search was stopped. Up to `end` where no other point is left: the rest of the places counts as constrained, or as refused without constraints.
 */
export async function listGuided(
  db: Db,
  record: GuidedRecord,
  rules: PointRules,
  { part: { window }, from, until: end }: { readonly part: Part; readonly from: number; readonly until: number },
  find: FindPoints,
): Promise<Stretch | null> {
  const { space, direction } = record;
  const constraints = constraintsOf(record);
  const round = findRound(from);
  const count = Math.min(round.count, end - round.first);
  const observations = await readObservations(db, record, window, round.first);
  const seed = record.seed + round.first;
  const found = await find({ step: "suggest", space, constraints, rules, observations, count, seed, direction });
  if (found === null) return null;
  const [points, lookbacks] = [found.points.slice(from - round.first), found.lookbacks.slice(from - round.first)];
  const last = from + points.length;
  const until = found.points.length < count ? end : last;
  const stretch = toStretch(record, { ...found, points, lookbacks }, { from, until });
  const passed = Array.from({ length: until - last }, (_, i) => last + i);
  return { ...stretch, [constraints.length > 0 ? "constrained" : "refused"]: passed };
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

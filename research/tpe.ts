import { ParzenEstimator } from "./parzen.ts";
import { Random } from "./numbers/random_numbers.ts";
import { countPoints, indexOf, placesAt, randomIndices, type Space } from "./space.ts";

/** A trial that has ended. */
export interface Observation {
  /** The point's number in the space. */
  readonly index: number;
  /** Null: it has none, which counts as worse than any. */
  readonly objective: number | null;
}

interface Suggesting {
  readonly seed: number;
  /** Default: more is better. */
  readonly direction?: "max" | "min";
  /** True if a point may be tried: it satisfies the constraints. */
  readonly accepts: (index: number) => boolean;
  /** The most points to look at. Default: 10,000 for each one that is wanted. */
  readonly looksMax?: number;
}

/** The first points are random. */
export const FIRST_POINTS = 20;
/** The share of the trials that count as good, and most of each kind that a density is made of. */
const GOOD_SHARE = 0.15;
const GOOD_MAX = 50;
const OTHERS_MAX = 400;
/** Points drawn from the density of the good ones for each that is suggested. */
const CANDIDATES = 24;
/** Points that are looked at for each suggestion before a search gives up. */
const TRIES = 10_000;

/**
 * Suggests the points of the next round: tree-structured Parzen estimator. Each is the one of several draws from the
 * density of the good trials at which that density is largest beside the density of the others.
 *
 * The same observations in the same order give the same points.
 *
 * @param observations Of all rounds before.
 * @param count How many points are wanted.
 * @returns Numbers of points that are new and accepted, none twice; fewer where no more are found. Null for each look that found none,
 * so that a caller may pause.
 * @see J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl (2011), "Algorithms for Hyper-Parameter Optimization", NIPS 24.
 */
export function* suggest(
  space: Space,
  observations: readonly Observation[],
  count: number,
  { seed, direction = "max", accepts, looksMax = Infinity }: Suggesting,
): Generator<number | null> {
  // Each round has numbers of its own.
  const random = new Random(seed + observations.length);
  const seen = new Set(observations.map(({ index }) => index));
  const take = (index: number) => {
    if (seen.has(index) || !accepts(index)) return false;
    seen.add(index);
    return true;
  };
  let left = count;
  const { good, others } = splitObservations(observations, direction);
  if (observations.length >= FIRST_POINTS && good.length > 0) {
    const densities = estimate(space, good, others);
    for (let tries = 0; left > 0 && tries < 4 * count; tries++) {
      const index = drawBest(space, densities, random);
      const isTaken = take(index);
      if (isTaken) left--;
      yield isTaken ? index : null;
    }
  }
  // Random points that are new, in small spaces the last ones, too.
  const looked = Math.min(countPoints(space), seen.size + Math.min(left * TRIES, looksMax));
  for (const index of left > 0 ? randomIndices(space, looked, random.word()) : []) {
    const isTaken = take(index);
    yield isTaken ? index : null;
    if (isTaken && --left === 0) return;
  }
}

/** The best observations and, evenly by rank, some of the others. Equal ones keep their order. */
export function splitObservations(observations: readonly Observation[], direction: "max" | "min") {
  const sign = direction === "max" ? 1 : -1;
  const scoreOf = ({ objective }: Observation) => objective === null ? -Infinity : sign * objective;
  const ranked = observations.toSorted((a, b) => {
    const [left, right] = [scoreOf(a), scoreOf(b)];
    return left === right ? 0 : right - left;
  });
  const wanted = Math.min(Math.ceil(GOOD_SHARE * ranked.length), GOOD_MAX);
  const good = ranked.slice(0, wanted).filter(({ objective }) => objective !== null);
  const rest = ranked.slice(good.length);
  const kept = Math.min(rest.length, OTHERS_MAX);
  return { good, others: Array.from({ length: kept }, (_, i) => rest[Math.floor(i * rest.length / kept)]!) };
}

interface Densities {
  readonly good: readonly ParzenEstimator[];
  readonly others: readonly ParzenEstimator[];
}

function estimate(space: Space, good: readonly Observation[], others: readonly Observation[]): Densities {
  const estimatorsOf = (observations: readonly Observation[]) => {
    const places = observations.map(({ index }) => placesAt(space, index));
    return space.axes.map((axis, i) => new ParzenEstimator(axis, places.map((each) => each[i]!)));
  };
  return { good: estimatorsOf(good), others: estimatorsOf(others) };
}

function drawBest(space: Space, { good, others }: Densities, random: Random): number {
  let best: { places: readonly number[]; score: number } | null = null;
  for (let i = 0; i < CANDIDATES; i++) {
    const places = good.map((estimator) => estimator.draw(random));
    const score = places.reduce(
      (sum, place, axis) => sum + Math.log(good[axis]!.at(place)) - Math.log(others[axis]!.at(place)),
      0,
    );
    if (best === null || score > best.score) best = { places, score };
  }
  return indexOf(space, best?.places ?? []);
}

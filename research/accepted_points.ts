import { type Constraint, countTerms, holds, namesOf } from "./constraints.ts";
import { type Axis, isOrdered, randomIndices, type Space, valueAt } from "./space.ts";

/**
 * The most work of one look for points, in terms of constraints: about a second and a half of a thread. A choice at random and a round of a
 * guided search are such looks.
 */
const LOOK_TERMS_MAX = 50_000_000;
// To draw a point, and to take one value from its axis, each take as long as these numbers of terms.
const DRAW_TERMS = 32;
const VALUE_TERMS = 4;
const POINTS_PER_STEP = 1024;

/** The points of a space that satisfy constraints. */
export interface Accepting {
  readonly space: Space;
  readonly constraints: readonly Constraint[];
  /** Parameters that stay; those that no constraint names are not looked at. */
  readonly fixed: Readonly<Record<string, unknown>>;
}

/** The work of a look at one point, in terms of constraints. It does not grow with the parameters that no constraint names. */
export function countLookTerms({ space, constraints }: Pick<Accepting, "space" | "constraints">): number {
  return DRAW_TERMS + countTerms(constraints) + VALUE_TERMS * namedAxes(space, constraints).length;
}

/** The most points that one look for points draws. */
export function countLooksMax(accepting: Pick<Accepting, "space" | "constraints">): number {
  return Math.floor(LOOK_TERMS_MAX / countLookTerms(accepting));
}

/** Picks the parameters that constraints name. */
export function pickNamed(
  constraints: readonly Constraint[],
  parameters: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const names = [...namesOf(constraints)].filter((name) => Object.hasOwn(parameters, name));
  return Object.fromEntries(names.map((name) => [name, parameters[name]]));
}

/** A test of a point, by its number, against constraints. */
export function acceptor({ space, constraints, fixed }: Accepting): (index: number) => boolean {
  const axes = namedAxes(space, constraints);
  // Without a prototype, so that any name is an ordinary one. One for all points: to make one takes longer than the test.
  const point: Record<string, unknown> = Object.assign(Object.create(null), pickNamed(constraints, fixed));
  return (index) => {
    for (const { axis, stride } of axes) {
      point[axis.name] = valueAt(axis, Math.floor(index / stride) % axis.count);
    }
    return holds(constraints, point);
  };
}

/** The axes that constraints name; `stride`: points from one of its places to the next. */
function namedAxes({ axes }: Space, constraints: readonly Constraint[]): { axis: Axis; stride: number }[] {
  const names = namesOf(constraints);
  let stride = 1;
  const strides = axes.toReversed().map((axis) => {
    const own = { axis, stride };
    stride *= axis.count;
    return own;
  });
  return strides.filter(({ axis }) => isOrdered(axis) && names.has(axis.name));
}

interface DrawnPoints {
  /** The points' numbers, in the order in which they were drawn. */
  readonly points: Float64Array<ArrayBuffer>;
  /** Points that were passed over because they break a constraint. */
  readonly constrained: number;
}

/**
 * Draws points that satisfy constraints, none twice, until there are enough or countLooksMax() were drawn.
 *
 * @param choice `count`: how many are wanted; `looksMax`: the most points to draw.
 * @param onStep Called after each thousand of them; it may throw to end the choice.
 */
export function drawPoints(
  accepting: Accepting,
  { count, looksMax, seed }: { readonly count: number; readonly looksMax: number; readonly seed: number },
  onStep: () => void = () => {},
): DrawnPoints {
  const accepts = acceptor(accepting);
  const points: number[] = [];
  let drawn = 0;
  for (const index of randomIndices(accepting.space, Math.min(looksMax, countLooksMax(accepting)), seed)) {
    if (drawn++ % POINTS_PER_STEP === 0) onStep();
    if (accepts(index)) points.push(index);
    if (points.length === count) break;
  }
  return { points: Float64Array.from(points), constrained: drawn - points.length };
}

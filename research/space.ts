import { fromUnits } from "./decimal.ts";
import { Random } from "./numbers/random_numbers.ts";

/** A value that a parameter may take in a space. */
export type ParameterValue = number | string | boolean;

/** Equal steps between two numbers: `(first + i x step) / 10^decimals`, in whole numbers until the division. */
export interface SteppedAxis {
  readonly name: string;
  readonly count: number;
  readonly first: number;
  readonly step: number;
  readonly decimals: number;
}

/** A setting that chooses the candles of a trial. */
export type CandleSetting = "start_date" | "end_date" | "timeframe";

/** Values one by one. */
export interface ListedAxis {
  readonly name: string;
  readonly count: number;
  readonly values: readonly ParameterValue[];
  /** The values are the markets of a scan, see market_axis.ts; absent: values of a parameter. */
  readonly holds?: "markets";
  /** The values choose the candles of a trial, see candle_axes.ts; absent: values of a parameter. */
  readonly candles?: CandleSetting;
}

/** One parameter of a space, with at least one value. */
export type Axis = SteppedAxis | ListedAxis;

/** The values of each parameter, as plain data. Points are numbered with the last axis fastest. */
export interface Space {
  readonly axes: readonly Axis[];
}

/** A value for each parameter of a space. */
type Point = Readonly<Record<string, ParameterValue>>;

/** True if the axis has an order, so that values next to each other are neighbours. */
export function isOrdered(axis: Axis): boolean {
  return "step" in axis || axis.values.every((value) => typeof value === "number");
}

/** The axis's value number `i`, from 0. */
export function valueAt(axis: Axis, i: number): ParameterValue {
  return "step" in axis ? fromUnits(axis.first + i * axis.step, axis.decimals) : axis.values[i]!;
}

/** The points of a space: 1 or more, exact, since no space has more than 2^53 - 1. */
export function countPoints({ axes }: Space): number {
  return axes.reduce((count, axis) => count * axis.count, 1);
}

/**
 * The place of a point on each axis.
 *
 * @param index From 0 up to, not including, the number of points.
 * @throws {RangeError} When there is no such point.
 */
export function placesAt(space: Space, index: number): number[] {
  const points = countPoints(space);
  if (!Number.isSafeInteger(index) || index < 0 || index >= points) {
    throw new RangeError(`Cannot take point ${index} of a space of ${points}: its points count from 0`);
  }
  const { axes } = space;
  const places = new Array<number>(axes.length);
  for (let i = axes.length - 1, left = index; i >= 0; i--) {
    const { count } = axes[i]!;
    places[i] = left % count;
    left = Math.floor(left / count);
  }
  return places;
}

/** The number of the point at a place on each axis: the inverse of placesAt(). */
export function indexOf({ axes }: Space, places: readonly number[]): number {
  return axes.reduce((index, { count }, i) => index * count + places[i]!, 0);
}

/**
 * One point of a space.
 *
 * @param index From 0 up to, not including, the number of points.
 * @throws {RangeError} When there is no such point.
 */
export function pointAt(space: Space, index: number): Point {
  const places = placesAt(space, index);
  return Object.fromEntries(space.axes.map((axis, i) => [axis.name, valueAt(axis, places[i]!)]));
}

/**
 * Chooses points at random without repetition, each order equally likely. A longer choice of the same seed begins with
 * the shorter one.
 *
 * @param count How many; at most the points that there are. The memory in use grows with it.
 * @see D. Knuth, "The Art of Computer Programming" 2, 3.4.2: a shuffle that keeps only the places it has moved.
 */
export function* randomIndices(space: Space, count: number, seed: number): Generator<number> {
  const random = new Random(seed);
  const points = countPoints(space);
  const moved = new Map<number, number>();
  for (let i = 0; i < Math.min(count, points); i++) {
    const chosen = i + random.below(points - i);
    yield moved.get(chosen) ?? chosen;
    moved.set(chosen, moved.get(i) ?? i);
    moved.delete(i);
  }
}

/**
 * The neighbours of a point: one step down and one up on each axis that has an order, as far as the space goes.
 *
 * @returns Their numbers, in the order of the axes.
 */
export function neighboursOf(space: Space, index: number): number[] {
  const places = placesAt(space, index);
  return space.axes.flatMap((axis, i) => {
    if (!isOrdered(axis)) return [];
    const near = [places[i]! - 1, places[i]! + 1].filter((place) => place >= 0 && place < axis.count);
    return near.map((place) => indexOf(space, places.with(i, place)));
  });
}

import type { Measured } from "../engine/metrics/measured.ts";
import { median } from "./numbers/quantiles.ts";
import { neighboursOf, type Space } from "./space.ts";

const NO_NEIGHBOUR = "no neighbour of the best trial has a value";
const NOT_COMPARABLE = "the best trial's value is not above 0, so shares of it mean nothing";

/**
 * The median objective of the best trial's neighbours over its own: near 1 on a plateau, near 0 or below on a lone peak.
 * Where less is better, it is the best trial's over theirs.
 *
 * @param index The best trial's number in the space.
 * @param objectiveOf The objective of a point of the space; null or undefined where it was not tried or has no value.
 */
export function plateau(
  space: Space,
  index: number,
  objectiveOf: (index: number) => number | null | undefined,
  direction: "max" | "min" = "max",
): Measured {
  const own = objectiveOf(index);
  const others = neighboursOf(space, index).map(objectiveOf).filter((value) => typeof value === "number");
  if (others.length === 0) return { reason: NO_NEIGHBOUR };
  const middle = median(Float64Array.from(others));
  const [part, whole] = direction === "max" ? [middle, own] : [own, middle];
  if (typeof part !== "number" || typeof whole !== "number" || !(whole > 0)) return { reason: NOT_COMPARABLE };
  return part / whole;
}

/** The markets of a scan, as the first axis of its space: each point is tried in each market, and all points of one come together. */
import { countPoints, type ListedAxis, pointAt, type Space } from "./space.ts";

export const MARKET_AXIS = "market";

/** A space in which each point is tried in each market. @param ids At least one, as in `SPY@ARCA`. */
export function withMarkets({ axes }: Space, ids: readonly string[]): Space {
  return { axes: [{ name: MARKET_AXIS, count: ids.length, values: ids, holds: "markets" }, ...axes] };
}

/** The axis of markets; null in a space of one market. */
export function marketsOf({ axes: [first] }: Space): ListedAxis | null {
  return first !== undefined && "values" in first && first.holds === "markets" ? first : null;
}

/** The space of the points alone; the same object where it has no markets. */
export function withoutMarkets(space: Space): Space {
  return marketsOf(space) === null ? space : { axes: space.axes.slice(1) };
}

/** The points of the space that are tried in each market. */
export function countOwnPoints(space: Space): number {
  return countPoints(withoutMarkets(space));
}

/** The id of a point's market; null in a space of one market. */
export function marketAt(space: Space, point: number): string | null {
  const markets = marketsOf(space);
  return markets === null ? null : String(markets.values[Math.floor(point / countOwnPoints(space))]);
}

/** The parameters of a point, without its market. */
export function parametersAt(space: Space, point: number): ReturnType<typeof pointAt> {
  const own = withoutMarkets(space);
  return pointAt(own, own === space ? point : point % countPoints(own));
}

/**
 * The dates and the timeframe of a trial's candles as axes of a space. With the axis of markets they come first, so that
 * all points over the same candles, a group, come together.
 */
import { marketsOf } from "./market_axis.ts";
import { type CandleSetting, countPoints, type ListedAxis, type ParameterValue, pointAt, type Space } from "./space.ts";

/** The settings that such an axis may vary, in the order of the axes. */
export const CANDLE_SETTINGS: readonly CandleSetting[] = ["start_date", "end_date", "timeframe"];

/** An axis of dates or timeframes. @param values At least one. */
export function candleAxis(name: CandleSetting, values: readonly string[]): ListedAxis {
  return { name, count: values.length, values, candles: name };
}

/** The axes whose values choose candles. */
function groupAxesOf(space: Space): readonly ListedAxis[] {
  const markets = marketsOf(space);
  return [...(markets === null ? [] : [markets]), ...candleAxesOf(space)];
}

/** The axes of dates and timeframes. */
export function candleAxesOf({ axes }: Space): readonly ListedAxis[] {
  return axes.flatMap((axis) => "values" in axis && axis.candles !== undefined ? [axis] : []);
}

/** How many groups there are; null where all trials have the same candles. */
export function countGroups(space: Space): number | null {
  const axes = groupAxesOf(space);
  return axes.length === 0 ? null : countPoints({ axes });
}

/** The space of a strategy's own parameters and settings of execution; the same object where it has no other. */
export function withoutGroups(space: Space): Space {
  const groups = groupAxesOf(space).length;
  return groups === 0 ? space : { axes: space.axes.slice(groups) };
}

/** The number of a point's group, from 0. */
export function groupAt(space: Space, point: number): number {
  return countGroups(space) === null ? 0 : Math.floor(point / countPoints(withoutGroups(space)));
}

/** The parameters of a point that a strategy gets: neither the market nor dates nor timeframe. */
export function strategyParametersAt(space: Space, point: number): Readonly<Record<string, ParameterValue>> {
  const own = withoutGroups(space);
  return pointAt(own, own === space ? point : point % countPoints(own));
}

/** The dates and the timeframe that a group has of its own. */
export function candlesAt(space: Space, group: number): { readonly [Name in CandleSetting]?: string } {
  const axes = groupAxesOf(space);
  const values = pointAt({ axes }, group);
  return Object.fromEntries(
    axes.flatMap(({ name, candles }) => candles === undefined ? [] : [[candles, String(values[name])]]),
  );
}

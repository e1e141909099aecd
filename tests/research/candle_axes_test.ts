import { expect } from "@std/expect";
import {
  candleAxis,
  candlesAt,
  countGroups,
  groupAt,
  strategyParametersAt,
  withoutGroups,
} from "../../research/candle_axes.ts";
import { withMarkets } from "../../research/market_axis.ts";
import { countPoints, pointAt, type Space } from "../../research/space.ts";

const FAST = { name: "fast", count: 3, values: [5, 10, 15] };
const SPACE: Space = {
  axes: [candleAxis("start_date", ["2024-01-01", "2024-02-01"]), candleAxis("timeframe", ["1h", "1d"]), FAST],
};

Deno.test("points over the same candles come together, and a strategy sees its own parameters alone", () => {
  expect([countPoints(SPACE), countGroups(SPACE), withoutGroups(SPACE)]).toEqual([12, 4, { axes: [FAST] }]);
  const points = Array.from({ length: 12 }, (_, point) => point);
  expect(points.map((point) => groupAt(SPACE, point))).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);
  for (const point of points) {
    const seen = { ...candlesAt(SPACE, groupAt(SPACE, point)), ...strategyParametersAt(SPACE, point) };
    expect(seen).toEqual(pointAt(SPACE, point));
  }
  expect(candlesAt(SPACE, 1)).toEqual({ start_date: "2024-01-01", timeframe: "1d" });
});

Deno.test("a space of markets has a group for each, and another has none", () => {
  const own = { axes: [FAST] };
  const scan = withMarkets(own, ["A@X", "B@X"]);
  expect([countGroups(scan), groupAt(scan, 3), candlesAt(scan, 1)]).toEqual([2, 1, {}]);
  expect([countGroups(own), groupAt(own, 2), withoutGroups(own) === own]).toEqual([null, 0, true]);
});

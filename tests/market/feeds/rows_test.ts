import { expect } from "@std/expect";
import { makePart, type Row } from "../../../market/feeds/rows.ts";

const HOUR = 3_600_000;
const row = (time: number, close: number): Row => [time, 1, 3, 0.5, close, -0];

Deno.test("makePart() sorts rows, keeps one of each time, and drops rows outside the range or without a candle", () => {
  const { candles, rejected, ...range } = makePart(
    [
      row(2 * HOUR, 2),
      row(HOUR, 1),
      // Again, and corrected: what is said last counts.
      row(2 * HOUR, 2.5),
      row(0, 1),
      row(4 * HOUR, 1),
      // Half past three is no hour, and a close above the high no candle.
      row(3.5 * HOUR, 1),
      row(3 * HOUR, 4),
    ],
    "1h",
    HOUR,
    4 * HOUR,
  );
  expect(range).toEqual({ start: HOUR, end: 4 * HOUR });
  expect([...candles.time]).toEqual([HOUR, 2 * HOUR]);
  expect([...candles.close]).toEqual([1, 2.5]);
  expect(candles.volume.every((volume) => Object.is(volume, 0))).toBe(true);
  expect(rejected).toBe(2);
});

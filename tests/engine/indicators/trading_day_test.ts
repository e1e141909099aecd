import { expect } from "@std/expect";
import { tradingDay } from "../../../engine/indicators/trading_day.ts";

const HOUR = 3_600_000;

Deno.test("tradingDay() counts in days of UTC where no others are known, and knows a length from the second day's end on", () => {
  // Two hours of a first day, three of the next, four of the third.
  const hours = [22, 23, 24, 25, 26, 48, 49, 50, 51, 72];
  const { candle, length } = tradingDay(Float64Array.from(hours, (hour) => hour * HOUR), null);
  expect([...candle]).toEqual([0, 1, 0, 1, 2, 0, 1, 2, 3, 0]);
  expect([...length]).toEqual([...Array(5).fill(NaN), 3, 3, 3, 3, 4]);
});

Deno.test("tradingDay() counts in the market's own days, and depends on no later candle", () => {
  const time = Float64Array.from({ length: 7 }, (_, i) => i * HOUR);
  const days = { ends: Int32Array.of(2, 5, 7), dates: Float64Array.of(0, 1, 2) };
  const { candle, length } = tradingDay(time, days);
  expect([...candle]).toEqual([0, 1, 0, 1, 2, 0, 1]);
  expect([...length]).toEqual([NaN, NaN, NaN, NaN, NaN, 3, 3]);
  const cut = tradingDay(time.subarray(0, 4), days);
  expect([[...cut.candle], [...cut.length]]).toEqual([[0, 1, 0, 1], [NaN, NaN, NaN, NaN]]);
});

import { expect } from "@std/expect";
import { sampleDaily } from "../../../engine/metrics/daily.ts";
import { DAY, runOf } from "./runs.ts";

Deno.test("sampleDaily() takes the last mark of each UTC day, the first day against the initial balance", () => {
  const daily = sampleDaily(
    runOf([90, 110, 120, 99], { days: [0, 0.5, 1, 1.99], close: [1, 2, 3, 3], timeframeMs: DAY / 2 }),
  );
  expect(daily.days).toBe(2);
  expect([...daily.returns]).toEqual([110 / 100 - 1, 99 / 110 - 1]);
  expect([...daily.closeReturns]).toEqual([3 / 2 - 1]);
});

Deno.test("sampleDaily() gives a day without candles no row", () => {
  // A Friday and the Monday after it.
  const daily = sampleDaily(runOf([100, 105], { days: [4, 7] }));
  expect(daily.days).toBe(2);
  expect([...daily.returns]).toEqual([0, 105 / 100 - 1]);
});

Deno.test("sampleDaily() puts a candle that opens at midnight into the new day", () => {
  const daily = sampleDaily(runOf([101, 102], { days: [0.999, 1] }));
  expect([...daily.returns]).toEqual([101 / 100 - 1, 102 / 101 - 1]);
});

Deno.test("sampleDaily() ends the returns with the day of a total loss, and the instrument's with them", () => {
  const daily = sampleDaily(runOf([80, 0, 0, 0], { close: [4, 3, 2, 1] }));
  expect(daily.days).toBe(4);
  expect([...daily.returns]).toEqual([80 / 100 - 1, -1]);
  expect([...daily.closeReturns]).toEqual([3 / 4 - 1]);
});

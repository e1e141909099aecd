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

Deno.test("sampleDaily() counts a candle that opens at midnight to the new day", () => {
  const daily = sampleDaily(runOf([101, 102], { days: [0.999, 1] }));
  expect([...daily.returns]).toEqual([101 / 100 - 1, 102 / 101 - 1]);
});

Deno.test("sampleDaily() counts five days a week of forex: Sunday evening belongs to Monday", () => {
  // Thursday, Friday, Sunday 22:00, Monday and Tuesday of the first days of 2024, which started on a Monday.
  const week = { days: [3, 4, 6 + 22 / 24, 7, 8], close: [1, 2, 4, 8, 16], timeframeMs: DAY / 24 };
  const equity = [100, 110, 99, 121, 60.5];
  const forex = sampleDaily(runOf(equity, { ...week, assetClass: "forex" }));
  expect(forex.days).toBe(4);
  expect([...forex.returns]).toEqual([0, 110 / 100 - 1, 121 / 110 - 1, 60.5 / 121 - 1]);
  expect([...forex.closeReturns]).toEqual([1, 3, 1]);
  // For crypto and for stocks traded on Sundays, Sunday is its own day.
  for (const assetClass of ["crypto", "stock", null] as const) {
    expect(sampleDaily(runOf(equity, { ...week, assetClass })).days).toBe(5);
  }
});

Deno.test("sampleDaily() counts New York's late Friday, a Saturday in UTC, to Friday", () => {
  // Friday 20:00, Saturday 00:00, Monday 14:00.
  const days = [4 + 20 / 24, 5, 7 + 14 / 24];
  for (const assetClass of ["stock", "forex"] as const) {
    const daily = sampleDaily(runOf([100, 110, 121], { days, assetClass }));
    expect([...daily.returns]).toEqual([110 / 100 - 1, 121 / 110 - 1]);
  }
  expect(sampleDaily(runOf([100, 110, 121], { days, assetClass: "crypto" })).days).toBe(3);
});

Deno.test("a year of hourly forex has 260 to 262 days", () => {
  // 2024, from Sunday 22:00 to Friday 22:00.
  const isOpen = (hour: number) => (hour + 24 + 2) % 168 < 120;
  const hours = Array.from({ length: 366 * 24 }, (_, hour) => hour).filter(isOpen);
  const run = runOf(hours.map(() => 100), { days: hours.map((hour) => hour / 24), timeframeMs: DAY / 24 });
  expect(sampleDaily({ ...run, assetClass: "forex" }).days).toBe(262);
  expect(sampleDaily(run).days).toBe(314);
});

Deno.test("sampleDaily() ends the returns with the day of a total loss, the instrument's too", () => {
  const daily = sampleDaily(runOf([80, 0, 0, 0], { close: [4, 3, 2, 1] }));
  expect(daily.days).toBe(4);
  expect([...daily.returns]).toEqual([80 / 100 - 1, -1]);
  expect([...daily.closeReturns]).toEqual([3 / 4 - 1]);
});

Deno.test("days that the caller tells are taken as they are, with their dates", () => {
  // Three candles of two trading days; the first of them is on the evening before its date.
  const time = Float64Array.of(Date.UTC(2024, 0, 1, 22), Date.UTC(2024, 0, 2, 21), Date.UTC(2024, 0, 2, 22));
  const dates = Float64Array.of(Date.UTC(2024, 0, 2), Date.UTC(2024, 0, 3));
  const daily = sampleDaily({
    ...runOf([100, 110, 121], {}),
    time,
    tradingDays: { ends: Int32Array.of(2, 3), dates },
  });
  expect(daily.days).toBe(2);
  expect([...daily.returns].map((value) => Number(value.toFixed(9)))).toEqual([0.1, 0.1]);
  expect([...daily.dates]).toEqual([...dates]);
});

Deno.test("sampleDaily() dates a day by the middle of its candles, and keeps its last mark", () => {
  // A week of forex that opens on Sunday, 7 January 2024, at 22:00: Monday and Tuesday.
  const days = [6 + 22 / 24, 7.5, 7 + 23 / 24, 8.25];
  const run = runOf([100, 110, 120, 90], { days, timeframeMs: DAY / 24, assetClass: "forex" });
  const daily = sampleDaily(run);
  expect([...daily.dates].map((date) => new Date(date).toISOString())).toEqual([
    "2024-01-08T00:00:00.000Z",
    "2024-01-09T00:00:00.000Z",
  ]);
  expect(Array.from(daily.ends, (end) => run.equity[end - 1])).toEqual([120, 90]);
});

import { expect } from "@std/expect";
import { daysOf } from "../../../market/archive/made_candles.ts";
import { groupByDay } from "../../../market/calendar/group_by_day.ts";
import { isGap } from "../../../market/calendar/trading_hours.ts";
import type { Timeframe } from "../../../market/timeframes.ts";

const at = (iso: string) => Date.parse(iso);

Deno.test("a period without candles is a gap if the market was open", () => {
  const gap = (assetClass: "stock" | "forex" | "crypto", from: string, until: string, source: Timeframe = "1m") => {
    const instrument = { assetClass, exchange: "TEST" };
    return isGap(instrument, daysOf(instrument, source), at(from), at(until));
  };
  expect(gap("crypto", "2024-03-02T00:00Z", "2024-03-02T00:01Z")).toBe(true);
  expect(gap("crypto", "2024-03-02T00:00Z", "2024-03-02T00:00Z")).toBe(false);
  expect(gap("stock", "2024-03-02T00:00Z", "2024-03-04T00:00Z", "1d")).toBe(false);
  expect(gap("stock", "2024-03-01T00:00Z", "2024-03-04T00:00Z", "1d")).toBe(true);
  expect(gap("stock", "2024-03-01T21:00Z", "2024-03-04T14:30Z")).toBe(false);
  expect(gap("stock", "2024-02-29T21:00Z", "2024-03-04T14:30Z")).toBe(true);
  expect(gap("forex", "2024-03-01T21:00Z", "2024-03-04T00:00Z")).toBe(false);
  expect(gap("forex", "2024-03-01T20:59Z", "2024-03-04T00:00Z")).toBe(true);
  expect(gap("forex", "2024-03-01T22:00Z", "2024-03-04T00:01Z")).toBe(true);
  expect(gap("forex", "2024-03-02T05:00Z", "2024-03-03T05:00Z")).toBe(false);
  // A quiet minute at night is none; an hour is one, but not at Christmas.
  expect(gap("forex", "2024-03-05T05:00Z", "2024-03-05T05:01Z")).toBe(false);
  expect(gap("forex", "2024-03-05T05:00Z", "2024-03-05T06:00Z")).toBe(true);
  expect(gap("forex", "2024-12-24T21:00Z", "2024-12-25T23:00Z")).toBe(false);
  expect(gap("forex", "2024-12-24T12:00Z", "2024-12-25T23:00Z")).toBe(true);
  // Thursday 4 July 2024, and the day after.
  expect(gap("stock", "2024-07-03T20:00Z", "2024-07-05T13:30Z")).toBe(false);
  expect(gap("stock", "2024-07-03T20:00Z", "2024-07-08T13:30Z")).toBe(true);
});

Deno.test("Tokyo's session is measured by Tokyo's time, and New York's holidays are not its own", () => {
  const instrument = { assetClass: "stock", exchange: "TSE" } as const;
  const gap = (from: string, until: string) => isGap(instrument, daysOf(instrument, "1m"), at(from), at(until));
  // A whole session of Wednesday 3 July is missing; then the one of the Fourth.
  expect(gap("2024-07-02T06:30Z", "2024-07-03T00:00Z")).toBe(false);
  expect(gap("2024-07-02T06:30Z", "2024-07-04T00:00Z")).toBe(true);
  expect(gap("2024-07-03T06:30Z", "2024-07-05T00:00Z")).toBe(true);
});

Deno.test("the days of metrics are the session's: forex from 17:00 in New York, early and late trade with its date", () => {
  const group = (assetClass: "stock" | "forex", times: readonly string[]) => {
    const days = daysOf({ assetClass, exchange: "TEST" }, "1h");
    const { ends, dates } = groupByDay(days, Float64Array.from(times, at));
    return [...ends].map((end, i) => [end, new Date(dates[i]!).toISOString().slice(0, 10)]);
  };
  // Sunday evening begins Monday, Monday evening Tuesday; New York is at UTC-5 on 3 March 2024 and at UTC-4 from 10 March on.
  const evenings = [
    "2024-03-03T22:00Z",
    "2024-03-04T21:00Z",
    "2024-03-04T22:00Z",
    "2024-03-08T21:00Z",
    "2024-03-10T21:00Z",
  ];
  expect(group("forex", evenings)).toEqual([[2, "2024-03-04"], [3, "2024-03-05"], [4, "2024-03-08"], [
    5,
    "2024-03-11",
  ]]);
  // 04:00 and 19:00 in New York, the latter on the next day in UTC.
  expect(group("stock", ["2024-01-05T09:00Z", "2024-01-06T00:00Z", "2024-01-08T14:30Z"])).toEqual([
    [2, "2024-01-05"],
    [3, "2024-01-08"],
  ]);
});

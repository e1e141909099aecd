import { expect } from "@std/expect";
import { periodReturns, type ReturnPeriod } from "../../../engine/metrics/period_returns.ts";
import { DAY, runOf } from "./runs.ts";

/** Rows as date, return in per cent and equity. */
function rowsOf(run: ReturnType<typeof runOf>, period: ReturnPeriod) {
  const { time, return: returns, equity } = periodReturns(run, period);
  return [...time].map((date, k) =>
    [new Date(date).toISOString().slice(0, 10), Math.round(returns[k]! * 1e6) / 1e4, equity[k]] as const
  );
}

// 30 December 2024, the 31st at noon and at 18:00, 15 January and 1 February 2025.
const RUN = runOf([110, 121, 132, 66, 99], { days: [364, 365.5, 365.75, 380, 397], timeframeMs: DAY / 4 });

Deno.test("returns by month compare the last marks of months, the first with the initial balance", () => {
  expect(rowsOf(RUN, "monthly")).toEqual([["2024-12-01", 32, 132], ["2025-01-01", -50, 66], ["2025-02-01", 50, 99]]);
});

Deno.test("returns by year compound to the same end", () => {
  expect(rowsOf(RUN, "yearly")).toEqual([["2024-01-01", 32, 132], ["2025-01-01", -25, 99]]);
});

Deno.test("returns by day have a row for each day with candles", () => {
  expect(rowsOf(RUN, "daily")).toEqual([
    ["2024-12-30", 10, 110],
    ["2024-12-31", 20, 132],
    ["2025-01-15", -50, 66],
    ["2025-02-01", 50, 99],
  ]);
});

Deno.test("returns end with the period in which equity reaches zero", () => {
  expect(rowsOf(runOf([50, 0, 0], { days: [0, 1, 40] }), "monthly")).toEqual([["2024-01-01", -100, 0]]);
});

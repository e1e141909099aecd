import { expect } from "@std/expect";
import { METRIC_NAMES } from "../../../engine/metrics/definitions.ts";
import { resultSchema } from "../../../routers/backtests/backtest_result.ts";
import { newResult } from "../../support/backtests.ts";

Deno.test("a result that was stored before a metric was thought of is read, and has none of it", () => {
  const { sharpe: _sharpe, ...metrics } = { ...newResult().metrics, trades: 3 };
  const read = resultSchema.parse({ ...newResult(), metrics });
  expect(read).toEqual({ ...newResult(), metrics: { ...metrics, sharpe: null } });
  expect(Object.keys(read.metrics).sort()).toEqual([...METRIC_NAMES].sort());
});

Deno.test("a metric that is no number is no result", () => {
  expect(resultSchema.safeParse({ ...newResult(), metrics: { ...newResult().metrics, sharpe: "much" } }).success)
    .toBe(false);
});

import { expect } from "@std/expect";
import { isMetricName, METRIC_DEFINITIONS, METRIC_NAMES } from "../../../engine/metrics/definitions.ts";

Deno.test("every metric has a label, a meaning, a formula, a unit and a sample", () => {
  expect(METRIC_NAMES.length).toBeGreaterThan(50);
  for (const name of METRIC_NAMES) {
    expect(name).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
    const { label, meaning, formula, unit, sample } = METRIC_DEFINITIONS[name];
    for (const words of [label, meaning, formula, unit, sample]) expect(words.trim().length).toBeGreaterThan(0);
  }
});

Deno.test("no two metrics have one label", () => {
  expect(new Set(METRIC_NAMES.map((name) => METRIC_DEFINITIONS[name].label)).size).toBe(METRIC_NAMES.length);
});

Deno.test("less risk and fewer costs are better, more growth is, and size is neither", () => {
  const better = (side: "more" | "less" | null) =>
    METRIC_NAMES.filter((name) => METRIC_DEFINITIONS[name].better === side);
  expect(better("less")).toEqual(expect.arrayContaining(["max_drawdown", "var_95", "cvar_95", "fees_paid"]));
  expect(better("more")).toEqual(expect.arrayContaining(["total_return", "sharpe", "worst_day", "average_loss"]));
  expect(better(null)).toEqual(expect.arrayContaining(["start", "candles", "exposure", "trades", "beta"]));
});

Deno.test("isMetricName() accepts the names of metrics and no others", () => {
  expect(isMetricName("sharpe")).toBe(true);
  expect(isMetricName("toString")).toBe(false);
});

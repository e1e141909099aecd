import { expect } from "@std/expect";
import { isMetricName, METRIC_DEFINITIONS, METRIC_NAMES } from "../../../engine/metrics/definitions.ts";

Deno.test("every metric has a meaning, a formula, a unit and a sample", () => {
  expect(METRIC_NAMES.length).toBe(60);
  for (const name of METRIC_NAMES) {
    expect(name).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
    const { meaning, formula, unit, sample } = METRIC_DEFINITIONS[name];
    for (const words of [meaning, formula, unit, sample]) expect(words.trim().length).toBeGreaterThan(0);
  }
});

Deno.test("isMetricName() accepts the names of metrics and no others", () => {
  expect(isMetricName("sharpe")).toBe(true);
  expect(isMetricName("toString")).toBe(false);
});

import { expect } from "@std/expect";
import { isMetricName, METRIC_DEFINITIONS, METRIC_NAMES } from "../../../engine/metrics/definitions.ts";

Deno.test("every metric says what it is, in what unit and of what", () => {
  expect(METRIC_NAMES.length).toBe(53);
  for (const name of METRIC_NAMES) {
    expect(name).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
    const { definition, unit, sample } = METRIC_DEFINITIONS[name];
    for (const words of [definition, unit, sample]) expect(words.trim().length).toBeGreaterThan(0);
  }
});

Deno.test("isMetricName() knows its own names only", () => {
  expect(isMetricName("sharpe")).toBe(true);
  expect(isMetricName("toString")).toBe(false);
});

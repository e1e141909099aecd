import { expect } from "@std/expect";
import { PROFILE_DEFAULTS, PROFILES as ENGINE_PROFILES } from "../../engine/execution.ts";
import { executionRequestSchema } from "../../routers/runs/execution_request.ts";
import { defaultOf, EXECUTION_FIELDS, PROFILES } from "../../web/src/pages/new_run/execution_fields.ts";
import { toRules, toTexts } from "../../web/src/pages/new_run/execution_rules.ts";

Deno.test("the form of a new run offers the engine's profiles, with the defaults that each of them has", () => {
  expect(PROFILES.map(({ value }) => value)).toEqual([...ENGINE_PROFILES]);
  for (const profile of ENGINE_PROFILES) {
    for (const field of EXECUTION_FIELDS) {
      const [key = "", inner] = field.key.split(".");
      const rule: unknown = Reflect.get(PROFILE_DEFAULTS[profile], key);
      // No slippage is written as a plain 0.
      const known = inner === undefined || typeof rule !== "object" || rule === null ? rule : Reflect.get(rule, inner);
      expect([profile, field.key, defaultOf(field, profile)]).toEqual([profile, field.key, known]);
    }
  }
});

Deno.test("every choice and both bounds of each rule are accepted by the service, and nothing beyond the bounds", () => {
  const accepts = (key: string, value: unknown) => {
    const texts = EXECUTION_FIELDS.map((field) => field.key === key ? String(value) : "");
    return executionRequestSchema.safeParse(toRules("hindcast", texts, {})).success;
  };
  for (const { key, choices = [], min, max } of EXECUTION_FIELDS) {
    for (const choice of choices) expect([key, choice, accepts(key, choice)]).toEqual([key, choice, true]);
    // Both must be more than 0, which the service says.
    const isPositive = key === "sizing.value" || key === "quantityStep";
    if (min !== undefined) {
      expect([key, accepts(key, min)]).toEqual([key, !isPositive]);
      expect([key, accepts(key, min - 1)]).toEqual([key, false]);
    }
    if (max === undefined || key === "sizing.value") continue;
    expect([key, accepts(key, max)]).toEqual([key, true]);
    expect([key, accepts(key, max * 1.01)]).toEqual([key, false]);
  }
});

Deno.test("a repeated run keeps the rules that the form does not offer, until its profile changes", () => {
  const earlier = { ...PROFILE_DEFAULTS.hindcast, cashRate: 0.02, riskFreeRate: 0.03, slippage: { bps: 5 } };
  const texts = toTexts(earlier);
  expect(texts.filter((text) => text !== "")).toEqual(["5", "0.02"]);
  expect(toRules("hindcast", texts, earlier)).toEqual(earlier);
  const emptied = texts.map(() => "");
  expect(toRules("hindcast", emptied, earlier)).toEqual({ ...earlier, cashRate: 0, slippage: { bps: 0 } });
  expect(toRules("backtesting.py", texts, earlier)).toEqual({
    profile: "backtesting.py",
    slippage: { bps: 5 },
    cashRate: 0.02,
  });
});

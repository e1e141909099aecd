import { expect } from "@std/expect";
import { Ajv2020 } from "ajv/dist/2020.js";
import { matchRules, TooManyStepsError } from "../../../routers/strategies/match_rules.ts";
import { readRules } from "../../../routers/strategies/parameter_rules.ts";
import { craftedCases } from "./crafted_schemas.ts";
import { randomCase } from "./random_schemas.ts";

// `deno task schemas` holds them to 50 ms of processor time; other processes share this machine.
const HANG_MS = 60_000;
// `deno task schemas` times ten times as many.
const RUNS = 1_000;

/** True if a value fits a schema; null where the check takes too many steps. It is timed. */
function fits(schema: unknown, value: unknown): boolean | null {
  const begun = performance.now();
  try {
    return matchRules(readRules(schema, ""), value, "").length === 0;
  } catch (error) {
    if (error instanceof TooManyStepsError) return null;
    throw error;
  } finally {
    expect(performance.now() - begun).toBeLessThan(HANG_MS);
  }
}

Deno.test("random small values fit random schemas exactly where another validator says so", () => {
  let fitting = 0;
  for (let seed = 0; seed < 2_000; seed++) {
    const { schema, value } = randomCase(seed, 1 + seed % 3);
    // The other validator passes over the rules of such a name.
    if (JSON.stringify(schema).includes("__proto__")) continue;
    const expected = new Ajv2020({ strict: false, validateSchema: false }).validate(schema, value);
    if (expected) fitting++;
    const found = fits(schema, value);
    if (found !== expected) throw new Error(`seed ${seed}: ${found} for ${JSON.stringify({ schema, value })}`);
  }
  // Some of both, or nothing was compared.
  expect(fitting).toBeGreaterThan(200);
  expect(fitting).toBeLessThan(1_800);
});

Deno.test("random schemas and values, up to the largest, take a moment each", () => {
  for (let seed = 0; seed < RUNS; seed++) {
    const { schema, value } = randomCase(seed, 1 + seed % 6);
    fits(schema, value);
  }
});

Deno.test("schemas and values that are made to take long are given up or done in a moment", () => {
  for (const { schema, value } of craftedCases()) fits(schema, value);
});

Deno.test("rules under the name of an object's prototype hold as others do", () => {
  const schema: unknown = JSON.parse('{ "type": "object", "properties": { "__proto__": { "type": "null" } } }');
  expect(fits(schema, JSON.parse('{ "__proto__": true }'))).toBe(false);
  expect(fits(schema, JSON.parse('{ "__proto__": null }'))).toBe(true);
});

import { type Schema, Validator } from "@cfworker/json-schema";
import { expect } from "@std/expect";
import { matchRules, TooManyStepsError } from "../../routers/match_rules.ts";
import { readRules } from "../../routers/parameter_rules.ts";
import { randomCase } from "./random_schemas.ts";

// Generous: other processes share the machine.
const HANG_MS = 2_000;
// 10,000 take five seconds; none took more than 26 ms on the machine that this was written on.
const RUNS = Number(Deno.env.get("SCHEMA_RUNS") ?? 1_000);

/** Whether a value fits a schema; null where the check takes too many steps. It is timed. */
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
    const foreign: Schema = schema;
    const expected = new Validator(foreign, "2020-12").validate(value).valid;
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
  const text = "x".repeat(16_000);
  const numbers = Array.from({ length: 5_000 }, (_, i) => i);
  const repeat = <Rule>(count: number, rule: (i: number) => Rule) => Array.from({ length: count }, (_, i) => rule(i));
  const nested = (depth: number): unknown => depth === 0 ? false : { anyOf: [nested(depth - 1), nested(depth - 1)] };
  const cases: [schema: unknown, value: unknown][] = [
    [{ allOf: repeat(3_000, (i) => ({ minLength: i })) }, text],
    [{ anyOf: repeat(3_000, () => ({ const: `${text}y` })) }, text],
    [{ allOf: repeat(3_000, () => ({ uniqueItems: true })) }, numbers],
    [{ items: { enum: [text.repeat(4)] } }, numbers],
    [{ items: { not: { const: text.repeat(4) } } }, numbers],
    [{ items: { anyOf: repeat(3_000, (i) => ({ const: -1 - i })) } }, numbers],
    [{ items: { enum: repeat(3_000, (i) => -1 - i) } }, numbers],
    [{ anyOf: repeat(3_000, () => ({ required: ["b"] })) }, { ...numbers }],
    [nested(12), 1],
    [{ additionalProperties: false, properties: Object.fromEntries(repeat(3_000, (i) => [`p${i}`, {}])) }, {
      ...numbers,
    }],
  ];
  for (const [schema, value] of cases) fits(schema, value);
});

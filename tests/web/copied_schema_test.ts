import { expect } from "@std/expect";
import { copyValues } from "../../web/src/pages/strategies/registration_form.ts";

type Strategy = Parameters<typeof copyValues>[0];

Deno.test("a copied script takes a written schema along, and not the names that its code reads", () => {
  const schemaOf = (parameter_schema: Strategy["parameter_schema"]) => {
    const { name, description, language } = { name: "Mine", description: "", language: "typescript" };
    const copied = { name, description, language, default_frequency: "DAILY", lookback_candles: 0, parameter_schema };
    return JSON.parse(copyValues({ ...Object(copied) }, "strategy(() => ({ decide() {} }));").schema);
  };
  const written = { type: "object", properties: { fast: { type: "integer" } }, additionalProperties: false };
  expect(schemaOf(written)).toEqual(written);
  const read = { type: "object", properties: { fast: {}, slow: {} }, additionalProperties: false };
  expect(schemaOf(read)).toEqual({ type: "object", properties: {} });
});

import { expect } from "@std/expect";
import { AppError } from "../../../routers/common/errors.ts";
import { checkParameterSchema, effectiveParameters, wantedTimeframe } from "../../../routers/strategies/parameters.ts";

/** The message of a refusal of parameters; undefined where they are accepted. */
function refusal(properties: object, own: Readonly<Record<string, unknown>>) {
  const parameter_schema = { type: "object", properties };
  checkParameterSchema(parameter_schema, "/schema");
  try {
    effectiveParameters({ name: "Test", default_config: {}, parameter_schema }, own, "/parameters");
  } catch (error) {
    if (error instanceof AppError) return error.issues;
    throw error;
  }
}

const list = (length: number) => ({ list: Array.from({ length }, (_, i) => i) });

Deno.test("each wrong parameter is told by its place and its value", () => {
  const properties = { list: { type: "array", items: { type: "string" } }, "a/b": { type: "integer" } };
  expect(refusal(properties, { list: ["a", 2], "a/b": "x" })).toEqual([
    { path: "/parameters/list/1", message: "must be of type string, not 2" },
    { path: "/parameters/a~1b", message: 'must be of type integer, not "x"' },
  ]);
});

Deno.test("refusals of a parameter use the words of every other refusal", () => {
  const cases: [schema: object, value: unknown, message: string][] = [
    [{ type: "integer" }, 1.5, "must be of type integer, not 1.5"],
    [{ type: ["number", "null"] }, "x", 'must be of type number or null, not "x"'],
    [{ minimum: 1 }, 0, "must be at least 1, not 0"],
    [{ maximum: 5 }, Infinity, "must be at most 5, not Infinity"],
    [{ exclusiveMinimum: 0 }, 0, "must be more than 0, not 0"],
    [{ exclusiveMaximum: 1 }, 1, "must be less than 1, not 1"],
    [{ enum: ["both", "long"] }, "Long", 'must be one of "both", "long", not "Long": did you mean long?'],
    [{ enum: tens(22) }, 1, `must be one of ${tens(20).join(", ")} and 2 more, not 1`],
    [{ maxLength: 1 }, "xy", 'must be at most 1 characters long, not "xy"'],
  ];
  for (const [schema, value, message] of cases) {
    expect(refusal({ "a/b": schema }, { "a/b": value })).toEqual([{ path: "/parameters/a~1b", message }]);
  }
});

Deno.test("an unknown parameter is told with those that there are", () => {
  const refuse = (parameter_schema: Readonly<Record<string, unknown>>, own: Readonly<Record<string, unknown>>) =>
    expect(() => effectiveParameters({ name: "Test", default_config: {}, parameter_schema }, own, "/parameters"));
  const levels = { type: "object", properties: { stop: {}, target: {} }, additionalProperties: false };
  const schema = { type: "object", properties: { fast: {}, levels }, additionalProperties: false };
  refuse(schema, { quick: 1 }).toThrow(
    'Cannot run Test: /parameters/quick is not a known parameter; there are "fast", "levels"; to send it as a remark, name it "x-quick"',
  );
  refuse(schema, { levels: { stp: 1 } }).toThrow(
    '/levels/stp is not a known parameter: did you mean stop? There are "stop", "target"',
  );
  refuse({ type: "object", additionalProperties: false }, { quick: 1 }).toThrow(/is not a known parameter; to send/);
});

Deno.test("each of several values that are missing is told once, by its name", () => {
  const told = refusal({ p: { required: ["a", "b", "c"] } }, { p: { b: 1 } });
  expect(told).toEqual([
    { path: "/parameters/p/a", message: "is required" },
    { path: "/parameters/p/c", message: "is required" },
  ]);
});

Deno.test("a parameter of a type that JSON does not have is refused with the schema", () => {
  const check = (type: unknown) => () =>
    checkParameterSchema({ type: "object", properties: { a: { type } } }, "/schema");
  expect(check("int")).toThrow(/^Cannot use the parameter_schema: \/schema\/properties\/a\/type /);
  expect(check(["integer", "nil"])).toThrow(/\/schema\/properties\/a\/type/);
  expect(check([])).toThrow(/\/schema\/properties\/a\/type/);
  expect(check(["integer", "null"])).not.toThrow();
  // One that was registered before is a schema all the same.
  const parameter_schema = { type: "object", properties: { a: { type: "int" }, b: { default: 1 } } };
  expect(effectiveParameters({ name: "Old", default_config: {}, parameter_schema }, {}, "")).toEqual({ b: 1 });
});

Deno.test("a default that does not fit its own schema is blamed on the schema, and a given value on its giver", () => {
  const parameter_schema = {
    type: "object",
    properties: { period: { type: "integer", maximum: 5, default: 9 }, "a/b": { items: { maximum: 1 }, default: [2] } },
  };
  const strategy = { name: "Test", default_config: {}, parameter_schema };
  const fill = (given: object, schemaPath?: string) => () =>
    effectiveParameters(strategy, { ...given }, "/own", schemaPath);
  const fits = { "a/b": [1] };
  expect(fill(fits)).toThrow("/own/period must be at most 5, not 9: that is the default in its parameter_schema");
  expect(fill(fits, "/schema")).toThrow("Cannot run Test: /schema/properties/period/default must be at most 5, not 9");
  expect(fill({ period: 3 }, "/schema")).toThrow(/: \/schema\/properties\/a~1b\/default\/0 must be at most 1/);
  expect(fill({ ...fits, period: 7 }, "/schema")).toThrow("Cannot run Test: /own/period must be at most 5, not 7");
  const configured = { ...strategy, default_config: { period: 8 } };
  expect(() => effectiveParameters(configured, fits, "/own")).toThrow(/^Cannot run Test: \/own\/period .*, not 8$/);
});

Deno.test("a schema is read by its structure, whatever its parameters are called", () => {
  const check = (properties: object) => () => checkParameterSchema({ type: "object", properties }, "/schema");
  // Each would be run as a regular expression if it were taken for a keyword, or hide one.
  expect(check({ properties: { type: "string" }, format: {}, pattern: { type: "integer" }, $ref: {} })).not.toThrow();
  expect(check({ properties: { pattern: "(a+)+$" } })).toThrow(
    /\/schema\/properties\/properties\/pattern is a keyword/,
  );
  expect(check({ a: { properties: { properties: { format: "url" } } } })).toThrow(/\/properties\/format is a keyword/);
  expect(check({ a: { anyOf: [{ $ref: "#" }] } })).toThrow(/\/schema\/properties\/a\/anyOf\/0\/\$ref is a keyword/);
  // A value is not a schema.
  expect(check({ a: { const: { pattern: "x" }, default: { $ref: 1 }, examples: [{ format: "url" }] } })).not.toThrow();
});

Deno.test("a keyword with an argument of the wrong kind is refused, and has no effect where it was registered before", () => {
  for (
    const [keyword, argument] of [
      ["enum", "x"],
      ["minimum", "1"],
      ["exclusiveMinimum", true],
      ["minLength", -1],
      ["required", true],
      ["anyOf", []],
      ["items", [{}]],
      ["properties", []],
      ["multipleOf", 0],
    ] as const
  ) {
    const parameter_schema = { type: "object", properties: { a: { [keyword]: argument } } };
    expect(() => checkParameterSchema(parameter_schema, "/schema")).toThrow(
      new RegExp(`/schema/properties/a/${keyword} must be `),
    );
    expect(effectiveParameters({ name: "Old", default_config: {}, parameter_schema }, { a: 5 }, "")).toEqual({ a: 5 });
  }
});

Deno.test("parameters that would take long to check are refused", () => {
  const anyOf = Array.from({ length: 3000 }, (_, i) => ({ const: -1 - i }));
  const issues = refusal({ list: { items: { anyOf } } }, list(3000));
  expect(issues).toEqual([{ path: "/parameters", message: expect.stringContaining("steps to check") }]);
  expect(refusal({ list: { items: { type: "integer" } } }, list(5000))).toBeUndefined();
  expect(refusal({ list: { items: { type: "string" } } }, list(5000))?.length).toBe(100);
});

Deno.test("a schema may describe the timeframe, in either spelling", () => {
  const strategy = (timeframe: object) => ({
    name: "Test",
    default_config: {},
    parameter_schema: {
      type: "object",
      properties: { timeframe },
      required: ["timeframe"],
      additionalProperties: false,
    },
  });
  const words = strategy({ type: "string", enum: ["HOURLY", "DAILY"], default: "HOURLY" });
  checkParameterSchema(words.parameter_schema, "/schema");
  expect(effectiveParameters(words, { timeframe: "1d" }, "/parameters")).toEqual({});
  expect(effectiveParameters(words, {}, "/parameters")).toEqual({});
  expect([wantedTimeframe(words, {}), wantedTimeframe(words, { timeframe: "daily" })]).toEqual(["HOURLY", "daily"]);
  expect(() => effectiveParameters(words, { timeframe: "1w" }, "/parameters")).toThrow(
    '/parameters/timeframe must be one of "HOURLY", "DAILY", not "1w"',
  );
  expect(() => effectiveParameters(strategy({}), {}, "/parameters")).toThrow("/parameters/timeframe is required");
  const wrong = strategy({ default: "fortnight" });
  expect(() => checkParameterSchema(wrong.parameter_schema, "/schema")).toThrow(/timeframe\/default must be one of/);
});

Deno.test("null is absent where the schema takes no null, also for a parameter that does not exist", () => {
  const parameter_schema = {
    type: "object",
    properties: {
      fast: { type: "integer", default: 10 },
      stop: { type: ["number", "null"], default: 1 },
      free: {},
      slow: { type: "number" },
    },
    required: ["slow"],
    additionalProperties: false,
  };
  const check = (schema: Readonly<Record<string, unknown>>, own: Readonly<Record<string, unknown>>) =>
    effectiveParameters({ name: "Test", default_config: { slow: 20 }, parameter_schema: schema }, own, "");
  expect(check(parameter_schema, { fast: null, stop: null, free: null, slow: null, moduleUrl: null }))
    .toEqual({ fast: 10, stop: null, free: null, slow: 20 });
  // A typo with a value is still refused.
  expect(() => check(parameter_schema, { fsat: 5 })).toThrow("/fsat is not a known parameter");
  // A schema that lets other parameters be lets their nulls be.
  expect(check({ type: "object" }, { other: null })).toEqual({ slow: 20, other: null });
});

Deno.test("a name that begins with x- is a remark, which no schema refuses", () => {
  const parameter_schema = {
    type: "object",
    properties: { "x-own": { type: "integer" } },
    additionalProperties: false,
  };
  const check = (own: Readonly<Record<string, unknown>>) =>
    effectiveParameters({ name: "Test", default_config: {}, parameter_schema }, own, "");
  expect(check({ "x-label": "my run" })).toEqual({ "x-label": "my run" });
  expect(() => check({ "x-own": "text" })).toThrow("/x-own must be of type integer");
});

Deno.test("a strategy may have a hundred parameters with a description and bounds each", () => {
  const number = { type: "number", title: "A weight", description: "Of one", default: 0, minimum: -1, maximum: 1 };
  const properties = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`weight${i}`, number]));
  expect(refusal(properties, {})).toBeUndefined();
});

/** 0, 10, 20 and so on. */
function tens(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i * 10);
}

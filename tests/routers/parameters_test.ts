import { expect } from "@std/expect";
import { AppError } from "../../routers/errors.ts";
import { checkParameterSchema, effectiveParameters } from "../../routers/parameters.ts";

/** What is told of parameters that are refused; undefined where they are not. */
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

Deno.test("what is wrong with a parameter is said in the words of every other refusal", () => {
  const cases: [schema: object, value: unknown, message: string][] = [
    [{ type: "integer" }, 1.5, "must be of type integer, not 1.5"],
    [{ type: ["number", "null"] }, "x", 'must be of type number or null, not "x"'],
    [{ minimum: 1 }, 0, "must be at least 1, not 0"],
    [{ maximum: 5 }, Infinity, "must be at most 5, not Infinity"],
    [{ exclusiveMinimum: 0 }, 0, "must be more than 0, not 0"],
    [{ exclusiveMaximum: 1 }, 1, "must be less than 1, not 1"],
    [{ enum: ["both", "long"] }, "Long", 'must be one of "both", "long", not "Long"'],
    [{ enum: tens(22) }, 1, `must be one of ${tens(20).join(", ")} and 2 more, not 1`],
    [{ maxLength: 1 }, "xy", 'is "xy": String is too long (2 > 1).'],
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
    'Cannot run Test: /parameters/quick is not a known parameter; there are "fast", "levels"',
  );
  refuse(schema, { levels: { stp: 1 } }).toThrow('/levels/stp is not a known parameter; there are "stop", "target"');
  refuse({ type: "object", additionalProperties: false }, { quick: 1 }).toThrow(/is not a known parameter$/);
});

Deno.test("each of several values that are missing is told once, by its name", () => {
  const told = refusal({ p: { required: ["a", "b", "c"] } }, { p: { b: 1 } });
  expect(told?.map(({ message }) => message)).toEqual([
    'is {"b":1}: Instance does not have required property "a".',
    'is {"b":1}: Instance does not have required property "c".',
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

Deno.test("parameters of very many values are refused before they are looked at, the fewer the larger the schema is", () => {
  // The schema is five values (itself, "object", the properties, the one, its type): 75,000 comparisons would be 15,000 values.
  const small = { list: { type: "array" } };
  // The elements, their list, and the whole.
  expect(refusal(small, list(4998))).toBeUndefined();
  const most = (valuesMax: number, values: number) => [{
    path: "/parameters",
    message: `must hold at most ${valuesMax} values, not ${values}`,
  }];
  expect(refusal(small, list(4999))).toEqual(most(5000, 5001));
  // With 100 constants, each in a part of its own, and the list of them, the one's part and its items: 206 values.
  const anyOf = Array.from({ length: 100 }, (_, i) => ({ const: -1 - i }));
  const large = { list: { items: { anyOf } } };
  expect(refusal(large, list(363))).toEqual(most(364, 365));
  // None of 362 elements is any of 100 constants: a hundred of the errors are told.
  expect(refusal(large, list(362))?.length).toBe(100);
});

Deno.test("a strategy may have a hundred parameters with a description and bounds each", () => {
  const number = { type: "number", title: "A weight", description: "Of one", default: 0, minimum: -1, maximum: 1 };
  const properties = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`weight${i}`, number]));
  expect(refusal(properties, {})).toBeUndefined();
});

Deno.test("what many values and a schema can take is a moment, whatever they are", () => {
  const begun = performance.now();
  expect(refusal({ list: { uniqueItems: true } }, list(4998))).toBeUndefined();
  expect(refusal({ list: { items: { type: "string" } } }, list(4280))?.length).toBe(100);
  // Each `false` is a value and an error, so that these are as many errors as there can be.
  const anyOf = Array.from({ length: 300 }, () => false);
  expect(refusal({ list: { items: { anyOf } } }, list(242))?.length).toBe(100);
  // A tenth of a second for all of them, on a quick machine.
  expect(performance.now() - begun).toBeLessThan(60_000);
});

/** 0, 10, 20 and so on. */
function tens(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i * 10);
}

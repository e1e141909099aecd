import { pointer, quote } from "../common/errors.ts";

/** A JSON Schema as parameters are checked with it: the supported keywords alone, each with an argument of the right kind. */
export interface Rules extends Partial<Keywords> {
  /** The schema `false`: no value fits. */
  never?: true;
}

/** The supported keywords of JSON Schema 2020-12. None needs a regular expression or refers to another place. */
interface Keywords {
  type: readonly string[];
  enum: readonly unknown[];
  const: { readonly value: unknown };
  default: { readonly value: unknown };
  minimum: number;
  maximum: number;
  exclusiveMinimum: number;
  exclusiveMaximum: number;
  multipleOf: number;
  minLength: number;
  maxLength: number;
  items: Rules;
  prefixItems: readonly Rules[];
  minItems: number;
  maxItems: number;
  uniqueItems: boolean;
  properties: ReadonlyMap<string, Rules>;
  required: readonly string[];
  additionalProperties: Rules;
  minProperties: number;
  maxProperties: number;
  allOf: readonly Rules[];
  anyOf: readonly Rules[];
  oneOf: readonly Rules[];
  not: Rules;
  if: Rules;
  then: Rules;
  else: Rules;
}

interface Place {
  readonly path: string;
  readonly refuse: Refuse;
}

type Refuse = (path: string, message: string) => void;
type Reader<T> = (argument: unknown, place: Place) => T | undefined;

const JSON_TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const NAME_LENGTH_MAX = 100;

const KEYWORDS: { readonly [K in keyof Keywords]: Reader<Keywords[K]> } = {
  type: readTypes,
  enum: (argument, place) => Array.isArray(argument) ? argument : refuse(place, "a list of values", argument),
  const: (value) => ({ value }),
  default: (value) => ({ value }),
  minimum: readNumber,
  maximum: readNumber,
  exclusiveMinimum: readNumber,
  exclusiveMaximum: readNumber,
  multipleOf: (argument, place) => {
    const number = readNumber(argument, place);
    return number === undefined || number > 0 ? number : refuse(place, "more than 0", argument);
  },
  minLength: readCount,
  maxLength: readCount,
  items: readSchema,
  prefixItems: readSchemas,
  minItems: readCount,
  maxItems: readCount,
  uniqueItems: (argument, place) => typeof argument === "boolean" ? argument : refuse(place, "true or false", argument),
  properties: readProperties,
  required: (argument, place) => isTexts(argument) ? argument : refuse(place, "a list of names", argument),
  additionalProperties: readSchema,
  minProperties: readCount,
  maxProperties: readCount,
  allOf: readSchemas,
  anyOf: readSchemas,
  oneOf: readSchemas,
  not: readSchema,
  if: readSchema,
  then: readSchema,
  else: readSchema,
};

/** Keywords that a strategy's author would expect to have an effect. Keywords that JSON Schema does not know are remarks. */
const UNSUPPORTED = new Set([
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "$defs",
  "definitions",
  "pattern",
  "patternProperties",
  "format",
  "contains",
  "minContains",
  "maxContains",
  "additionalItems",
  "propertyNames",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

/**
 * Reads a JSON Schema, level by level: a parameter may have the name of a keyword.
 *
 * @param path Its JSON pointer, for `report`.
 * @param report Gets each part that cannot be used. The part is left out of the rules.
 */
export function readRules(schema: unknown, path: string, report: Refuse = () => {}): Rules {
  return readSchema(schema, { path, refuse: report }) ?? {};
}

function readSchema(schema: unknown, place: Place): Rules | undefined {
  if (schema === true) return {};
  if (schema === false) return { never: true };
  if (!isObject(schema)) return refuse(place, "a schema: an object, true or false", schema);
  const rules: Rules = {};
  for (const [key, argument] of Object.entries(schema)) {
    const at = { ...place, path: place.path + pointer([key]) };
    if (isKeyword(key)) addRule(rules, key, argument, at);
    else if (UNSUPPORTED.has(key)) {
      at.refuse(at.path, `is a keyword that is not supported here: use ${Object.keys(KEYWORDS).join(", ")}`);
    }
  }
  return rules;
}

function addRule<K extends keyof Keywords>(rules: Partial<Keywords>, key: K, argument: unknown, place: Place): void {
  const rule = KEYWORDS[key](argument, place);
  if (rule !== undefined) rules[key] = rule;
}

function isKeyword(key: string): key is keyof Keywords {
  return Object.hasOwn(KEYWORDS, key);
}

function readSchemas(argument: unknown, place: Place): Rules[] | undefined {
  if (!Array.isArray(argument) || argument.length === 0) return refuse(place, "a list of schemas", argument);
  return argument.flatMap((schema, i) => readSchema(schema, { ...place, path: `${place.path}/${i}` }) ?? []);
}

function readProperties(argument: unknown, place: Place): Map<string, Rules> | undefined {
  if (!isObject(argument)) return refuse(place, "an object of schemas", argument);
  const properties = new Map<string, Rules>();
  for (const [name, schema] of Object.entries(argument)) {
    const at = { ...place, path: place.path + pointer([name]) };
    if (name === "" || name.length > NAME_LENGTH_MAX) {
      at.refuse(at.path, `must have a name of 1 to ${NAME_LENGTH_MAX} characters, not ${quote(name)}`);
    }
    properties.set(name, readSchema(schema, at) ?? {});
  }
  return properties;
}

function readTypes(argument: unknown, place: Place): string[] | undefined {
  const types = typeof argument === "string" ? [argument] : argument;
  if (isTexts(types) && types.length > 0 && types.every((type) => JSON_TYPES.includes(type))) return types;
  return refuse(place, `one of ${JSON_TYPES.join(", ")}, or a list of them`, argument);
}

function readNumber(argument: unknown, place: Place): number | undefined {
  return typeof argument === "number" && Number.isFinite(argument) ? argument : refuse(place, "a number", argument);
}

function readCount(argument: unknown, place: Place): number | undefined {
  if (typeof argument === "number" && Number.isSafeInteger(argument) && argument >= 0) return argument;
  return refuse(place, "a whole number from 0", argument);
}

function refuse({ path, refuse }: Place, expected: string, argument: unknown): undefined {
  refuse(path, `must be ${expected}, not ${quote(argument)}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

import { SeededRandom } from "../../faults/random.ts";

/** A schema and a value that may or may not fit it. */
export interface SchemaCase {
  readonly schema: Record<string, unknown>;
  readonly value: Record<string, unknown>;
}

const NAMES = ["a", "b", "properties", "type", "enum", "$ref", "format", "items", "timeframe", "__proto__"];
const KINDS = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Random choices, and how many parts are still to be made: schemas in schemas grow without end. */
class Random extends SeededRandom {
  left: number;

  constructor(seed: number, size: number) {
    super(seed);
    this.left = 4 ** size;
  }

  /** A size for the parts of a part; 0 once enough parts are made. */
  smaller(size: number): number {
    this.left--;
    return this.left > 0 ? size - 1 : 0;
  }
}

/**
 * Makes a random case.
 *
 * @param size How deep, wide and long it is: 1 for a small one, up to 6 for what fills 64 KiB of schema and 16 KiB of values.
 */
export function randomCase(seed: number, size: number): SchemaCase {
  const random = new Random(seed, size);
  const schema = { ...objectRules(random, size), type: "object" };
  random.left = 4 ** size;
  const value = objectOf(random, size, size);
  return { schema, value };
}

function randomSchema(random: Random, size: number): unknown {
  if ((random.next() < 0.1)) return (random.next() < 0.5);
  const parts = [constants, numberRules, textRules, listRules, objectRules, combinations];
  const count = 1 + random.below(3);
  return Object.assign({}, ...Array.from({ length: count }, () => random.pick(parts)(random, random.smaller(size))));
}

function schemas(random: Random, size: number): unknown[] {
  return Array.from({ length: 1 + random.below(size < 2 ? 1 : 3) }, () => randomSchema(random, size));
}

function constants(random: Random, size: number): Record<string, unknown> {
  const count = 1 + random.below(4 ** Math.max(size, 1));
  const values = Array.from({ length: count }, () => randomValue(random, 1, random.smaller(size)));
  return random.pick([
    { type: random.pick(KINDS) },
    { type: [random.pick(KINDS), random.pick(KINDS)] },
    { enum: values },
    { const: values[0] },
  ]);
}

function numberRules(random: Random): Record<string, unknown> {
  return random.pick([
    { minimum: random.below(5) },
    { maximum: random.below(5) },
    { exclusiveMinimum: 1, exclusiveMaximum: 4 },
    { multipleOf: random.pick([1, 2, 0.5]) },
  ]);
}

function textRules(random: Random): Record<string, unknown> {
  return random.pick([{ minLength: random.below(4) }, { maxLength: random.below(4) }]);
}

function listRules(random: Random, size: number): Record<string, unknown> {
  if (size < 1) return { minItems: random.below(3) };
  return random.pick([
    { items: randomSchema(random, size) },
    { prefixItems: schemas(random, size), items: randomSchema(random, size) },
    { uniqueItems: true },
    { maxItems: random.below(4) },
  ]);
}

function objectRules(random: Random, size: number): Record<string, unknown> {
  if (size < 1) return { maxProperties: random.below(4) };
  const names = NAMES.filter(() => (random.next() < 0.3));
  return {
    properties: Object.fromEntries(names.map((name) => [name, randomSchema(random, size)])),
    ...((random.next() < 0.3) ? { required: names.slice(0, 1) } : {}),
    ...((random.next() < 0.3) ? { additionalProperties: randomSchema(random, size) } : {}),
  };
}

function combinations(random: Random, size: number): Record<string, unknown> {
  if (size < 1) return {};
  return random.pick([
    { allOf: schemas(random, size) },
    { anyOf: schemas(random, size) },
    { oneOf: schemas(random, size) },
    { not: randomSchema(random, size) },
    { if: randomSchema(random, size), then: randomSchema(random, size), else: randomSchema(random, size) },
  ]);
}

function randomValue(random: Random, depth: number, size: number): unknown {
  if (depth > 0 && (random.next() < 0.5)) {
    if ((random.next() < 0.5)) return objectOf(random, depth, size);
    return Array.from({ length: random.below(2 ** size) }, () => randomValue(random, depth - 1, random.smaller(size)));
  }
  return random.pick([null, true, false, random.below(6), 0.5, "é".repeat(random.below(3 ** size)), "𝄞"]);
}

function objectOf(random: Random, depth: number, size: number): Record<string, unknown> {
  const names = NAMES.filter(() => (random.next() < 0.4));
  return Object.fromEntries(names.map((name) => [name, randomValue(random, depth - 1, random.smaller(size))]));
}

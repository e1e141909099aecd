import { hintNearest, type Issue, ISSUES_MAX, pointer, quote } from "../common/errors.ts";
import type { Rules } from "./parameter_rules.ts";

// Steps of one check. A step takes less than a tenth of a microsecond, and the API waits meanwhile.
const STEPS_MAX = 100_000;
// Reading this many characters takes about a step.
const STEP_CHARACTERS = 16;
const LISTED_MAX = 20;
const NEAREST_MAX = 100;

/** The check of the parameters took too many steps. */
export class TooManyStepsError extends Error {
  constructor() {
    super(`takes more than ${STEPS_MAX} steps to check: send fewer values, or simplify the schema`);
    this.name = "TooManyStepsError";
  }
}

/** The steps that are left to one or more checks. */
export class Steps {
  #left = STEPS_MAX;

  /** @throws TooManyStepsError where none is left. */
  take(characters: number): void {
    this.#left -= 1 + characters / STEP_CHARACTERS;
    if (this.#left < 0) throw new TooManyStepsError();
  }
}

/**
 * Checks a value against rules.
 *
 * @param path The value's JSON pointer, for the issues.
 * @param steps The steps that the check may take.
 * @returns An issue for each wrong part, a hundred at most.
 * @throws TooManyStepsError where rules and value are so large that the check would hold up the process.
 */
export function matchRules(rules: Rules, value: unknown, path: string, steps: Steps = new Steps()): Issue[] {
  const issues: Issue[] = [];
  new Match(issues, steps).fits(rules, value, path);
  return issues;
}

class Match {
  readonly #steps: Steps;
  // Null inside alternatives, whose complaints are not the value's.
  #issues: Issue[] | null;

  constructor(issues: Issue[], steps: Steps) {
    this.#issues = issues;
    this.#steps = steps;
  }

  /** True if a value fits the rules; a mismatch is noted. */
  fits(rules: Rules, value: unknown, path: string): boolean {
    this.#step();
    if (rules.never) return this.#note(path, value, "is not accepted");
    const fitsSelf = this.#fitsType(rules, value, path) && this.#fitsConstants(rules, value, path);
    return fitsSelf && this.#fitsKind(rules, value, path) && this.#fitsParts(rules, value, path);
  }

  #fitsKind(rules: Rules, value: unknown, path: string): boolean {
    if (typeof value === "number") return this.#fitsNumber(rules, value, path);
    if (typeof value === "string") return this.#fitsText(rules, value, path);
    if (Array.isArray(value)) return this.#fitsList(rules, value, path);
    return typeof value !== "object" || value === null || this.#fitsObject(rules, value, path);
  }

  #fitsType({ type }: Rules, value: unknown, path: string): boolean {
    if (type === undefined) return true;
    this.#step(type.length);
    if (type.some((name) => isOfType(value, name))) return true;
    return this.#note(path, value, `must be of type ${type.join(" or ")}`);
  }

  #fitsConstants({ enum: allowed, const: constant }: Rules, value: unknown, path: string): boolean {
    if (constant !== undefined && !this.#equal(constant.value, value)) {
      return this.#note(path, value, () => `must be ${this.#list([constant.value])}`);
    }
    if (allowed === undefined || allowed.some((one) => this.#equal(one, value))) return true;
    // A search among more would cost more than the steps say.
    const hint = () => allowed.length > NEAREST_MAX ? "" : hintNearest(value, allowed);
    return this.#note(path, value, () => `must be one of ${this.#list(allowed)}`, hint);
  }

  #fitsNumber(rules: Rules, value: number, path: string): boolean {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rules;
    this.#step();
    if (minimum !== undefined && value < minimum) return this.#note(path, value, `must be at least ${minimum}`);
    if (maximum !== undefined && value > maximum) return this.#note(path, value, `must be at most ${maximum}`);
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
      return this.#note(path, value, `must be more than ${exclusiveMinimum}`);
    }
    if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
      return this.#note(path, value, `must be less than ${exclusiveMaximum}`);
    }
    if (multipleOf === undefined || isMultiple(value, multipleOf)) return true;
    return this.#note(path, value, `must be a multiple of ${multipleOf}`);
  }

  #fitsText({ minLength, maxLength }: Rules, value: string, path: string): boolean {
    if (minLength === undefined && maxLength === undefined) return true;
    this.#step(2 * value.length);
    // In characters and not in units of UTF-16, as JSON Schema counts.
    let length = 0;
    for (const _character of value) length++;
    return this.#fitsCount(length, minLength, maxLength, path, value, "characters");
  }

  #fitsList(rules: Rules, values: readonly unknown[], path: string): boolean {
    const { items, prefixItems = [], uniqueItems, minItems, maxItems } = rules;
    let fits = this.#fitsCount(values.length, minItems, maxItems, path, values, "entries");
    if (uniqueItems === true) {
      const texts = new Set(values.map((each) => this.#canonical(each)));
      if (texts.size < values.length) fits = this.#note(path, values, "must not hold a value twice");
    }
    for (const [i, value] of values.entries()) {
      const rule = prefixItems[i] ?? items;
      if (rule !== undefined && !this.fits(rule, value, `${path}/${i}`)) fits = false;
      if (this.#isDone(fits)) break;
    }
    return fits;
  }

  #fitsObject(rules: Rules, object: object, path: string): boolean {
    const { properties, required = [], additionalProperties } = rules;
    const entries = Object.entries(object);
    this.#step(STEP_CHARACTERS * (required.length + entries.length));
    let fits = this.#fitsCount(entries.length, rules.minProperties, rules.maxProperties, path, object, "keys");
    for (const name of required) {
      if (!Object.hasOwn(object, name)) fits = this.#note(path + pointer([name]), undefined, "is required");
    }
    for (const [name, value] of entries) {
      const own = properties?.get(name);
      const rule = own ?? additionalProperties;
      if (rule === undefined) continue;
      const at = path + pointer([name]);
      if (own === undefined && rule.never) {
        fits = this.#note(at, undefined, () => `is not a known parameter${this.#listKnown(properties, name)}`);
      } else if (!this.fits(rule, value, at)) fits = false;
      if (this.#isDone(fits)) break;
    }
    return fits;
  }

  #fitsParts(rules: Rules, value: unknown, path: string): boolean {
    let fits = true;
    for (const rule of rules.allOf ?? []) fits = this.fits(rule, value, path) && fits;
    if (rules.anyOf !== undefined && this.#countFitting(rules.anyOf, value, 1) === 0) {
      fits = this.#note(path, value, `must fit one of ${rules.anyOf.length} alternatives`);
    }
    if (rules.oneOf !== undefined) {
      const count = this.#countFitting(rules.oneOf, value, 2);
      const problem = count === 0 ? "none" : "more than one";
      if (count !== 1) {
        fits = this.#note(
          path,
          value,
          `must fit exactly one of ${rules.oneOf.length} alternatives and fits ${problem}`,
        );
      }
    }
    if (rules.not !== undefined && this.#countFitting([rules.not], value, 1) === 1) {
      fits = this.#note(path, value, "must not fit what the schema excludes");
    }
    if (rules.if === undefined) return fits;
    const chosen = this.#countFitting([rules.if], value, 1) === 1 ? rules.then : rules.else;
    return chosen === undefined ? fits : this.fits(chosen, value, path) && fits;
  }

  /** How many of the alternatives a value fits; the count stops at `enough`. */
  #countFitting(alternatives: readonly Rules[], value: unknown, enough: number): number {
    const issues = this.#issues;
    this.#issues = null;
    let count = 0;
    for (const rule of alternatives) {
      if (this.fits(rule, value, "") && ++count === enough) break;
    }
    this.#issues = issues;
    return count;
  }

  #fitsCount(
    count: number,
    min: number | undefined,
    max: number | undefined,
    path: string,
    value: unknown,
    unit: "characters" | "entries" | "keys",
  ): boolean {
    const verb = unit === "keys" ? "have" : "be";
    const end = unit === "keys" ? "" : " long";
    if (min !== undefined && count < min) return this.#note(path, value, `must ${verb} at least ${min} ${unit}${end}`);
    if (max !== undefined && count > max) return this.#note(path, value, `must ${verb} at most ${max} ${unit}${end}`);
    return true;
  }

  /** True if a longer search would find nothing new. */
  #isDone(fits: boolean): boolean {
    return !fits && (this.#issues === null || this.#issues.length >= ISSUES_MAX);
  }

  /** @param rule A function where writing it takes long: most complaints are not the value's. */
  #note(path: string, value: unknown, rule: string | (() => string), hint = () => ""): false {
    if (this.#issues === null || this.#issues.length >= ISSUES_MAX) return false;
    this.#stepInto(value);
    const text = typeof rule === "string" ? rule : rule();
    this.#issues.push({ path, message: value === undefined ? text : `${text}, not ${quote(value)}${hint()}` });
    return false;
  }

  #listKnown(properties: ReadonlyMap<string, Rules> = new Map(), name: string): string {
    if (properties.size === 0) return "";
    const names = [...properties.keys()];
    // A search among more would cost more than the steps say.
    const near = names.length > NEAREST_MAX ? "" : hintNearest(name, names);
    return near === "" ? `; there are ${this.#list(names)}` : `${near} There are ${this.#list(names)}`;
  }

  #list(values: readonly unknown[]): string {
    const listed = values.slice(0, LISTED_MAX);
    this.#stepInto(listed);
    const more = values.length - LISTED_MAX;
    return listed.map(quote).join(", ") + (more > 0 ? ` and ${more} more` : "");
  }

  #equal(a: unknown, b: unknown): boolean {
    this.#step(typeof a === "string" && typeof b === "string" ? Math.min(a.length, b.length) : 0);
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
    this.#step(STEP_CHARACTERS * (left.length + right.size));
    if (left.length !== right.size) return false;
    return left.every(([key, value]) => right.has(key) && this.#equal(value, right.get(key)));
  }

  /** A text that equal values share. */
  #canonical(value: unknown): string {
    this.#step(STEP_CHARACTERS + (typeof value === "string" ? 2 * value.length : 0));
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map((each) => this.#canonical(each)).join()}]`;
    const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
    this.#step(STEP_CHARACTERS * entries.length);
    return `{${entries.map(([key, each]) => `${this.#canonical(key)}:${this.#canonical(each)}`).join()}}`;
  }

  /** Counts the steps of writing a value down. */
  #stepInto(value: unknown): void {
    this.#step(typeof value === "string" ? value.length : 0);
    if (typeof value !== "object" || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      this.#step(key.length);
      this.#stepInto(each);
    }
  }

  #step(characters = 0): void {
    this.#steps.take(characters);
  }
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "integer":
      return Number.isInteger(value);
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    default:
      return typeof value === "number";
  }
}

/** Divisions round: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= Math.max(1e-9, Math.abs(quotient) * Number.EPSILON);
}

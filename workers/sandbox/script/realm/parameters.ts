/** The parameters that a script reads, by the text of the function that it passes to `strategy` or `portfolio`. */

import { noteMember, notePattern, stripComments } from "./default_values.ts";

type Make = (parameters: unknown, series: unknown) => unknown;

/**
 * Calls the function that makes the strategy.
 *
 * @param given With `x-undeclared` where no schema declares the parameters.
 * @throws {TypeError} When it is given a parameter that is undeclared and that it cannot read. Names that begin with `x-` are the
 * client's remarks.
 */
export function callFactory(make: Make, given: Readonly<Record<string, unknown>>, series: unknown): unknown {
  const { "x-undeclared": isUndeclared, ...parameters } = given;
  return isUndeclared === true ? callKnowing(make, parameters, series) : make(parameters, series);
}

/** Calls it, and refuses the parameters that it does not read. */
export function callKnowing(make: Make, parameters: object, series: unknown): unknown {
  const given = Object.keys(parameters).filter((name) => !name.startsWith("x-"));
  const text = String(make);
  if (hasPattern(text)) {
    const { made, names } = callWatched(make, parameters, series);
    if (names !== null) refuseUnknown(given, names);
    return made;
  }
  const names = readNames(text);
  if (names !== null) refuseUnknown(given, names);
  return make(parameters, series);
}

/** True for a function that takes its parameters apart: a pattern reads what it names before the first line, and nobody has them afterwards. */
export function hasPattern(text: string): boolean {
  return /^(?:async\s+)?(?:function\b)?\s*[\w$]*\s*\(\s*\{/.test(text) && !/\barguments\b/.test(text);
}

/** Calls a function that takes its parameters apart. @returns The names that it has read; null: it has taken all there are. */
export function callWatched(
  make: Make,
  parameters: object,
  series: unknown,
): { readonly made: unknown; readonly names: readonly string[] | null } {
  const known = new Set<string>();
  let isOpen = false;
  const get = (from: object, name: string | symbol): unknown => {
    known.add(String(name));
    return Reflect.get(from, name);
  };
  const ownKeys = (from: object): (string | symbol)[] => {
    isOpen = true;
    return Reflect.ownKeys(from);
  };
  const made = make(new Proxy(parameters, { get, ownKeys }), series);
  return { made, names: isOpen ? null : [...known] };
}

/**
 * A schema of the parameters that a function reads, with the defaults that its text says; null where a run with other values may read
 * others. It says no types, since a default of 3 does not tell what else the code takes.
 * Calls it once more with the parameters of its last call.
 */
export function describeParameters(make: Make, parameters: object, series: unknown): object | null {
  const text = String(make);
  try {
    const names = hasPattern(text) ? namesOfPattern(text, make, parameters, series) : readNames(text);
    // These two are the service's own, and no script is given them.
    const isOdd = (name: string) => name === "" || name.length > 100 || name === "runtime" || name === "execution";
    const known = names === null ? null : [...new Set(names)];
    if (known === null || known.length > 200 || known.some(isOdd)) return null;
    const defaults = readDefaults(text);
    const propertyOf = (name: string) => defaults.get(name) === undefined ? {} : { default: defaults.get(name) };
    const properties = Object.fromEntries(known.map((name) => [name, propertyOf(name)]));
    return { $comment: "Read from the code", type: "object", properties, additionalProperties: false };
  } catch {
    return null;
  }
}

/** The names in a pattern; null: one is computed, perhaps from another parameter. */
export function namesOfPattern(
  text: string,
  make: Make,
  parameters: object,
  series: unknown,
): readonly string[] | null {
  const pattern = findPattern(text);
  return pattern === null || hasComputedName(pattern) ? null : callWatched(make, parameters, series).names;
}

/** The first pattern of a text, without its last brace; null: it does not end. */
export function findPattern(text: string): string | null {
  let depth = 0;
  const start = text.indexOf("{");
  for (
    const { 0: part, index } of text.slice(start).matchAll(
      /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|[{}]/g,
    )
  ) {
    depth += part === "{" ? 1 : part === "}" ? -1 : 0;
    if (depth <= 0) return text.slice(start, start + index);
  }
  return null;
}

/** The default values that a function's text says of its parameters. */
export function readDefaults(text: string): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  const code = stripComments(text);
  if (hasPattern(code)) notePattern(values, findPattern(code)?.slice(1) ?? "");
  else {
    readNames(code, {
      member: (name, before, behind) => noteMember(values, name, before, behind),
      pattern: (inner) => notePattern(values, inner),
    });
  }
  // It is the service's own, and the default of a schema would be that of every run.
  values.delete("timeframe");
  return values;
}

/** True of `[name]:` in a pattern. Each part between braces is read once, however long it is. */
export function hasComputedName(pattern: string): boolean {
  for (const { 0: part, index } of pattern.matchAll(/[^{}]+/g)) {
    const open = (pattern[index - 1] === "{" ? /(?:^|,)\s*\[/ : /,\s*\[/).exec(part);
    if (open !== null && /\]\s*:/.test(part.slice(open.index))) return true;
  }
  return false;
}

/** Gets each place at which a parameter is read, with the text before and behind it. */
interface Places {
  readonly member: (name: string, before: string, behind: string) => void;
  readonly pattern: (inner: string) => void;
}

/** The parameters that a function reads by their names; null: it may read others. */
export function readNames(text: string, places: Places | null = null): readonly string[] | null {
  if (/\barguments\b|\[native code\]/.test(text)) return null;
  if (/^(?:function\b)?\s*[\w$]*\s*\(\s*\)/.test(text)) return [];
  const own = /^(?:function\b\s*[\w$]*\s*\(|\(|(?=[\w$]+\s*=>))\s*([\w$]+)\s*(?:[,)]|=>)/.exec(text)?.[1];
  if (own === undefined) return null;
  const names: string[] = [];
  // Its own declaration is the first place that names it.
  const rest = text.slice(text.indexOf(own) + own.length);
  for (
    const { index } of rest.matchAll(
      new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)${own.replaceAll("$", "\\$")}(?![\\w$])`, "g"),
    )
  ) {
    const behind = rest.slice(index + own.length);
    const [read = "", property] = /^\s*\??\.\s*([\w$]+)/.exec(behind) ?? [];
    if (property !== undefined) {
      names.push(property);
      places?.member(property, rest.slice(0, index), behind.slice(read.length));
      continue;
    }
    const before = rest.slice(Math.max(0, rest.lastIndexOf("{", index)), index);
    const pattern = /^\{([^{}]*)\}\s*=\s*$/.exec(before)?.[1];
    if (pattern !== undefined && !pattern.includes("...")) {
      places?.pattern(pattern);
      for (const part of pattern.split(",")) names.push(/^\s*([\w$]*)/.exec(part)![1]!);
    } else return null;
  }
  return names;
}

export function refuseUnknown(given: readonly string[], names: readonly string[]): void {
  const unknown = given.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const known = [...new Set(names)].filter((name) => name !== "");
  const list = known.length === 0 ? "none" : known.join(", ");
  throw new TypeError(`${unknown} is no parameter of the script: it reads ${list}`);
}

/** The parameters that a script reads and the run does not give, in words. */
export function findMissing(make: Make | null, parameters: unknown, series: unknown): string {
  const missing: string[] = [];
  const get = (given: object, name: string | symbol): unknown => {
    if (!(name in given)) missing.push(String(name));
    return Reflect.get(given, name);
  };
  make?.(new Proxy(Object(parameters), { get }), series);
  return missing.length === 0 ? "" : `: the run gives no parameter ${missing.join(", ")}`;
}

/** The parameters that a script reads, by the text of the function that it passes to `strategy` or `portfolio`. */

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
  const known = new Set<string>();
  // A pattern reads what it names before the function's first line, and nobody has the parameters afterwards.
  if (/^(?:async\s+)?(?:function\b)?\s*[\w$]*\s*\(\s*\{/.test(text) && !/\barguments\b/.test(text)) {
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
    if (!isOpen) refuseUnknown(given, [...known]);
    return made;
  }
  const names = readNames(text);
  if (names !== null) refuseUnknown(given, names);
  return make(parameters, series);
}

/** The parameters that a function reads by their names; null: it may read others. */
export function readNames(text: string): readonly string[] | null {
  if (/\barguments\b/.test(text)) return null;
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
    const property = /^\s*\??\.\s*([\w$]+)/.exec(rest.slice(index + own.length))?.[1];
    const pattern = /\{([^{}]*)\}\s*=\s*$/.exec(rest.slice(0, index))?.[1];
    if (property !== undefined) names.push(property);
    else if (pattern !== undefined && !pattern.includes("...")) {
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

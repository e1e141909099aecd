/** A name that scripts know: its declaration in one line, and its documentation. */
export interface Known {
  readonly name: string;
  readonly signature: string;
  readonly doc: string;
}

/** The names of the language of scripts, read from the declaration that the service serves. */
export interface Declaration {
  readonly globals: readonly Known[];
  /** The members of each interface, inherited ones too. */
  readonly members: ReadonlyMap<string, readonly Known[]>;
  /** The interface of a parameter, as in `orders`. */
  readonly parameters: ReadonlyMap<string, string>;
}

const DOC = String.raw`(?:\/\*\*((?:(?!\*\/)[^])*)\*\/\s*)?`;
const GLOBAL = new RegExp(String.raw`${DOC}^declare (?:function|const) (\w+)(.*?);$`, "gms");
const INTERFACE = /^interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}/gms;
const MEMBER = new RegExp(String.raw`${DOC}^  (?:readonly )?(\w+)(.*?);$`, "gms");

/**
 * Reads strategy.d.ts. A language service of TypeScript would be twenty times as large as the editor; a script uses few names, and
 * these are all of them.
 */
export function readDeclaration(text: string): Declaration {
  const members = new Map<string, readonly Known[]>();
  const bases = [...text.matchAll(INTERFACE)].map(([, name = "", base, body = ""]) => {
    members.set(name, [...body.matchAll(MEMBER)].map(toKnown));
    return [name, base] as const;
  });
  for (const [name, base] of bases) {
    if (base !== undefined) members.set(name, [...members.get(name) ?? [], ...members.get(base) ?? []]);
  }
  const decisions = (members.get("Strategy") ?? []).map(({ signature }) => signature).join(" ");
  const parameters = [...decisions.matchAll(/(\w+): (\w+)/g)].filter(([, , type = ""]) => members.has(type));
  return {
    // Of a function with several declarations, the first.
    globals: [...text.matchAll(GLOBAL)].map(toKnown)
      .filter(({ name }, n, all) => all.findIndex((each) => each.name === name) === n),
    members,
    parameters: new Map(parameters.map(([, name = "", type = ""]) => [name, type])),
  };
}

function toKnown([, doc = "", name = "", rest = ""]: RegExpMatchArray): Known {
  const signature = `${name}${rest}`.replaceAll(/\/\/.*/g, "").replaceAll(/\s+/g, " ").replaceAll(
    /\( | \)|,(?= ?\))/g,
    trim,
  );
  return { name, signature, doc: doc.replaceAll(/^\s*\* ?/gm, " ").replaceAll(/\s+/g, " ").trim() };
}

function trim(mark: string): string {
  return mark.replace(",", "").trim();
}

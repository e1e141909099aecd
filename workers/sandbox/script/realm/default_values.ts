/** Default values of a script's parameters, as far as its text says them: numbers, texts, true and false. */

/** Values by name; undefined for a name whose reads say no value, or different ones. */
type DefaultValues = Map<string, unknown>;

/** The text of a function without its comments. */
export function stripComments(text: string): string {
  return text.replace(
    /\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\[^]|[^`\\])*`/g,
    (part) => part.startsWith("/") ? " " : part,
  );
}

/** The value of a literal; undefined for any other expression. */
export function readLiteral(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  if (/^(?:"[^"\\\n]{0,100}"|'[^'\\\n]{0,100}')$/.test(text)) return text.slice(1, -1);
  if (!/^-?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/.test(text)) return undefined;
  const value = Number(text.replaceAll("_", ""));
  return Number.isFinite(value) ? value : undefined;
}

/** Adds what one read of a parameter says. */
export function noteDefault(values: DefaultValues, name: string, value: unknown): void {
  values.set(name, !values.has(name) || Object.is(values.get(name), value) ? value : undefined);
}

/** Notes the values of a pattern. @param inner Without its braces: `fast = 10, slow: other = 30`. */
export function notePattern(values: DefaultValues, inner: string): void {
  let [depth, from] = [0, 0];
  const note = (until: number): void => {
    const [, name, quoted, also, value = ""] =
      /^(?:([\w$]+)|"([^"\\]*)"|'([^'\\]*)')\s*(?::\s*[\w$]+\s*)?(?:=([^]*))?$/.exec(inner.slice(from, until).trim()) ??
        [];
    const known = name ?? quoted ?? also;
    if (known !== undefined) noteDefault(values, known, readLiteral(value.trim()));
    from = until + 1;
  };
  const marks = inner.matchAll(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\[^]|[^`\\])*`|[{}()[\],]/g);
  for (const { 0: part, index } of marks) {
    if (part === "{" || part === "(" || part === "[") depth++;
    else if (part === "}" || part === ")" || part === "]") depth--;
    else if (part === "," && depth === 0) note(index);
  }
  note(inner.length);
}

/**
 * Notes what a read of a member says: `given.fast ?? 10`, where nothing else belongs to the expression.
 *
 * @param before The text before the read. @param behind The text behind the member's name.
 */
export function noteMember(values: DefaultValues, name: string, before: string, behind: string): void {
  const isAlone = /(?:(?<![=!<>])=|=>|[(,:[{;?]|\breturn)\s*$/.test(before.slice(-100));
  const value = isAlone
    ? /^\s*(?:\?\?|\|\|)\s*([-\w.+]+|"[^"\\\n]*"|'[^'\\\n]*')(?=\s*[,;)}\]]|\s*$|[^\S\n]*\n\s*(?:const|let|var|return|if|for|throw)\b)/
      .exec(behind.slice(0, 300))?.[1]
    : undefined;
  noteDefault(values, name, value === undefined ? undefined : readLiteral(value));
}

/** A part of a request that cannot be used. */
export interface Issue {
  /** The faulty value's JSON pointer, from the text that was read on: `/fast/step`. */
  readonly path: string;
  readonly message: string;
}

/** A value that was read from a request, or every part of it that prevented that. */
export type Parsed<T> =
  | { readonly value: T; readonly issues?: never }
  | { readonly value?: never; readonly issues: readonly [Issue, ...Issue[]] };

/** The value, where there are no issues. */
export function parsed<T>(value: T, issues: readonly Issue[]): Parsed<T> {
  const [first, ...rest] = issues;
  return first === undefined ? { value } : { issues: [first, ...rest] };
}

const QUOTED_LENGTH_MAX = 80;

/** A value as a message shows it. */
export function quote(value: unknown): string {
  const text = typeof value === "number" ? String(value) : JSON.stringify(value) ?? "nothing";
  return text.length <= QUOTED_LENGTH_MAX ? text : `${text.slice(0, QUOTED_LENGTH_MAX - 3)}...`;
}

/** A name as a step of a JSON pointer. */
export function step(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

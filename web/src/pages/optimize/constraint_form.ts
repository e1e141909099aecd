/** Constraints that are chosen: a parameter, a comparison, and another parameter or a value. Any other stays a text. */

/** The comparisons between two numbers, in words. */
export const COMPARISONS = {
  "<": "is less than",
  "<=": "is at most",
  ">": "is more than",
  ">=": "is at least",
  "==": "equals",
  "!=": "differs from",
} as const;

/** One that is chosen. */
export interface Rule {
  left: string;
  comparison: keyof typeof COMPARISONS;
  /** A parameter; empty: the value. */
  right: string;
  /** The number, as typed. */
  value: string;
}

const SIMPLE = /^\s*([A-Za-z_]\w*|"[^"]*")\s*(<=|>=|==|!=|<|>)\s*(-?[\d.]+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|"[^"]*")\s*$/;

/** The constraint as the service reads it. */
export function toConstraint({ left, comparison, right, value }: Rule): string {
  return `${quote(left)} ${comparison} ${right === "" ? value.trim() : quote(right)}`;
}

/** The two forms of constraints. @param names The parameters that can be chosen. */
export function readConstraints(constraints: readonly string[], names: readonly string[]) {
  const read = constraints.map((text) => readRule(text, names));
  return {
    rules: read.filter((rule) => rule !== null),
    constraints: constraints.filter((_, i) => read[i] === null).join("\n"),
  };
}

function readRule(text: string, names: readonly string[]): Rule | null {
  const [, left, comparison, right] = SIMPLE.exec(text) ?? [];
  if (left === undefined || comparison === undefined || right === undefined || !isComparison(comparison)) return null;
  const isValue = Number.isFinite(Number(right));
  const [own, other] = [left, right].map((name) => name.replace(/^"(.*)"$/s, "$1"));
  if (own === undefined || other === undefined || !names.includes(own)) return null;
  if (isValue) return { left: own, comparison, right: "", value: right };
  return names.includes(other) ? { left: own, comparison, right: other, value: "" } : null;
}

function isComparison(text: string): text is Rule["comparison"] {
  return Object.hasOwn(COMPARISONS, text);
}

function quote(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `"${name}"`;
}

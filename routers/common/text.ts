import type { Issue } from "./errors.ts";

/** Deepest nesting of objects and lists. */
export const DEPTH_MAX = 32;

const NO_TEXT = "must be text without U+0000 and without half of a surrogate pair";

/**
 * Finds the first part of a value that cannot be stored: text that no database column can hold, in keys or values, numbers that JSON
 * cannot hold (1e400 is read as Infinity), and too deep nesting.
 *
 * @returns The issue; undefined where all can be stored.
 */
export function findUnstorable(value: unknown, path = "", depth = 1): Issue | undefined {
  if (typeof value === "string") return isStorable(value) ? undefined : { path, message: NO_TEXT };
  if (typeof value === "number" && !Number.isFinite(value)) return { path, message: `must be a number, not ${value}` };
  // Streams and bytes are not text yet.
  if (!Array.isArray(value) && !isPlain(value)) return undefined;
  if (depth > DEPTH_MAX) return { path, message: `must not be nested more than ${DEPTH_MAX} levels deep` };
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return { path, message: `has a key that ${NO_TEXT}` };
    const found = findUnstorable(inner, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isStorable(text: string): boolean {
  return !text.includes("\0") && text.isWellFormed();
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

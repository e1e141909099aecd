import type { Issue } from "./errors.ts";

const MESSAGE = "must be text without U+0000 and without half of a surrogate pair";

/**
 * Finds text that no database column can hold, in keys or values, however deep.
 *
 * @returns What to tell the caller, or undefined where all is well.
 */
export function findUnstorable(value: unknown, path = ""): Issue | undefined {
  if (typeof value === "string") return isStorable(value) ? undefined : { path, message: MESSAGE };
  // Streams and bytes are not looked into: they are no text yet.
  if (!Array.isArray(value) && !isPlain(value)) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return { path, message: `has a key that ${MESSAGE}` };
    const found = findUnstorable(inner, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
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

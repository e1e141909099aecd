import { z } from "zod";
import { AppError, mustBe, quote } from "./errors.ts";

/** A whole number that may arrive as text, as it does in a query string. */
export const integerSchema = z.union(
  [z.number(), z.string().regex(/^\d{1,15}$/).transform(Number)],
  mustBe("a whole number"),
).pipe(z.int());

/** The paging keys of every list. */
export const pageShape = {
  limit: integerSchema.pipe(z.int().min(1).max(200)).default(50),
  cursor: z.string().max(200).optional(),
};

/** The key after which the next page begins, wrapped so that clients do not build on it. */
export function encodeCursor(key: string): string {
  return btoa(key).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * What encodeCursor() wrapped.
 *
 * @param shape What the key must look like, since a cursor comes from outside.
 * @throws AppError VALIDATION_FAILED for a cursor that we did not make.
 */
export function decodeCursor<T>(cursor: string | undefined, shape: z.ZodType<T>): T | undefined {
  if (cursor === undefined) return undefined;
  let key: string | undefined;
  try {
    key = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    // Not base64: refused below like any other foreign cursor.
  }
  const parsed = shape.safeParse(key);
  if (parsed.success) return parsed.data;
  const message = `must be the next_cursor of an earlier answer, not ${quote(cursor)}`;
  throw new AppError("VALIDATION_FAILED", `Cannot continue the list: /cursor ${message}`, {
    issues: [{ path: "/cursor", message }],
  });
}

/**
 * Cuts a list that was read one row too long.
 *
 * @param rows At most `limit + 1` rows.
 * @param key The cursor key of a row.
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  key: (row: Row) => string,
): { page: readonly Row[]; next_cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(key(last)) : null };
}

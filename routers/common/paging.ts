import { z } from "zod";
import type { AnswerBudget } from "./answer_budget.ts";
import type { Column, Format } from "../../workers/rows/table_format.ts";
import { AppError, mustBe, quote } from "./errors.ts";
import { showAll } from "./stored_records.ts";

/** A whole number that may arrive as text, as it does in a query string. */
export const integerSchema = z.union(
  [z.number(), z.string().regex(/^\d{1,15}$/).transform(Number)],
  mustBe("a whole number"),
).pipe(z.int());

const limitSchema = integerSchema.pipe(z.int().min(1).max(200));
const cursorSchema = z.string().max(200);

/** The paging keys of every list. */
export const pageShape = {
  limit: limitSchema.default(50),
  cursor: cursorSchema.optional(),
  /** Sent by tRPC's infinite queries; there is no other direction. */
  direction: z.literal("forward").optional(),
};

/** The paging keys of a list that is complete without `limit`. */
export const listShape = { limit: limitSchema.optional(), cursor: cursorSchema.optional() };

/** A stored list, and how it is shown. */
export interface List<Row, Item> {
  /** Reads the rows behind a key, in order. */
  read(after: string | undefined, limit: number): Promise<readonly Row[]>;
  key(row: Row): string;
  /** Undefined for a row that is left out. */
  show(row: Row): Item | undefined;
  /** Rows that are read, and so in memory, at once. */
  readonly pieceRows: number;
  /** Most rows are left out, so that a page reads whole pieces, however few rows it wants. */
  readonly isSparse?: boolean;
}

/** A page of a list; `next_cursor` is null where nothing is left. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/**
 * Reads a page of a list. It ends at `limit` rows or where the request's bytes end, with one row at least.
 *
 * @param page `after`: the key of the last row that is known.
 */
export async function readListPage<Row, Item>(
  list: List<Row, Item>,
  page: { readonly limit: number; readonly after: string | undefined },
  budget: AnswerBudget,
): Promise<Page<Item>> {
  return await budget.inTurn(async () => {
    const bytesMax = budget.pageBytes;
    const items: Item[] = [];
    let [bytes, after] = [0, page.after];
    for (;;) {
      const wanted = list.isSparse === true ? list.pieceRows : page.limit + 1 - items.length;
      const count = Math.min(list.pieceRows, wanted);
      const rows = await list.read(after, count);
      for (const row of rows) {
        const item = list.show(row);
        if (item === undefined) {
          after = list.key(row);
          continue;
        }
        const itemBytes = JSON.stringify(item).length;
        const isFull = items.length === page.limit || bytes + itemBytes > bytesMax;
        if (isFull && items.length > 0 && after !== undefined) return { items, next_cursor: encodeCursor(after) };
        budget.take(itemBytes);
        bytes += itemBytes;
        items.push(item);
        after = list.key(row);
      }
      if (rows.length < count) return { items, next_cursor: null };
    }
  });
}

/** A list that is sent while it is read. */
export interface ListAnswer {
  /** The key of the list in the answer. */
  readonly name: string;
  readonly pages: AsyncGenerator<Page<object>>;
  /** How its rows are CSV and Arrow; without it, the list is JSON alone. */
  readonly table?: {
    readonly format: Format | undefined;
    readonly columns: readonly Column[];
    /** An item as a flat row; absent where its JSON is one. */
    readonly toRow?: (item: object) => object;
    /** The list ends at the request's limit. */
    readonly isPage: boolean;
    /** Writes the rows of a long list without `pages`: JSON without brackets, CSV without its head, batches of Arrow. */
    readonly write?: (format: Format) => AsyncGenerator<Uint8Array<ArrayBuffer>>;
  };
}

/** Reads a list in pieces: one page where there is a limit, else everything. */
export async function* readList<Row, Item>(
  list: List<Row, Item>,
  page: { readonly limit: number | undefined; readonly after: string | undefined },
  budget: AnswerBudget,
): AsyncGenerator<Page<Item>> {
  const { limit } = page;
  if (limit !== undefined) return yield await readListPage(list, { ...page, limit }, budget);
  let { after } = page;
  for (;;) {
    const rows = await list.read(after, list.pieceRows);
    const last = rows.at(-1);
    const isEnd = last === undefined || rows.length < list.pieceRows;
    yield { items: showAll(rows, (row) => list.show(row)), next_cursor: isEnd ? null : encodeCursor(list.key(last)) };
    if (isEnd) return;
    after = list.key(last);
  }
}

/** The key after which the next page begins, wrapped so that clients do not build on it. */
export function encodeCursor(key: string): string {
  return btoa(key).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * The value that encodeCursor() wrapped.
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

/** Cuts a list that was read one row too long. @param rows At most `limit + 1` rows. @param key The cursor key of a row. */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  key: (row: Row) => string,
): { page: readonly Row[]; next_cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(key(last)) : null };
}

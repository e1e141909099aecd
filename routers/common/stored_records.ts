import { getLogger } from "@logtape/logtape";
import type { z } from "zod";
import { findUnreadable, readRecord } from "../../db/codec/unreadable.ts";

const log = getLogger(["hindcast", "records"]);

// A record is logged once, or a client that polls it would fill the log. The process remembers this many.
const LOGGED_MAX = 1_000;
const logged = new Set<string>();

/**
 * Shows stored rows as the records that clients read.
 *
 * @param nameOf The noun and the key of a row, as in `backtest 0190b…`.
 * @param schema What clients are promised.
 * @throws {UnreadableRecord} From the function that it returns, for a row that cannot be shown so.
 */
export function recordReader<Row, Item, More extends readonly unknown[]>(
  nameOf: (row: Row) => string,
  schema: z.ZodType<Item>,
  show: (row: Row, ...more: More) => Item,
): (row: Row, ...more: More) => Item {
  return (row, ...more) =>
    readRecord(nameOf(row), () => {
      const item = show(row, ...more);
      schema.parse(item);
      return item;
    });
}

/**
 * Shows the rows of a list of records. One that this build cannot read is left out and logged: the others are of use without it.
 *
 * @returns A function that gives undefined for a row that is left out.
 */
export function leavingOutUnreadable<Row, Item>(show: (row: Row) => Item): (row: Row) => Item | undefined {
  return (row) => {
    try {
      return show(row);
    } catch (error) {
      if (findUnreadable(error) === undefined) throw error;
      logUnreadable(error);
      return undefined;
    }
  };
}

/** The items of a list of records that this build can read; see leavingOutUnreadable(). */
export function showReadable<Row, Item>(rows: readonly Row[], show: (row: Row) => Item): Item[] {
  return showAll(rows, leavingOutUnreadable(show));
}

/** The items of rows that are not left out. */
export function showAll<Row, Item>(rows: readonly Row[], show: (row: Row) => Item | undefined): Item[] {
  return rows.map(show).filter((item) => item !== undefined);
}

/** Tells the operator, once a record, what cannot be read and why; nothing where an error has another cause. */
export function logUnreadable(error: unknown): void {
  const unreadable = findUnreadable(error);
  if (unreadable === undefined || logged.has(unreadable.record)) return;
  const { record, cause } = unreadable;
  if (logged.size >= LOGGED_MAX) logged.clear();
  logged.add(record);
  log.error("Cannot read the {record}, which a newer build may have written: {error}", { record, error: cause });
}

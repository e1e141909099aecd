import { sql } from "drizzle-orm";
import type { Db } from "./database.ts";
import { hasCode } from "./postgres/sql_states.ts";

// Sixteen pages and more: a table that has room already would say nothing about the disk.
const ROWS = 2048;

/**
 * Writes a temporary table of 128 KiB and removes it: its pages are new, so that a full disk refuses them.
 *
 * @throws When the database cannot be written; see explainRefusedWrite().
 */
export async function probeWrite(db: Db): Promise<void> {
  await db.execute(sql.raw(`
    create temporary table hindcast_write_probe on commit drop as
      select md5(i::text) as filler from generate_series(1, ${ROWS}) as i`));
}

/** The reason of a write that the database refused, in words. */
export function explainRefusedWrite(error: Error): string {
  if (hasCode(error, "25006")) return "the database is read-only: its disk is nearly full, or it is a replica";
  if (hasCode(error, "53100")) return "the database's disk is full";
  if (hasCode(error, "42501")) return "the database's user may not create temporary tables";
  return "the database cannot be written";
}

import { and, inArray, notExists, sql } from "drizzle-orm";
import type { SharedCandles } from "./codec/result_parts.ts";
import type { Db } from "./database.ts";
import { NOTHING } from "./stored_bytes.ts";
import { queryText } from "./postgres_session.ts";
import { resultCandles, resultChunks } from "./schema.ts";

/** Stores the candles of results, once for equal bytes; those that are stored stay. */
export async function insertResultCandles(tx: Db, candles: readonly SharedCandles[]): Promise<void> {
  // In one order everywhere, or two transactions could wait for each other.
  const rows = [...new Map(candles.map((one) => [one.sha256, one])).entries()].sort(([a], [b]) => a < b ? -1 : 1);
  await Promise.all(
    rows.map(([, { sha256, data, object = null }]) =>
      queryText(tx, INSERT, [sha256, object === null ? data : NOTHING, object])
    ),
  );
}

const INSERT = "insert into result_candles (sha256, data, object) values ($1, $2, $3) on conflict do nothing";

/**
 * Removes candles that no result needs any more.
 *
 * @param tx A transaction of its own: it locks the rows that it reads until it ends.
 * @returns How many; fewer than `countMax` when no more are unused, or other transactions hold them.
 */
export async function removeUnusedCandles(tx: Db, countMax: number): Promise<number> {
  const unused = notExists(
    tx.select({ one: sql`1` }).from(resultChunks).where(sql`${resultChunks.candles} = ${resultCandles.sha256}`),
  );
  // Rows that a result refers to in an open transaction are skipped.
  const locked = await tx.select({ sha256: resultCandles.sha256 }).from(resultCandles).where(unused).limit(countMax)
    .for("update", { skipLocked: true });
  // Nobody can refer to these rows now. The delete checks again for a result committed between the select and its locks.
  const sums = locked.map(({ sha256 }) => sha256);
  const removed = await tx.delete(resultCandles).where(and(inArray(resultCandles.sha256, sums), unused))
    .returning({ sha256: resultCandles.sha256 });
  return removed.length;
}

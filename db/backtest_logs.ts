import { eq, sql } from "drizzle-orm";
import type { Db } from "./database.ts";
import { storableText } from "./codec/storable.ts";
import { backtestLogs } from "./schema.ts";

/** Lines that a strategy logged in its run, and the stack of the error that ended it. */
export interface BacktestLog {
  readonly backtestId: string;
  readonly lines: readonly string[];
}

/** Stores the logs of ended runs. @param tx Holds their records. */
export async function insertLogs(tx: Db, logs: readonly BacktestLog[]): Promise<void> {
  const values = logs.filter(({ lines }) => lines.length > 0)
    .map(({ backtestId, lines }) => ({ backtestId, lines: lines.map(storableText) }));
  if (values.length === 0) return;
  await tx.insert(backtestLogs).values(values)
    .onConflictDoUpdate({ target: backtestLogs.backtestId, set: { lines: sql`excluded.lines` } });
}

/** The log of a run; empty where it logged nothing. */
export async function readLog(db: Db, backtestId: string): Promise<readonly string[]> {
  const [row] = await db.select({ lines: backtestLogs.lines }).from(backtestLogs)
    .where(eq(backtestLogs.backtestId, backtestId));
  return row?.lines ?? [];
}

/** About how many bytes a log takes in the database. */
export function measureLog(lines: readonly string[] = []): number {
  return lines.reduce((bytes, line) => bytes + 4 + line.length, 0);
}

import { eq } from "drizzle-orm";
import type { Db } from "./database.ts";
import { storableJson } from "./codec/storable.ts";
import { settleTogether } from "./faults.ts";
import { queryText } from "./postgres_session.ts";
import { backtestLogs } from "./schema.ts";

/** Lines that a strategy logged in its run, and the stack of the error that ended it. */
export interface BacktestLog {
  readonly id: string;
  /** The one that ran; the log is stored if it has ended the record. */
  readonly attempt: number;
  readonly lines: readonly string[];
}

/** Stores the logs of ended runs. */
export async function insertLogs(tx: Db, logs: readonly BacktestLog[]): Promise<void> {
  const written = logs.filter(({ lines }) => lines.length > 0);
  await settleTogether(
    written.map(({ id, attempt, lines }) => queryText(tx, INSERT, [id, attempt, storableJson(lines)])),
  );
}

const INSERT = `
  insert into backtest_logs (backtest_id, lines)
  select id, array(select json_array_elements_text($3::json)) from backtests
  where id = $1 and attempts = $2 and status in ('completed', 'failed')
  on conflict (backtest_id) do update set lines = excluded.lines`;

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

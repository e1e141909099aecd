import { eq, sql } from "drizzle-orm";
import { Buffer } from "node:buffer";
import type { Db } from "./database.ts";
import { storableJson } from "./codec/storable.ts";
import { settleTogether } from "./faults.ts";
import { queryText } from "./postgres_session.ts";
import { backtestLogs } from "./schema.ts";

/** Lines that a strategy logged in its run, and the stack of the error that ended it. */
interface BacktestLog {
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

// Beyond what a worker stores: a row of other origin holds nobody up.
const LINES_MAX = 2000;
const LINE_CHARS_MAX = 2000;

/** The log of a run; empty where it logged nothing. */
export async function readLog(db: Db, backtestId: string): Promise<readonly string[]> {
  const lines = sql<string[]>`array(
    select left(line, ${LINE_CHARS_MAX}) from unnest(${backtestLogs.lines}[1:${LINES_MAX}]) with ordinality as log(line, n) order by n)`;
  const [row] = await db.select({ lines }).from(backtestLogs).where(eq(backtestLogs.backtestId, backtestId));
  return row?.lines ?? [];
}

/** About how many bytes a log takes in the database. */
export function measureLog(lines: readonly string[] = []): number {
  return lines.reduce((bytes, line) => bytes + 4 + Buffer.byteLength(line), 0);
}

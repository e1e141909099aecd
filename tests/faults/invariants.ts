import { expect } from "@std/expect";
import { CHUNK_ROWS, EQUITY_CHUNK_ROWS } from "../../db/codec/result_parts.ts";
import type { TestClient } from "../support/client.ts";
import { readResult, type Submitted } from "./workload.ts";

const END_MS = 300_000;
const POLL_MS = 100;

/** Runs a statement on either kind of database. */
export type Query = (statement: string) => Promise<readonly unknown[]>;

/** Waits until every record and its job have ended. @throws With the unended ones after five minutes. */
export async function untilAllEnded(query: Query): Promise<void> {
  const deadline = performance.now() + END_MS;
  for (;;) {
    const left = await query(`
      select status, attempts, job.state, retry_count, retry_limit
      from backtests full join pgboss.job on job.id = backtests.id and job.name = 'backtests'
      where status in ('queued', 'running') or (job.name = 'backtests' and job.state < 'completed')`);
    if (left.length === 0) return;
    if (performance.now() > deadline) throw new Error(`Not ended: ${JSON.stringify(left)}`);
    await pause(POLL_MS);
  }
}

/** Runs checkResults() and checkRecords(). @returns How many runs began more than once. */
export async function checkAll(
  query: Query,
  submissions: Submitted,
  clean: readonly string[],
  client: TestClient,
): Promise<number> {
  await checkResults(client, submissions, clean);
  return await checkRecords(query, submissions, clean.length);
}

/**
 * Every accepted backtest has the answers of a clean run, byte for byte.
 *
 * @param client The client of the user who submitted.
 */
export async function checkResults(
  client: TestClient,
  { accepted }: Submitted,
  clean: readonly string[],
): Promise<void> {
  for (const [id, variant] of accepted) expect(await readResult(client, id)).toBe(clean[variant]);
}

/**
 * Every accepted backtest exists once, completed and whole, and no other record exists.
 *
 * @param cleanCount How many clean runs the same database has.
 * @returns How many runs began more than once.
 */
export async function checkRecords(
  query: Query,
  { accepted, unanswered }: Submitted,
  cleanCount: number,
): Promise<number> {
  const records = (await query(`select id, status, attempts from backtests`)).map(Object);
  const known = new Map(records.map((record) => [record.id, record.status]));
  for (const id of accepted.keys()) expect([id, known.get(id)]).toEqual([id, "completed"]);
  expect(new Set(known.values())).toEqual(new Set(["completed"]));
  expect(records.length).toBeGreaterThanOrEqual(accepted.size + cleanCount);
  expect(records.length).toBeLessThanOrEqual(accepted.size + unanswered + cleanCount);
  expect(await findStrays(query)).toEqual([]);
  // checkResults() reads the first pages alone: all runs of a variant have equally many trades and orders.
  const kinds = await query(`
    select distinct parameters::text, result->'run_key' as run_key,
      (select string_agg(part || ' ' || rows, ', ' order by part)
        from (select part, sum(rows) as rows from result_chunks where backtest_id = id group by part) as parts) as parts
    from backtests`);
  expect(kinds).toHaveLength(cleanCount);
  return records.filter(({ attempts }) => attempts > 1).length;
}

/**
 * Records without exactly one job, or without whole parts of one attempt alone, and jobs and chunks without a record. A part is whole when
 * its chunks are numbered from 0 without a gap and all but the last are full.
 */
async function findStrays(query: Query): Promise<readonly unknown[]> {
  return await query(`
    select 'record' as what, id::text from backtests
    where 1 <> (select count(*) from pgboss.job where name = 'backtests' and state = 'completed' and job.id = backtests.id)
      or not exists (select from result_chunks where backtest_id = backtests.id and part = 'equity')
    union all select 'attempt', backtest_id::text from result_chunks join backtests on id = backtest_id
    where attempt <> attempts
    union all select 'part', backtest_id::text from (
      select *, case part when 'equity' then ${EQUITY_CHUNK_ROWS} else ${CHUNK_ROWS} end as full_rows
      from result_chunks
    ) as chunks
    group by backtest_id, attempt, part, full_rows
    having max(chunk) <> count(*) - 1 or sum(rows) <= full_rows * max(chunk)
      or count(*) filter (where rows < full_rows) > 1
    union all select 'job', id::text from pgboss.job
    where name = 'backtests' and not exists (select from backtests where id = job.id)
    union all select 'dead', id::text from pgboss.job where name = 'backtests-dead'
    union all select 'chunks', backtest_id::text from result_chunks
    where not exists (select from backtests where id = backtest_id)`);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}

/** The statements of each run, built once, and the parameters of the one that completes it; backtests.ts has the functions that send them. */
import { and, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { BacktestResult } from "../engine/result.ts";
import { addingSizes, measureResult, type Size } from "./backtest_sizes.ts";
import { NOTIFY_OF_RECORD } from "./change_channel.ts";
import { type StoredPlot, storedPlots } from "./codec/plots_part.ts";
import type { ResultChunk } from "./codec/result_parts.ts";
import { storableJson } from "./codec/storable.ts";
import { prepareOnce } from "./prepare_once.ts";
import { insertingRows, packRows } from "./result_chunks.ts";
import type { ResultInputs } from "./result_inputs.ts";
import { UNENDED } from "./runs.ts";
import { backtests } from "./schema.ts";
import { BACKTEST_COLUMNS } from "./stale_results.ts";

// Without a result, it is not stale.
const UNENDED_COLUMNS = { ...getTableColumns(backtests), stale: sql<boolean>`false` };

export const insert = prepareOnce((db) => {
  const value = (name: keyof typeof backtests.$inferInsert) => sql`${sql.placeholder(name)}`;
  return db.insert(backtests).values({
    id: value("id"),
    ownerId: value("ownerId"),
    symbol: value("symbol"),
    exchange: value("exchange"),
    strategy: value("strategy"),
    strategySlug: value("strategySlug"),
    strategyVersion: value("strategyVersion"),
    startDate: value("startDate"),
    endDate: value("endDate"),
    initialBalance: value("initialBalance"),
    parameters: value("parameters"),
    runtime: value("runtime"),
    queuePosition: value("queuePosition"),
    changedSettings: value("changedSettings"),
    name: value("name"),
    tags: value("tags"),
    notes: value("notes"),
    star: value("star"),
    fresh: value("fresh"),
    idempotencyKey: value("idempotencyKey"),
    requestSha256: value("requestSha256"),
    sizeBytes: value("sizeBytes"),
  }).returning({ ...UNENDED_COLUMNS, notified: sql.raw(NOTIFY_OF_RECORD) });
});

/** Of `id` and `ownerId`. */
export const selectOwned = prepareOnce((db) =>
  db.select(BACKTEST_COLUMNS).from(backtests)
    .where(and(eq(backtests.id, sql.placeholder("id")), eq(backtests.ownerId, sql.placeholder("ownerId"))))
);

/** Of `ids`; `bytesMax` is the storage quota of owners without their own. */
export const claim = prepareOnce((db) => {
  // By hand: drizzle leaves the tables' names out of the columns that an update returns.
  const storedBytes = sql`coalesce(
    (select bytes from backtest_sizes where backtest_sizes.owner_id = backtests.owner_id), 0)`.mapWith(Number);
  const storedBytesMax = sql`coalesce(
    (select (quotas ->> 'resultBytesMax')::bigint from "user" where "user".id = backtests.owner_id),
    ${sql.placeholder("bytesMax")}::bigint)`.mapWith(Number);
  return db.update(backtests)
    .set({
      status: "running",
      attempts: sql`${backtests.attempts} + 1`,
      progress: 0,
      partialEquity: null,
      startedAt: sql`now()`,
    })
    .where(and(sql`${backtests.id} = any(${sql.placeholder("ids")}::uuid[])`, inArray(backtests.status, UNENDED)))
    .returning({ ...UNENDED_COLUMNS, storedBytes, storedBytesMax, notified: sql.raw(NOTIFY_OF_RECORD) });
});

/**
 * Completes runs with all that belongs to them, as one statement: what it writes is whole even where no transaction holds it.
 *
 * `$1`: the JSON of an array of runs; `$2` and `$3`: their chunks, see packRows(); `$4` and `$5`: owners and bytes of other records.
 */
export const COMPLETE = `
  with done as (
    update backtests set
      status = 'completed', progress = 1, error = null, finished_at = now(), size_bytes = size_bytes + run.bytes,
      result = run.result, plots = run.plots, sparkline = run.sparkline, inputs = run.inputs, reused_from = run."reusedFrom"
    from jsonb_to_recordset($1::text::jsonb) as run(
      id uuid, attempt smallint, bytes bigint, result jsonb, plots json, sparkline float8[], inputs jsonb, "reusedFrom" uuid
    )
    where backtests.id = run.id and attempts = run.attempt and status = 'running'
    returning backtests.id, owner_id, run.bytes as grown, ${NOTIFY_OF_RECORD}
  ), inserted as (${insertingRows("$2", "$3", 'join done on done.id = "backtestId"')}),
  added as (${
  addingSizes(`
    select owner_id, sum(grown) from (
      select owner_id, grown from done union all select * from unnest($4::text[], $5::bigint[])
    ) as sizes group by owner_id order by owner_id`)
})
  select id from done`;

/** A worker's key to the record that it holds: it finds nothing once another worker has claimed the record. */
export interface AttemptKey {
  readonly id: string;
  readonly attempt: number;
}

export interface CompletedRun extends AttemptKey {
  readonly result: BacktestResult;
  /** The equity in a few points, as fractions of the initial balance. */
  readonly sparkline?: readonly number[];
  /** The run's trades, orders, equity and plots. */
  readonly chunks: readonly ResultChunk[];
  /** The names of its plots. */
  readonly plots?: readonly StoredPlot[];
  /** Lines that its strategy logged. */
  readonly log?: readonly string[];
  readonly inputs?: ResultInputs;
  /** The backtest whose stored result this is; absent for one of a simulation. */
  readonly reusedFrom?: string;
  /** True if insertChunksAhead() has written them. */
  readonly areChunksWritten?: boolean;
}

/** The parameters of COMPLETE. @param moreSizes Bytes of other records, which are added with those of the runs. */
export function completion(runs: readonly CompletedRun[], moreSizes: readonly Size[]): unknown[] {
  const rows = runs.flatMap(({ id: backtestId, attempt, chunks, areChunksWritten = false }) =>
    areChunksWritten ? [] : chunks.map((chunk) => ({ ...chunk, backtestId, attempt }))
  );
  return [
    `[${runs.map(describe).join()}]`,
    ...packRows(rows),
    moreSizes.map(({ ownerId }) => ownerId),
    moreSizes.map(({ sizeBytes }) => sizeBytes),
  ];
}

function describe(run: CompletedRun): string {
  const { id, attempt, plots = [], sparkline, inputs, reusedFrom } = run;
  const result = storableJson(run.result);
  const bytes = measureResult(result, run);
  const others = storableJson({ id, attempt, bytes, plots: storedPlots(plots), sparkline, inputs, reusedFrom });
  // The result is long: its text serves for its size, too.
  return `${others.slice(0, -1)},"result":${result}}`;
}

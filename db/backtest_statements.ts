/** The statements of each run, built once; backtests.ts has the functions that send them. */
import { and, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import { notifyOfRecord } from "./change_channel.ts";
import { prepareOnce } from "./prepare_once.ts";
import { type BACKTEST_STATUSES, backtests } from "./schema.ts";
import { BACKTEST_COLUMNS } from "./stale_results.ts";

export const UNENDED = ["queued", "running"] as const satisfies readonly (typeof BACKTEST_STATUSES)[number][];

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
    name: value("name"),
    tags: value("tags"),
    notes: value("notes"),
    star: value("star"),
    fresh: value("fresh"),
    sizeBytes: value("sizeBytes"),
  }).returning(UNENDED_COLUMNS);
});

/** Of `id` and `ownerId`. */
export const selectOwned = prepareOnce((db) =>
  db.select(BACKTEST_COLUMNS).from(backtests)
    .where(and(eq(backtests.id, sql.placeholder("id")), eq(backtests.ownerId, sql.placeholder("ownerId"))))
);

/** Of `ids`; `bytesMax` is the storage quota of each owner. */
export const claim = prepareOnce((db) => {
  // By hand: drizzle leaves the tables' names out of the columns that an update returns.
  const isOverQuota = sql<boolean>`exists (select from backtest_sizes
    where backtest_sizes.owner_id = backtests.owner_id and bytes > ${sql.placeholder("bytesMax")}::bigint)`;
  return db.update(backtests)
    .set({
      status: "running",
      attempts: sql`${backtests.attempts} + 1`,
      progress: 0,
      partialEquity: null,
      startedAt: sql`now()`,
    })
    .where(and(sql`${backtests.id} = any(${sql.placeholder("ids")}::uuid[])`, inArray(backtests.status, UNENDED)))
    .returning({ ...UNENDED_COLUMNS, isOverQuota, notified: notifyOfRecord });
});

/** Of `values`, the JSON of an array. */
export const complete = prepareOnce((db) =>
  db.update(backtests)
    .set({
      status: "completed",
      progress: 1,
      result: sql`done.result`,
      plots: sql`done.plots`,
      sparkline: sql`done.sparkline`,
      inputs: sql`done.inputs`,
      reusedFrom: sql`done."reusedFrom"`,
      error: null,
      finishedAt: sql`now()`,
      sizeBytes: sql`${backtests.sizeBytes} + done.bytes`,
    })
    .from(
      sql`jsonb_to_recordset(${sql.placeholder("values")}::text::jsonb)
        as done(id uuid, attempt smallint, result jsonb, plots json, sparkline float8[], inputs jsonb, "reusedFrom" uuid,
          bytes bigint)`,
    )
    .where(and(
      eq(backtests.id, sql`done.id`),
      eq(backtests.attempts, sql`done.attempt`),
      eq(backtests.status, "running"),
    ))
    .returning({ id: backtests.id, ownerId: backtests.ownerId, notified: notifyOfRecord })
);

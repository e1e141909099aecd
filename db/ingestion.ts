import { and, desc, eq, exists, gte, inArray, isNull, lt, notInArray, or, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "./client.ts";
import { isIngested } from "./instruments.ts";
import { ingestionEvents, ingestionRuns, instruments } from "./schema.ts";
import { storableText } from "./codec/storable.ts";

export type IngestionRun = typeof ingestionRuns.$inferSelect;
export type IngestionEvent = typeof ingestionEvents.$inferSelect;
export type IngestionEventType = IngestionEvent["type"];

// Any constant will do, if every process uses it.
const RUNS_LOCK = 7_405_101_985;

/** Locks the list of runs until the transaction ends, so that no run appears between a search and an insert. */
export async function lockRuns(tx: Db): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(RUNS_LOCK))})`);
}

/** Writes a run under a new UUIDv7. */
export async function insertRun(
  tx: Db,
  values: Omit<typeof ingestionRuns.$inferInsert, "id">,
): Promise<IngestionRun> {
  const [row] = await tx.insert(ingestionRuns).values({ ...values, id: uuidv7() }).returning();
  if (row === undefined) throw new Error("Cannot insert an ingestion run: no row came back");
  return row;
}

export async function findRun(db: Db, id: string): Promise<IngestionRun | undefined> {
  const [row] = await db.select().from(ingestionRuns).where(eq(ingestionRuns.id, id));
  return row;
}

/** Queued and running runs, without those of uploads and requests, the oldest first. */
export async function listRunsInFlight(db: Db): Promise<IngestionRun[]> {
  return await db.select().from(ingestionRuns)
    .where(and(
      inArray(ingestionRuns.status, ["queued", "running"]),
      inArray(ingestionRuns.trigger, ["manual", "schedule", "start"]),
    ))
    .orderBy(ingestionRuns.id);
}

/** Runs, newest first. @param page `before`: only runs older than the one with this id. */
export async function listRuns(
  db: Db,
  page: { before?: string | undefined; limit: number },
): Promise<IngestionRun[]> {
  return await db.select().from(ingestionRuns)
    .where(page.before === undefined ? undefined : lt(ingestionRuns.id, page.before))
    .orderBy(desc(ingestionRuns.id)).limit(page.limit);
}

/**
 * Updates a run if it still has one of the statuses in `from`.
 *
 * @returns True if it was updated, as it is for one of several simultaneous callers.
 */
export async function moveRun(
  tx: Db,
  key: { readonly id: string; readonly from: readonly IngestionRun["status"][] },
  values: Partial<Omit<typeof ingestionRuns.$inferInsert, "id">>,
): Promise<boolean> {
  const moved = await tx.update(ingestionRuns).set(withStorableMessage(values))
    .where(and(eq(ingestionRuns.id, key.id), inArray(ingestionRuns.status, [...key.from])))
    .returning({ id: ingestionRuns.id });
  return moved.length > 0;
}

/**
 * Running runs of uploads and requests whose process has died.
 *
 * @param before Only runs that began before this moment and have no event since then.
 */
export async function listAbandonedRuns(db: Db, before: Date): Promise<string[]> {
  const active = db.select({ runId: ingestionEvents.runId }).from(ingestionEvents)
    .where(gte(ingestionEvents.createdAt, before));
  const rows = await db.select({ id: ingestionRuns.id }).from(ingestionRuns)
    .where(and(
      eq(ingestionRuns.status, "running"),
      inArray(ingestionRuns.trigger, ["import", "request"]),
      lt(ingestionRuns.startedAt, before),
      notInArray(ingestionRuns.id, active),
    ));
  return rows.map(({ id }) => id);
}

/**
 * Removes runs that fetched candles for a user's request, with their events: any user makes them. Those that revised candles stay,
 * since results are known to be stale by them.
 *
 * @param before Only runs that ended before this moment.
 * @param limit Most runs to remove.
 * @returns How many were removed.
 */
export async function removeOldRequests(db: Db, before: Date, limit: number): Promise<number> {
  const revising = db.select({ runId: ingestionEvents.runId }).from(ingestionEvents)
    .where(eq(ingestionEvents.type, "revised"));
  const old = db.select({ id: ingestionRuns.id }).from(ingestionRuns)
    .where(and(
      eq(ingestionRuns.trigger, "request"),
      lt(ingestionRuns.finishedAt, before),
      notInArray(ingestionRuns.id, revising),
    ))
    .limit(limit);
  const removed = await db.delete(ingestionRuns).where(inArray(ingestionRuns.id, old))
    .returning({ id: ingestionRuns.id });
  return removed.length;
}

/** Adds to the number of candles that a run has stored. */
export async function addRunCandles(tx: Db, id: string, candles: number): Promise<void> {
  await tx.update(ingestionRuns).set({ candles: sql`${ingestionRuns.candles} + ${candles}` })
    .where(eq(ingestionRuns.id, id));
}

/** Writes events under new UUIDv7s, in the given order. */
export async function insertEvents(
  tx: Db,
  events: readonly Omit<typeof ingestionEvents.$inferInsert, "id" | "createdAt">[],
): Promise<void> {
  if (events.length === 0) return;
  // By the clock and not of the transaction's begin: a run that reads meanwhile reads what was there before.
  const createdAt = sql`clock_timestamp()`;
  await tx.insert(ingestionEvents)
    .values(events.map((event) => ({ ...withStorableMessage(event), id: uuidv7(), createdAt })));
}

/** The ranges of a series that a run has ingested, by their start. */
export async function listRunRanges(
  db: Db,
  runId: string,
  series: { readonly symbol: string; readonly exchange: string; readonly timeframe: string },
): Promise<{ start: Date; end: Date }[]> {
  const rows = await db.select({ start: ingestionEvents.start, end: ingestionEvents.end }).from(ingestionEvents)
    .where(and(
      eq(ingestionEvents.runId, runId),
      eq(ingestionEvents.type, "range_ingested"),
      eq(ingestionEvents.symbol, series.symbol),
      eq(ingestionEvents.exchange, series.exchange),
      eq(ingestionEvents.timeframe, series.timeframe),
    ))
    .orderBy(ingestionEvents.start);
  return rows.flatMap(({ start, end }) => start === null || end === null ? [] : [{ start, end }]);
}

/**
 * Events, newest first.
 *
 * @param page `before`: only events older than the one with this id; `symbol`: also the events of whole runs that include it.
 */
export async function listEvents(
  db: Db,
  page: {
    type?: IngestionEventType | undefined;
    symbol?: string | undefined;
    runId?: string | undefined;
    before?: string | undefined;
    limit: number;
  },
): Promise<IngestionEvent[]> {
  return await db.select().from(ingestionEvents)
    .where(and(
      page.type === undefined ? undefined : eq(ingestionEvents.type, page.type),
      page.symbol === undefined ? undefined : concernsSymbol(db, page.symbol),
      page.runId === undefined ? undefined : eq(ingestionEvents.runId, page.runId),
      page.before === undefined ? undefined : lt(ingestionEvents.id, page.before),
    ))
    .orderBy(desc(ingestionEvents.id)).limit(page.limit);
}

/** Makes the message storable: some messages quote a provider's answer, which may hold any bytes. */
function withStorableMessage<Values extends { message?: string | null | undefined }>(values: Values): Values {
  return typeof values.message === "string" ? { ...values, message: storableText(values.message) } : values;
}

function concernsSymbol(db: Db, symbol: string) {
  // A run without a list covers every instrument that has a feed.
  const ingested = db.select({ id: instruments.id }).from(instruments)
    .where(and(eq(instruments.symbol, symbol), isIngested));
  const runs = db.select({ id: ingestionRuns.id }).from(ingestionRuns).where(or(
    sql`${ingestionRuns.instruments} @> ${JSON.stringify([{ symbol }])}::jsonb`,
    and(isNull(ingestionRuns.instruments), exists(ingested)),
  ));
  return or(
    eq(ingestionEvents.symbol, symbol),
    and(isNull(ingestionEvents.symbol), inArray(ingestionEvents.runId, runs)),
  );
}

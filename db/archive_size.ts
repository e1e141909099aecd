/** The part of the archive that requests filled, with instruments that no admin configured. */
import { and, asc, eq, inArray, isNull, lt, notExists, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import type { Instrument } from "./instruments.ts";
import { backtests, candleChunks, FEED_LABELS, ingestionEvents, instruments } from "./schema.ts";

const isUnconfigured = and(
  inArray(instruments.provider, [...FEED_LABELS]),
  isNull(instruments.timeframe),
  isNull(instruments.backfillFrom),
  isNull(instruments.schedule),
  isNull(instruments.session),
);

// The key of an object names its length.
const BYTES = sql<number>`coalesce(sum(
  coalesce(split_part(${candleChunks.object}, '.', 2)::float8, octet_length(${candleChunks.data}))), 0)::float8`;

/** Bytes of the candles of instruments that nobody configured. It passes all their chunks: seconds for millions of them. */
export async function measureUnconfigured(db: Db): Promise<number> {
  const [row] = await db.select({ bytes: BYTES }).from(candleChunks)
    .innerJoin(instruments, eq(instruments.id, candleChunks.instrumentId)).where(isUnconfigured);
  return row?.bytes ?? 0;
}

/** Notes that an instrument's candles are used. @returns True if it exists; it may have been evicted. */
export async function touchInstrument(db: Db, id: string, now: Date): Promise<boolean> {
  const touched = await db.update(instruments).set({ usedAt: now }).where(eq(instruments.id, id))
    .returning({ id: instruments.id });
  return touched.length > 0;
}

/**
 * Removes the instrument with its candles that has not been used for longest, of those that nobody configured or imported candles into
 * and that no running backtest names.
 *
 * @param unusedSince Instruments that were used later stay.
 * @returns The removed instrument and the bytes of its candles; undefined where all stay.
 */
export async function evictLeastUsed(
  db: Db,
  unusedSince: Date,
): Promise<{ readonly instrument: Instrument; readonly bytes: number } | undefined> {
  const imported = db.select({ one: sql`1` }).from(ingestionEvents).where(and(
    eq(ingestionEvents.provider, "import"),
    eq(ingestionEvents.symbol, instruments.symbol),
    eq(ingestionEvents.exchange, instruments.exchange),
  ));
  const running = db.select({ one: sql`1` }).from(backtests).where(and(
    eq(backtests.status, "running"),
    eq(backtests.symbol, instruments.symbol),
    eq(backtests.exchange, instruments.exchange),
  ));
  const isUnused = and(isUnconfigured, lt(instruments.usedAt, unusedSince));
  const [oldest] = await db.select({ id: instruments.id }).from(instruments)
    .where(and(isUnused, notExists(imported), notExists(running)))
    .orderBy(asc(instruments.usedAt)).limit(1);
  if (oldest === undefined) return undefined;
  const [size] = await db.select({ bytes: BYTES }).from(candleChunks).where(eq(candleChunks.instrumentId, oldest.id));
  // Checked again, since somebody may have used or configured it meanwhile.
  const [instrument] = await db.delete(instruments).where(and(eq(instruments.id, oldest.id), isUnused)).returning();
  return instrument === undefined ? await evictLeastUsed(db, unusedSince) : { instrument, bytes: size?.bytes ?? 0 };
}

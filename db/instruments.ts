import { and, asc, eq, gt, ilike, inArray, isNotNull, ne, or, type SQL, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import { ASSET_CLASSES } from "../engine/execution.ts";
import type { Db } from "./client.ts";
import { readRecord, requireName } from "./codec/unreadable.ts";
import { prepareOnce } from "./prepare_once.ts";
import { candleChunks, instruments, PROVIDERS } from "./schema.ts";

export type { Session } from "./market_schema.ts";
export type Instrument = typeof instruments.$inferSelect;
export type NewInstrument = typeof instruments.$inferInsert;
export type AssetClass = Instrument["assetClass"];
export type Provider = Instrument["provider"];

// A wrong name is compared with at most this many, so that it costs little.
const NAMES_MAX = 5_000;

/** Identifies an instrument: a symbol can trade on several exchanges. */
export interface InstrumentKey {
  readonly symbol: string;
  readonly exchange: string;
}

export async function findInstrument(db: Db, key: InstrumentKey): Promise<Instrument | undefined> {
  const [row] = await selectInstrument(db, { ...key });
  return row && checkInstrument(row);
}

const selectInstrument = prepareOnce((db) =>
  db.select().from(instruments).where(and(
    eq(instruments.symbol, sql.placeholder("symbol")),
    eq(instruments.exchange, sql.placeholder("exchange")),
  ))
);

/** Like findInstrument, of many keys in one statement. @returns An answer a key, in the order of the keys. */
export async function findInstruments(
  db: Db,
  keys: readonly InstrumentKey[],
): Promise<(Instrument | undefined)[]> {
  const symbols = [...new Set(keys.map(({ symbol }) => symbol))];
  const exchanges = [...new Set(keys.map(({ exchange }) => exchange))];
  const rows = await selectInstruments(db, { symbols, exchanges });
  const byName = new Map(rows.map((row) => [JSON.stringify([row.symbol, row.exchange]), row]));
  return keys.map(({ symbol, exchange }) => {
    const row = byName.get(JSON.stringify([symbol, exchange]));
    return row && checkInstrument(row);
  });
}

// A list is one parameter: hundreds of them take longer to send than their rows to read.
const selectInstruments = prepareOnce((db) =>
  db.select().from(instruments).where(and(
    sql`${instruments.symbol} = any(${sql.placeholder("symbols")}::text[])`,
    sql`${instruments.exchange} = any(${sql.placeholder("exchanges")}::text[])`,
  ))
);

export async function findInstrumentById(db: Db, id: string): Promise<Instrument | undefined> {
  const [row] = await db.select().from(instruments).where(eq(instruments.id, id));
  return row && checkInstrument(row);
}

/** The instruments with a symbol, and with the given exchange and asset class, the oldest first. */
export async function findInstrumentsBySymbol(
  db: Db,
  by: { symbol: string; exchange?: string | undefined; assetClass?: AssetClass | undefined },
): Promise<Instrument[]> {
  const rows = await db.select().from(instruments)
    .where(and(
      eq(instruments.symbol, by.symbol),
      by.exchange === undefined ? undefined : eq(instruments.exchange, by.exchange),
      by.assetClass === undefined ? undefined : eq(instruments.assetClass, by.assetClass),
    ))
    .orderBy(asc(instruments.createdAt), asc(instruments.id));
  return rows.map(checkInstrument);
}

const CLOSED = { timezone: "UTC", open: "", close: "", weekdays: [] };

// Asset class, provider and session choose the rules by which candles are read and made.
function checkInstrument(row: Instrument): Instrument {
  return readRecord(`instrument ${row.symbol} on ${row.exchange}`, () => {
    requireName(ASSET_CLASSES, row.assetClass, "asset class");
    requireName(PROVIDERS, row.provider, "provider");
    const { timezone, open, close, weekdays } = row.session ?? CLOSED;
    const isKnown = [timezone, open, close].every((text) => typeof text === "string") && Array.isArray(weekdays);
    if (!isKnown) throw new Error("its session has an unknown form");
    return row;
  });
}

/** Names of instruments to suggest instead of a wrong one: the symbols and exchanges of the first NAMES_MAX. */
export async function listMarketNames(db: Db): Promise<{ symbols: string[]; exchanges: string[] }> {
  const rows = await db.select({ symbol: instruments.symbol, exchange: instruments.exchange }).from(instruments)
    .orderBy(asc(instruments.symbol), asc(instruments.exchange)).limit(NAMES_MAX);
  const distinct = (names: readonly string[]) => [...new Set(names)];
  return { symbols: distinct(rows.map((row) => row.symbol)), exchanges: distinct(rows.map((row) => row.exchange)) };
}

/** The symbols and exchanges of the instruments that have one of these symbols. */
export async function findMarketNames(db: Db, symbols: readonly string[]): Promise<InstrumentKey[]> {
  return await selectMarketNames(db, { symbols });
}

const selectMarketNames = prepareOnce((db) =>
  db.select({ symbol: instruments.symbol, exchange: instruments.exchange }).from(instruments)
    .where(sql`${instruments.symbol} = any(${sql.placeholder("symbols")}::text[])`)
);

/** The currencies and providers of the instruments that have one of these symbols. */
export async function findCurrencies(
  db: Db,
  symbols: readonly string[],
): Promise<Pick<Instrument, "symbol" | "exchange" | "currency" | "provider">[]> {
  const { symbol, exchange, currency, provider } = instruments;
  return await db.select({ symbol, exchange, currency, provider })
    .from(instruments).where(inArray(instruments.symbol, [...symbols]));
}

/** The forex instruments that have one of these symbols, the oldest first. */
export async function findForexPairs(db: Db, symbols: readonly string[]): Promise<Instrument[]> {
  const rows = await db.select().from(instruments)
    .where(and(inArray(instruments.symbol, [...symbols]), eq(instruments.assetClass, "forex")))
    .orderBy(asc(instruments.createdAt), asc(instruments.id));
  return rows.map(checkInstrument);
}

/** Every instrument, by symbol and exchange. */
export async function listAllInstruments(db: Db): Promise<Instrument[]> {
  return await db.select().from(instruments).orderBy(asc(instruments.symbol), asc(instruments.exchange));
}

/** True of an instrument that has a feed and a timeframe: an ingestion run over all instruments includes it. */
export const isIngested = and(isNotNull(instruments.timeframe), ne(instruments.provider, "import"));

/** The instruments of a run over all instruments, by symbol and exchange. */
export async function listIngestedInstruments(db: Db): Promise<Instrument[]> {
  return await db.select().from(instruments).where(isIngested)
    .orderBy(asc(instruments.symbol), asc(instruments.exchange));
}

/** The instrument of a symbol and exchange; inserts the given one if there is none. */
export async function ensureInstrument(tx: Db, row: Omit<NewInstrument, "id">): Promise<Instrument> {
  const [inserted] = await tx.insert(instruments).values({ ...row, id: uuidv7() })
    .onConflictDoNothing({ target: [instruments.symbol, instruments.exchange] }).returning();
  const instrument = inserted ?? await findInstrument(tx, row);
  if (instrument === undefined) {
    throw new Error(`Cannot find the instrument ${row.symbol} on ${row.exchange} just made`);
  }
  return instrument;
}

/** Inserts an instrument; undefined if its symbol and exchange exist. */
export async function insertInstrument(tx: Db, row: Omit<NewInstrument, "id">): Promise<Instrument | undefined> {
  const [inserted] = await tx.insert(instruments).values({ ...row, id: uuidv7() })
    .onConflictDoNothing({ target: [instruments.symbol, instruments.exchange] }).returning();
  return inserted;
}

/** Updates an instrument; undefined if it does not exist. */
export async function updateInstrument(
  tx: Db,
  id: string,
  values: Partial<Pick<NewInstrument, "provider" | "timeframe" | "backfillFrom" | "schedule" | "session" | "currency">>,
): Promise<Instrument | undefined> {
  const [updated] = await tx.update(instruments).set({ ...values, updatedAt: new Date() })
    .where(eq(instruments.id, id)).returning();
  return updated;
}

/** Removes an instrument with all its candles. @returns True if there was one. */
export async function deleteInstrument(tx: Db, id: string): Promise<boolean> {
  const removed = await tx.delete(instruments).where(eq(instruments.id, id)).returning({ id: instruments.id });
  return removed.length > 0;
}

/**
 * Locks an instrument until the transaction ends: other writers of its candles wait.
 *
 * @returns The instrument as it is now; undefined if it was removed.
 */
export async function lockInstrument(tx: Db, id: string): Promise<Instrument | undefined> {
  const [row] = await tx.select().from(instruments).where(eq(instruments.id, id)).for("update");
  return row;
}

/** An instrument and its archived candles. */
export interface InstrumentHolding {
  readonly instrument: Instrument;
  /** Unsorted; empty without candles. */
  readonly timeframes: readonly string[];
  /** Opens of the first and the last candle over all timeframes. */
  readonly first: Date | null;
  readonly last: Date | null;
  /** Over all timeframes. */
  readonly candles: number;
}

/**
 * Instruments by symbol and exchange, with their archived candles.
 *
 * @param by `search`: a part of the symbol, in any case; `after`: the last key of the previous page.
 */
export async function listHoldings(
  db: Db,
  by: {
    search?: string | undefined;
    assetClass?: AssetClass | undefined;
    after?: InstrumentKey | undefined;
    limit: number;
  },
): Promise<InstrumentHolding[]> {
  const rows = await db.select({
    instrument: instruments,
    timeframes: sql<string[]>`coalesce(json_agg(distinct ${candleChunks.timeframe})
      filter (where ${candleChunks.timeframe} is not null), '[]')`,
    first: sql<number | null>`(extract(epoch from min(${candleChunks.firstTime})) * 1000)::float8`,
    last: sql<number | null>`(extract(epoch from max(${candleChunks.lastTime})) * 1000)::float8`,
    candles: sql<number>`coalesce(sum(${candleChunks.candles}), 0)::float8`,
  }).from(instruments).leftJoin(candleChunks, eq(candleChunks.instrumentId, instruments.id))
    .where(and(
      by.search === undefined ? undefined : ilike(instruments.symbol, `%${by.search.replace(/[\\%_]/g, "\\$&")}%`),
      by.assetClass === undefined ? undefined : eq(instruments.assetClass, by.assetClass),
      by.after === undefined ? undefined : isAfter(by.after),
    ))
    .groupBy(instruments.id)
    .orderBy(asc(instruments.symbol), asc(instruments.exchange))
    .limit(by.limit);
  const moment = (timeMs: number | null) => timeMs === null ? null : new Date(timeMs);
  return rows.map((row) => ({ ...row, first: moment(row.first), last: moment(row.last) }));
}

function isAfter(key: InstrumentKey): SQL | undefined {
  return or(
    gt(instruments.symbol, key.symbol),
    and(eq(instruments.symbol, key.symbol), gt(instruments.exchange, key.exchange)),
  );
}

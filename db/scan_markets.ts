/** The markets of optimizations over many of them, in the database. */
import { and, asc, eq, inArray, isNull, sql } from "drizzle-orm";
import type { AssetClass } from "../engine/execution.ts";
import type { Db } from "./client.ts";
import { readRecord } from "./codec/unreadable.ts";
import { instruments, scanMarkets } from "./schema.ts";

export type ScanMarket = typeof scanMarkets.$inferSelect;

/** A market as a submission names it. */
export type NewScanMarket = Pick<ScanMarket, "symbol" | "exchange" | "startDate" | "endDate">;

/** The candles of a market that a slice has read. */
export interface ScanData {
  readonly market: number;
  readonly dataSha256: string;
  /** Of its daily returns, in days since 1970. */
  readonly days: readonly number[];
}

/** About how many bytes a market takes, without its days. */
export const SCAN_MARKET_BYTES = 200;

/** Writes the markets of an optimization whose record is written before. */
export async function insertScanMarkets(tx: Db, optimizationId: string, markets: readonly NewScanMarket[]) {
  await tx.insert(scanMarkets).values(markets.map((market, i) => ({ ...market, optimizationId, market: i })));
}

/** Some markets of a scan, by their places; undefined: all of them, in order. */
export async function readScanMarkets(
  db: Db,
  optimizationId: string,
  places?: readonly number[],
): Promise<Omit<ScanMarket, "days">[]> {
  const { days: _days, ...columns } = COLUMNS;
  return await db.select(columns).from(scanMarkets).where(and(
    eq(scanMarkets.optimizationId, optimizationId),
    places === undefined ? undefined : inArray(scanMarkets.market, [...places]),
  )).orderBy(asc(scanMarkets.market));
}

const COLUMNS = {
  optimizationId: scanMarkets.optimizationId,
  market: scanMarkets.market,
  symbol: scanMarkets.symbol,
  exchange: scanMarkets.exchange,
  startDate: scanMarkets.startDate,
  endDate: scanMarkets.endDate,
  dataSha256: scanMarkets.dataSha256,
  days: scanMarkets.days,
};

/**
 * Keeps the candles that a slice has read. The caller's transaction has locked the optimization.
 *
 * @returns The bytes that were added; or a market whose candles are others than those of its earlier trials.
 */
export async function keepScanData(
  tx: Db,
  optimizationId: string,
  data: readonly ScanData[],
): Promise<{ readonly bytes: number; readonly changed?: { readonly symbol: string; readonly exchange: string } }> {
  if (data.length === 0) return { bytes: 0 };
  const rows = await readScanMarkets(tx, optimizationId, data.map(({ market }) => market));
  const known = new Map(rows.map((row) => [row.market, row]));
  const changed = data.map((each) => ({ each, row: known.get(each.market) }))
    .find(({ each, row }) => row !== undefined && row.dataSha256 !== null && row.dataSha256 !== each.dataSha256)?.row;
  if (changed !== undefined) return { bytes: 0, changed };
  const added = data.filter(({ market }) => known.get(market)?.dataSha256 === null);
  if (added.length === 0) return { bytes: 0 };
  const values = JSON.stringify(added.map(({ market, dataSha256: sha256, days }) => ({
    market,
    sha256,
    days: days.map((day, i) => i === 0 ? day : day - days[i - 1]!),
  })));
  await tx.update(scanMarkets).set({ dataSha256: sql`added.sha256`, days: sql`added.days` })
    .from(sql`json_to_recordset(${values}::json) as added(market integer, sha256 text, days json)`)
    .where(and(
      eq(scanMarkets.optimizationId, optimizationId),
      sql`${scanMarkets.market} = added.market`,
      isNull(scanMarkets.dataSha256),
    ));
  return { bytes: values.length };
}

/** The days of the daily returns of each market, in days since 1970; none of a market that no slice has read. @throws {UnreadableRecord} */
export async function readScanDays(db: Db, optimizationId: string): Promise<Map<number, readonly number[]>> {
  const { market, days } = scanMarkets;
  const rows = await db.select({ market, days }).from(scanMarkets).where(
    eq(scanMarkets.optimizationId, optimizationId),
  );
  return readRecord(`optimization ${optimizationId}`, () =>
    new Map(rows.map((row) => {
      let day = 0;
      return [row.market, (row.days ?? []).map((gap) => day += gap)];
    })));
}

/** The kinds of the markets of a scan, each once; null for markets of which it is not known. */
export async function readScanAssetClasses(db: Db, optimizationId: string): Promise<(AssetClass | null)[]> {
  const { symbol, exchange } = scanMarkets;
  const rows = await db.selectDistinct({ assetClass: instruments.assetClass }).from(scanMarkets)
    .leftJoin(instruments, and(eq(instruments.symbol, symbol), eq(instruments.exchange, exchange)))
    .where(eq(scanMarkets.optimizationId, optimizationId));
  return rows.map(({ assetClass }) => assetClass);
}

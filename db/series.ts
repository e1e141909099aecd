/** Series that figures of studies are computed from, in the database. */
import { and, eq } from "drizzle-orm";
import { type Columns, decodeColumns, encodeColumns } from "./codec/columns.ts";
import { readRecord } from "./codec/unreadable.ts";
import type { Db } from "./client.ts";
import { monteCarloSeries, optimizationSeries } from "./schema.ts";

/** A series that is to be stored. */
export interface Series {
  readonly name: string;
  readonly data: Uint8Array;
}

// A row with its place in the index, as found on PostgreSQL.
const ROW_BYTES = 100;

/** @param columns At least one, all of one length. */
export function encodeSeries(name: string, columns: Columns): Series {
  return { name, data: encodeColumns(columns) };
}

/** About how many bytes series take. */
export function measureSeries(series: readonly Series[]): number {
  return series.reduce((sum, { data }) => sum + ROW_BYTES + data.byteLength, 0);
}

/** Stores the series of an optimization that ends. */
export async function insertOptimizationSeries(tx: Db, optimizationId: string, series: readonly Series[]) {
  if (series.length === 0) return;
  await tx.insert(optimizationSeries).values(series.map((each) => ({ optimizationId, ...each }))).onConflictDoNothing();
}

/** Stores the series of a Monte Carlo simulation that ends. */
export async function insertMonteCarloSeries(tx: Db, monteCarloId: string, series: readonly Series[]) {
  if (series.length === 0) return;
  await tx.insert(monteCarloSeries).values(series.map((each) => ({ monteCarloId, ...each }))).onConflictDoNothing();
}

/** A series of an optimization; null where it has none. @throws {UnreadableRecord} */
export async function readOptimizationSeries(db: Db, id: string, name: string): Promise<Columns | null> {
  const { optimizationId, data } = optimizationSeries;
  const [row] = await db.select({ data }).from(optimizationSeries)
    .where(and(eq(optimizationId, id), eq(optimizationSeries.name, name)));
  return decode(`optimization ${id}`, row);
}

/** A series of a Monte Carlo simulation; null where it has none. @throws {UnreadableRecord} */
export async function readMonteCarloSeries(db: Db, id: string, name: string): Promise<Columns | null> {
  const { monteCarloId, data } = monteCarloSeries;
  const [row] = await db.select({ data }).from(monteCarloSeries)
    .where(and(eq(monteCarloId, id), eq(monteCarloSeries.name, name)));
  return decode(`Monte Carlo simulation ${id}`, row);
}

function decode(record: string, row: { readonly data: Uint8Array } | undefined): Columns | null {
  return row === undefined ? null : readRecord(`series of the ${record}`, () => decodeColumns(row.data));
}

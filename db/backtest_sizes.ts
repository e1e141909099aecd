import { eq } from "drizzle-orm";
import { Buffer } from "node:buffer";
import { measureLog } from "./backtest_logs.ts";
import type { Db } from "./database.ts";
import type { EncodedSeries, StoredPlot } from "./codec/plots_part.ts";
import { queryText } from "./postgres_session.ts";
import { measureChunks, type ResultChunk } from "./codec/result_parts.ts";
import { backtests, backtestSizes, type Member, user } from "./schema.ts";

// A chunk's row with its place in the index, and a record's, without what is measured of them; as found on PostgreSQL.
const CHUNK_BYTES = 200;
const RECORD_BYTES = 1000;

/** The columns that a statement that removes backtests returns, for `subtractSizes`. */
const SIZE = { ownerId: backtests.ownerId, sizeBytes: backtests.sizeBytes } as const;
export type Size = Pick<typeof backtests.$inferSelect, keyof typeof SIZE>;

/**
 * A statement that adds to the totals of users; see addSizes().
 *
 * @param rows A query of owners and bytes, in the order of the owners and each once.
 */
export function addingSizes(rows: string): string {
  return `insert into backtest_sizes (owner_id, bytes) ${rows}
    on conflict (owner_id) do update set bytes = backtest_sizes.bytes + excluded.bytes`;
}

const ADD_SIZES = addingSizes("select * from unnest($1::text[], $2::bigint[])");

type Values = typeof backtests.$inferInsert;

/** About how many bytes a record has before it runs. */
export function measureRecord(
  { parameters, runtime, members, ...labels }: Pick<Values, "parameters" | "runtime" | LabelName> & {
    readonly members?: readonly Member[] | undefined;
  },
): number {
  const lists = members === undefined ? 0 : JSON.stringify(members).length;
  return RECORD_BYTES + JSON.stringify([parameters, runtime]).length + lists + measureLabels(labels);
}

type LabelName = "name" | "tags" | "notes";

/** The bytes of the owner's own words about a record. */
export function measureLabels({ name, tags, notes }: Pick<Values, LabelName>): number {
  return Buffer.byteLength([name, ...tags ?? [], notes].join(""));
}

/** About how many bytes a run leaves behind. */
export function measureResult(resultJson: string, { chunks, plots = [], log }: {
  readonly log?: readonly string[];
  readonly plots?: readonly StoredPlot[];
  readonly chunks: readonly ResultChunk[];
}): number {
  return resultJson.length + measureSeries({ chunks, plots }) + measureLog(log);
}

/** About how many bytes chunks take in the database, with the names of the plots among them. */
export function measureSeries({ chunks, plots }: EncodedSeries): number {
  const names = plots.length > 0 ? Buffer.byteLength(JSON.stringify(plots)) : 0;
  return chunks.length * CHUNK_BYTES + measureChunks(chunks) + names;
}

/** About how many bytes a user's backtests have, with all that belongs to them. */
export async function measureBacktests(db: Db, ownerId: string): Promise<number> {
  const [row] = await db.select({ bytes: backtestSizes.bytes }).from(backtestSizes)
    .where(eq(backtestSizes.ownerId, ownerId));
  return row?.bytes ?? 0;
}

/** A user's storage: what is used of it, and their quota. */
export interface StoredBytes {
  readonly storedBytes: number;
  readonly storedBytesMax: number;
}

/** Reads a user's storage. @param bytesMax The quota of users without their own. */
export async function readStorage(db: Db, ownerId: string, bytesMax: number): Promise<StoredBytes> {
  const [row] = await db.select({ bytes: backtestSizes.bytes, quotas: user.quotas }).from(user)
    .leftJoin(backtestSizes, eq(backtestSizes.ownerId, user.id)).where(eq(user.id, ownerId));
  return { storedBytes: row?.bytes ?? 0, storedBytesMax: row?.quotas?.resultBytesMax ?? bytesMax };
}

/**
 * Adds to the totals of users. Other transactions that change the same totals wait until this one ends, so it must change no other
 * record afterwards: a deletion holds its record's lock while it waits here.
 */
export async function addSizes(tx: Db, sizes: readonly Size[]): Promise<void> {
  if (sizes.length === 0) return;
  const bytes = new Map<string, number>();
  for (const { ownerId, sizeBytes } of sizes) bytes.set(ownerId, (bytes.get(ownerId) ?? 0) + sizeBytes);
  // In one order everywhere, or two transactions could wait for each other.
  const owners = [...bytes.keys()].sort();
  await queryText(tx, ADD_SIZES, [owners, owners.map((ownerId) => bytes.get(ownerId))]);
}

/** Takes what was removed from what users have. */
export async function subtractSizes(tx: Db, removed: readonly Size[]): Promise<void> {
  await addSizes(tx, removed.map(({ ownerId, sizeBytes }) => ({ ownerId, sizeBytes: -sizeBytes })));
}

/**
 * Moves the bytes of candles and results to where new ones live, while others use them. An object is written before its row names it, and a
 * row has its bytes again before an object loses its name: whoever ends it at any moment loses nothing, and may begin again.
 */
import { Buffer } from "node:buffer";
import { and, asc, count, eq, gt, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "./database.ts";
import { lockInstrument } from "./instruments.ts";
import { LostObject, type ObjectStore } from "./objects/object_store.ts";
import { objectStoreOf } from "./postgres_session.ts";
import { candleChunks, resultCandles, resultChunks } from "./schema.ts";
import { groupBySize, mapSome, NOTHING } from "./stored_bytes.ts";

// A row has at most half a megabyte or so.
const ROWS_OF_STEP = 32;
const HOMES = ["candle_chunks", "result_candles", "result_chunks"] as const;

/** A table, and the last of its rows or objects that a step has seen; null before the first step. */
export const placeSchema = z.object({ home: z.enum(HOMES), key: z.array(z.string()).max(4) }).nullable();

/** The outcome of a step, as the service answers it. */
export const movedSchema = z.object({
  to: z.enum(["bucket", "database"]),
  rows: z.number(),
  bytes: z.number(),
  /** Before the first step, how many rows are not where new ones are; null in later ones. */
  left: z.number().nullable(),
  /** Objects that are gone or damaged, whose rows stay as they are. */
  lost: z.array(z.string()),
  /** Where the next step begins; null after the last one. */
  next: placeSchema,
});
export type Moved = z.infer<typeof movedSchema>;

/**
 * Moves some rows, each in a transaction of its own or with others of its run.
 *
 * @param after Where the step before has ended.
 * @returns Null without a bucket: all bytes are in the database.
 * @throws {ObjectStoreError} When the bucket does not answer.
 */
export async function moveBytes(db: Db, after: z.infer<typeof placeSchema>): Promise<Moved | null> {
  const store = objectStoreOf(db);
  if (store === undefined) return null;
  const left = after === null ? await countLeft(db, store) : null;
  const { home, key } = after ?? { home: HOMES[0], key: [] };
  const { keys, bytes, rows = keys.length, lost = [] } =
    await (store.takesNew ? OUT[home](db, store, key) : moveIn(db, store, home, key));
  const [last, following] = [keys.at(-1), HOMES[HOMES.indexOf(home) + 1]];
  const next = last === undefined ? following && { home: following, key: [] } : { home, key: last };
  return { to: store.takesNew ? "bucket" : "database", rows, bytes, left, lost: [...lost], next: next ?? null };
}

async function countLeft(db: Db, { takesNew }: ObjectStore): Promise<number> {
  const countOf = (table: typeof IN[typeof HOMES[number]]["table"], rows: SQL) =>
    db.$count(table, takesNew ? rows : isNotNull(table.object));
  const counts = await Promise.all([
    countOf(candleChunks, hasBytes(candleChunks)),
    countOf(resultCandles, hasBytes(resultCandles)),
    countOf(resultChunks, isNull(resultChunks.object)),
  ]);
  return counts.reduce((sum, one) => sum + one, 0);
}

/** Rows with bytes, also where a process of an older version has replaced those of an object. */
function hasBytes({ data }: typeof candleChunks | typeof resultCandles): SQL {
  return sql`octet_length(${data}) > 0`;
}

const OUT = { candle_chunks: moveOutCandles, result_candles: moveOutShared, result_chunks: moveOutResults } as const;

/** The outcome of a step in one table. */
interface Step {
  /** The keys of its rows or objects, in their order. */
  readonly keys: readonly string[][];
  readonly bytes: number;
  /** Of objects, which several rows may share. */
  readonly rows?: number;
  readonly lost?: readonly string[];
}

async function moveOutCandles(db: Db, store: ObjectStore, after: readonly string[]): Promise<Step> {
  const { instrumentId, timeframe, month, sha256, data } = candleChunks;
  const behind = after.length === 0
    ? undefined
    : sql`(${instrumentId}, ${timeframe}, ${month}) > (${after[0]}::uuid, ${after[1]}, ${after[2]}::date)`;
  const rows = await db.select({ instrumentId, timeframe, month, sha256, data }).from(candleChunks)
    .where(and(hasBytes(candleChunks), behind))
    .orderBy(asc(instrumentId), asc(timeframe), asc(month)).limit(ROWS_OF_STEP);
  await mapSome(rows, async (row) => {
    const object = await store.put(row.data);
    // Imports take this lock first. Without it, two transactions could wait for each other at the trigger of the version.
    await db.transaction(async (tx) => {
      await lockInstrument(tx, row.instrumentId);
      await tx.update(candleChunks).set({ data: NOTHING, object }).where(and(
        eq(instrumentId, row.instrumentId),
        eq(timeframe, row.timeframe),
        eq(month, row.month),
        eq(sha256, row.sha256),
        hasBytes(candleChunks),
      ));
    });
  });
  return { keys: rows.map((row) => [row.instrumentId, row.timeframe, row.month]), bytes: sumBytes(rows) };
}

async function moveOutShared(db: Db, store: ObjectStore, [after = ""]: readonly string[]): Promise<Step> {
  const { sha256, data } = resultCandles;
  const rows = await db.select({ sha256, data }).from(resultCandles)
    .where(and(hasBytes(resultCandles), gt(sha256, after))).orderBy(asc(sha256)).limit(ROWS_OF_STEP);
  await mapSome(rows, async (row) => {
    const object = await store.put(row.data);
    await db.update(resultCandles).set({ data: NOTHING, object })
      .where(and(eq(sha256, row.sha256), hasBytes(resultCandles)));
  });
  return { keys: rows.map((row) => [row.sha256]), bytes: sumBytes(rows) };
}

async function moveOutResults(db: Db, store: ObjectStore, after: readonly string[]): Promise<Step> {
  const { backtestId, attempt, part, chunk, data, tags } = resultChunks;
  const behind = after.length === 0 ? undefined : sql`(${backtestId}, ${attempt}, ${part}, ${chunk})
      > (${after[0]}::uuid, ${after[1]}::smallint, ${after[2]}, ${after[3]}::integer)`;
  const rows = await db
    .select({ backtestId, attempt, part, chunk, data, tags, version: sql<string>`xmin::text` }).from(resultChunks)
    .where(and(isNull(resultChunks.object), behind))
    .orderBy(asc(backtestId), asc(attempt), asc(part), asc(chunk)).limit(ROWS_OF_STEP);
  const runs = [...Map.groupBy(rows, (row) => `${row.backtestId} ${row.attempt}`).values()];
  await mapSome(runs.flatMap((run) => [...groupBySize(run)]), async (group) => {
    const object = await store.put(Buffer.concat(group.flatMap((row) => row.tags ? [row.data, row.tags] : [row.data])));
    await db.transaction(async (tx) => {
      let at = 1;
      for (const row of group) {
        const place = [at, row.data.byteLength, ...(row.tags ? [row.tags.byteLength] : [])];
        at += row.data.byteLength + (row.tags?.byteLength ?? 0);
        await tx.update(resultChunks).set({ data: NOTHING, tags: null, object, objectPlace: place }).where(and(
          eq(backtestId, row.backtestId),
          eq(attempt, row.attempt),
          eq(part, row.part),
          eq(chunk, row.chunk),
          // Nobody has written the row since.
          sql`xmin::text = ${row.version}`,
        ));
      }
    });
  });
  const keys = rows.map((row) => [row.backtestId, `${row.attempt}`, row.part, `${row.chunk}`]);
  return { keys, bytes: sumBytes(rows) };
}

function sumBytes(rows: readonly { readonly data: Uint8Array; readonly tags?: Uint8Array | null }[]): number {
  return rows.reduce((sum, { data, tags }) => sum + data.byteLength + (tags?.byteLength ?? 0), 0);
}

/** Takes objects back into their rows. They are removed later, as all that no row names. */
async function moveIn(db: Db, store: ObjectStore, home: typeof HOMES[number], [after = ""]: readonly string[]) {
  const { table, takeBack } = IN[home];
  const named = await db.select({ object: sql<string>`${table.object}`, count: count() }).from(table)
    .where(gt(table.object, after)).groupBy(table.object).orderBy(asc(table.object)).limit(ROWS_OF_STEP);
  const lost: string[] = [];
  let [rows, bytes] = [0, 0];
  await mapSome(named, async ({ object, count }) => {
    try {
      const data = await store.get(object);
      await db.transaction((tx) => takeBack(tx, object, sql`${sql.param(data, resultChunks.data)}::bytea`));
      [rows, bytes] = [rows + count, bytes + data.byteLength];
    } catch (error) {
      if (!(error instanceof LostObject)) throw error;
      lost.push(error.message);
    }
  });
  return { keys: named.map(({ object }) => [object]), rows, bytes, lost };
}

const IN = {
  candle_chunks: {
    table: candleChunks,
    takeBack: async (tx: Db, object: string, bytes: SQL) => {
      const { instrumentId, data } = candleChunks;
      const [row] = await tx.select({ instrumentId }).from(candleChunks).where(eq(candleChunks.object, object));
      if (row === undefined) return;
      await lockInstrument(tx, row.instrumentId);
      await tx.update(candleChunks).set({ data: ownOr(data, bytes), object: null })
        .where(eq(candleChunks.object, object));
    },
  },
  result_candles: {
    table: resultCandles,
    takeBack: async (tx: Db, object: string, bytes: SQL) => {
      await tx.update(resultCandles).set({ data: ownOr(resultCandles.data, bytes), object: null })
        .where(eq(resultCandles.object, object));
    },
  },
  result_chunks: {
    table: resultChunks,
    takeBack: async (tx: Db, object: string, bytes: SQL) => {
      const place = resultChunks.objectPlace;
      await tx.update(resultChunks).set({
        data: sql`substring(${bytes}, ${place}[1], ${place}[2])`,
        tags: sql`substring(${bytes}, ${place}[1] + ${place}[2], ${place}[3])`,
        object: null,
        objectPlace: null,
      }).where(eq(resultChunks.object, object));
    },
  },
} as const;

/** A process of an older version may have replaced the bytes of an object, and not its name. */
function ownOr(data: typeof candleChunks.data | typeof resultCandles.data, bytes: SQL): SQL {
  return sql`case when octet_length(${data}) > 0 then ${data} else ${bytes} end`;
}

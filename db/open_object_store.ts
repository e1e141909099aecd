/** The object store of a database, at the start of a process. */
import { eq, isNotNull } from "drizzle-orm";
import type { Db } from "./database.ts";
import { attachObjectStore } from "./postgres_session.ts";
import { candleChunks, objectPrefixes, resultCandles, resultChunks } from "./schema.ts";
import { ObjectStoreError } from "./objects/object_store.ts";
import { type BucketAddress, markOf, S3Store } from "./objects/s3_store.ts";

// Of each table.
const NAMED_MAX = 3;

/** A bucket that cannot be this database's; the message is one line that names the setting. */
export class WrongBucket extends Error {
  override readonly name = "WrongBucket";
}

/**
 * Has the bytes of a database's new rows live in a bucket.
 *
 * @param address The bucket; undefined: the rows keep their bytes.
 * @throws {WrongBucket} When rows name objects and no bucket is given, it has never been theirs, or its server refuses us.
 * @throws {ObjectStoreError} When the server does not answer.
 */
export async function openObjectStore(db: Db, address: BucketAddress | undefined): Promise<void> {
  const named = await findNamedObjects(db);
  if (address === undefined) {
    if (named.length === 0) return;
    throw new WrongBucket("Cannot start: S3_ENDPOINT must be set: the database names bytes that live in a bucket");
  }
  const store = new S3Store(address, await findPrefix(db, `${address.endpoint}/${address.bucket}`));
  try {
    await checkBucket(store, address.bucket, named);
    // Last, since it marks the bucket as ours.
    await store.probe();
  } catch (error) {
    if (!(error instanceof ObjectStoreError && error.isRefusal)) throw error;
    throw new WrongBucket(`Cannot start: S3_BUCKET ${address.bucket} cannot be used: ${error.message}`);
  }
  attachObjectStore(db, store);
}

/** A bucket may have lost objects: it is ours if one of them is there, or the mark that each start leaves. */
async function checkBucket(store: S3Store, bucket: string, named: readonly string[]): Promise<void> {
  const [first] = named;
  if (first === undefined) return;
  const marks = named.map((key) => markOf(key.slice(0, key.indexOf("/"))));
  for (const key of new Set([store.mark, ...marks, ...named])) if (await store.has(key)) return;
  throw new WrongBucket(
    `Cannot start: S3_BUCKET ${bucket} is not the one with this database's bytes: it has neither ${
      marks[0]
    } nor any of ` +
      `${named.length} objects that rows name, such as ${first}; if it is the right one and has lost them, put an empty ` +
      `object ${marks[0]} into it`,
  );
}

/** This database's own prefix in a bucket: two databases may share one, and each removes its own objects alone. */
async function findPrefix(db: Db, bucket: string): Promise<string> {
  await db.insert(objectPrefixes).values({ bucket }).onConflictDoNothing();
  const [row] = await db.select().from(objectPrefixes).where(eq(objectPrefixes.bucket, bucket));
  if (row === undefined) throw new Error(`Cannot find the prefix of ${bucket}: it is deleted`);
  return row.prefix;
}

/** Some objects that rows name, of each kind. */
async function findNamedObjects(db: Db): Promise<string[]> {
  const lists = await Promise.all(
    [candleChunks, resultChunks, resultCandles].map((table) =>
      db.select({ object: table.object }).from(table).where(isNotNull(table.object)).limit(NAMED_MAX)
    ),
  );
  return lists.flat().flatMap(({ object }) => object ?? []);
}

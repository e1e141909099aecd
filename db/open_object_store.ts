/** The object store of a database, at the start of a process. */
import { eq, isNotNull } from "drizzle-orm";
import type { Db } from "./database.ts";
import { attachObjectStore } from "./postgres_session.ts";
import { candleChunks, objectPrefixes, resultChunks } from "./schema.ts";
import { LostObject, ObjectStoreError } from "./objects/object_store.ts";
import { type BucketAddress, S3Store } from "./objects/s3_store.ts";

/** A bucket that cannot be this database's; the message is one line that names the setting. */
export class WrongBucket extends Error {
  override readonly name = "WrongBucket";
}

/**
 * Has the bytes of a database's new rows live in a bucket.
 *
 * @param address The bucket; undefined: the rows keep their bytes.
 * @throws {WrongBucket} When rows name objects and no bucket is given, it lacks them, or its server refuses us.
 * @throws {ObjectStoreError} When the server does not answer.
 */
export async function openObjectStore(db: Db, address: BucketAddress | undefined): Promise<void> {
  const named = await findNamedObject(db);
  if (address === undefined) {
    if (named === undefined) return;
    throw new WrongBucket("Cannot start: S3_ENDPOINT must be set: the database names bytes that live in a bucket");
  }
  const bucket = `${address.endpoint}/${address.bucket}`;
  const store = new S3Store(address, await findPrefix(db, bucket));
  try {
    await store.probe();
    if (named !== undefined) await store.get(named);
  } catch (error) {
    if (error instanceof ObjectStoreError && error.isRefusal) {
      throw new WrongBucket(`Cannot start: S3_BUCKET ${address.bucket} cannot be used: ${error.message}`);
    }
    if (!(error instanceof LostObject)) throw error;
    throw new WrongBucket(`Cannot start: S3_BUCKET is not the one with this database's bytes: ${error.message}`);
  }
  attachObjectStore(db, store);
}

/** This database's own prefix in a bucket: two databases may share one, and each removes its own objects alone. */
async function findPrefix(db: Db, bucket: string): Promise<string> {
  await db.insert(objectPrefixes).values({ bucket }).onConflictDoNothing();
  const [row] = await db.select().from(objectPrefixes).where(eq(objectPrefixes.bucket, bucket));
  if (row === undefined) throw new Error(`Cannot find the prefix of ${bucket}: it is deleted`);
  return row.prefix;
}

async function findNamedObject(db: Db): Promise<string | undefined> {
  for (const table of [candleChunks, resultChunks]) {
    const [row] = await db.select({ object: table.object }).from(table).where(isNotNull(table.object)).limit(1);
    if (row?.object) return row.object;
  }
  return undefined;
}

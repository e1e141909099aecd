import { PGlite } from "@electric-sql/pglite";
import { drizzle as drizzlePglite } from "drizzle-orm/pglite";
import type { Db } from "./database.ts";
import { loadPgliteFiles } from "./embedded/pglite_files.ts";
import { migrateEmbedded, migrateServer } from "./migrate.ts";
import { PostgresClient } from "./postgres.ts";
import { PostgresPool } from "./postgres_pool.ts";
import { createPostgresDatabase } from "./postgres_session.ts";
import * as schema from "./schema.ts";

export type { Db };

/** An open database with its migrations applied. */
export interface DatabaseHandle {
  readonly db: Db;
  /** The queue runs its own statements: on the same PGlite, or on a pool of its own. */
  readonly connection:
    | { readonly kind: "pglite"; readonly pglite: PGlite }
    | { readonly kind: "postgres"; readonly url: string };
  close(): Promise<void>;
}

// PGlite's own conversions of bytea go byte by byte, and take as long as all else that reading candles needs.
const BYTEA = 17;
const parseBytea = (text: string) => Uint8Array.fromHex(text.slice("\\x".length));

// Our transactions wait for the database alone. A transaction that is idle for longer belongs to a process that hangs; its locks would keep
// other processes from taking over its work.
const IDLE_IN_TRANSACTION_MS_MAX = 10_000;

/**
 * Opens the embedded database.
 *
 * PGlite has no lock of its own: the caller holds the data directory (see data_directory.ts).
 *
 * @param folder Where its files are, or `memory://` for a database that closing removes.
 * @throws {SchemaMismatch} When a version before 0.1.0 made the tables.
 * @throws When the folder cannot be written or holds the files of another PostgreSQL version.
 */
export async function openPglite(folder: string): Promise<DatabaseHandle> {
  const pglite = await PGlite.create(folder, {
    ...await loadPgliteFiles(),
    parsers: { [BYTEA]: parseBytea },
  });
  // Its types ask for text. Bytes that stay bytes are sent in the protocol's binary format, which halves the time of a write.
  Object.assign(pglite.serializers, { [BYTEA]: (bytes: Uint8Array) => bytes });
  const db = drizzlePglite(pglite, { schema });
  try {
    await migrateEmbedded(db);
  } catch (error) {
    await pglite.close();
    throw error;
  }
  return { db, connection: { kind: "pglite", pglite }, close: () => pglite.close() };
}

/**
 * Opens a PostgreSQL database and brings its tables up to date; processes that start at once wait for each other.
 *
 * @param url See parseAddress in postgres_socket.ts.
 * @param connectionsMax How many connections this process may hold, without those of the queue.
 * @throws {SchemaMismatch} When a version before 0.1.0 made the tables.
 * @throws When the server cannot be reached.
 */
export async function openPostgres(url: string, connectionsMax: number): Promise<DatabaseHandle> {
  const migrator = await PostgresClient.connect(url);
  try {
    await migrateServer(migrator);
  } finally {
    await migrator.close();
  }
  const settings = { idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX };
  const pool = new PostgresPool(url, connectionsMax, { settings });
  return { db: createPostgresDatabase(pool), connection: { kind: "postgres", url }, close: () => pool.close() };
}

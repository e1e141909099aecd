import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { getLogger } from "@logtape/logtape";
import { drizzle as drizzlePglite } from "drizzle-orm/pglite";
import { migrate as migratePglite } from "drizzle-orm/pglite/migrator";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import { drizzle as drizzlePostgres } from "drizzle-orm/node-postgres";
import { migrate as migratePostgres } from "drizzle-orm/node-postgres/migrator";
// @ts-types="@types/pg"
import pg from "pg";
import * as schema from "./schema.ts";

const log = getLogger(["hindcast", "db"]);

/** A database, or a transaction on one, whichever driver is below. */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>;

/** An open database with its migrations applied. */
export interface DatabaseHandle {
  readonly db: Db;
  /** What the queue needs, since it brings its own statements: the same PGlite, or an address for a pool of its own. */
  readonly connection:
    | { readonly kind: "pglite"; readonly pglite: PGlite }
    | { readonly kind: "postgres"; readonly url: string };
  close(): Promise<void>;
}

const migrations = { migrationsFolder: fileURLToPath(new URL("./migrations", import.meta.url)) };

// Both drivers' own conversions of bytea go byte by byte, and take as long as all else that is done to read candles.
const BYTEA = 17;
const serializeBytea = (bytes: Uint8Array) => `\\x${bytes.toHex()}`;
const parseBytea = (text: string) => Uint8Array.fromHex(text.slice("\\x".length));
// Drizzle takes the parsers of the whole module.
pg.types.setTypeParser(BYTEA, parseBytea);

// Any constant will do: it only has to be the same in every process that migrates the same database.
const MIGRATION_LOCK = 7_405_101_984;

// A statement waits so long for a free connection, or for the server to take a new one.
const CONNECT_MS_MAX = 30_000;
// No transaction of ours waits for anything but the database. One that does belongs to a process that hangs, and its locks would keep
// others from taking that process's work over.
const IDLE_IN_TRANSACTION_MS_MAX = 10_000;

/**
 * Opens the embedded database.
 *
 * PGlite has no lock of its own: the caller holds the data directory (see data_directory.ts).
 *
 * @param folder Where its files are, or `memory://` for one that is gone when closed.
 * @throws When the folder cannot be written or holds the files of another PostgreSQL version.
 */
export async function openPglite(folder: string): Promise<DatabaseHandle> {
  const pglite = await PGlite.create(folder, {
    serializers: { [BYTEA]: serializeBytea },
    parsers: { [BYTEA]: parseBytea },
  });
  const db = drizzlePglite(pglite, { schema });
  await migratePglite(db, migrations);
  return { db, connection: { kind: "pglite", pglite }, close: () => pglite.close() };
}

/**
 * Opens a PostgreSQL database and brings its tables up to date; processes that start at once take turns.
 *
 * @param url `postgres://user:password@host:port/database`
 * @param connectionsMax How many connections this process may hold, the queue's own not counted.
 * @throws When the server cannot be reached.
 */
export async function openPostgres(url: string, connectionsMax = 10): Promise<DatabaseHandle> {
  const migrator = new pg.Client(url);
  migrator.on("error", logItsEnd);
  await migrator.connect();
  try {
    await migrator.query(`select pg_advisory_lock(${MIGRATION_LOCK})`);
    await migratePostgres(drizzlePostgres(migrator), migrations);
  } finally {
    // Closing the session gives the lock back.
    await migrator.end();
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAlive: true,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
  });
  pool.on("error", logItsEnd);
  pool.on("connect", (client) => client.on("error", logItsEnd));
  return { db: drizzlePostgres(pool, { schema }), connection: { kind: "postgres", url }, close: () => pool.end() };
}

// Whose statement a broken connection takes along is told by that statement, and the next one gets a new connection; but an "error"
// event that nobody listens to would be thrown and end the process.
function logItsEnd(error: Error): void {
  log.warn("A database connection has ended: {error}", { error });
}

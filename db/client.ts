import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { drizzle as drizzlePglite } from "drizzle-orm/pglite";
import { migrate as migratePglite } from "drizzle-orm/pglite/migrator";
import type { PgDatabase, PgQueryResultHKT } from "drizzle-orm/pg-core";
import { migrate as migratePostgres } from "drizzle-orm/pg-proxy/migrator";
import { loadPgliteFiles } from "./embedded/pglite_files.ts";
import { PostgresClient } from "./postgres.ts";
import { PostgresPool } from "./postgres_pool.ts";
import { createPostgresDatabase } from "./postgres_session.ts";
import * as schema from "./schema.ts";

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

// PGlite's own conversions of bytea go byte by byte, and take as long as all else that reading candles needs.
const BYTEA = 17;
const serializeBytea = (bytes: Uint8Array) => `\\x${bytes.toHex()}`;
const parseBytea = (text: string) => Uint8Array.fromHex(text.slice("\\x".length));

// Any constant will do: it only has to be the same in every process that migrates the same database.
const MIGRATION_LOCK = 7_405_101_984;

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
    ...await loadPgliteFiles(),
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
  await migrate(url);
  const settings = { idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX };
  const pool = new PostgresPool(url, connectionsMax, { settings });
  return { db: createPostgresDatabase(pool), connection: { kind: "postgres", url }, close: () => pool.close() };
}

async function migrate(url: string): Promise<void> {
  const client = await PostgresClient.connect(url);
  try {
    await client.query(`select pg_advisory_lock(${MIGRATION_LOCK})`);
    const runAll = (statements: readonly string[]) =>
      client.transaction(async () => {
        for (const statement of statements) await client.query(statement);
      });
    await migratePostgres(createPostgresDatabase(client), runAll, migrations);
  } finally {
    // Closing the session gives the lock back.
    await client.close();
  }
}

/** The rows of a statement that drizzle's `execute` ran: PGlite answers with an object around them. */
export function rowsOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  if (typeof answer === "object" && answer !== null && "rows" in answer && Array.isArray(answer.rows)) {
    return answer.rows;
  }
  throw new TypeError("Cannot find the rows in what is no answer of a statement");
}

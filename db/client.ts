import type { Db } from "./database.ts";
import { PgliteServer } from "./embedded/pglite_server.ts";
import { migrate } from "./migrate.ts";
import { PostgresClient } from "./postgres/postgres.ts";
import { PostgresPool } from "./postgres/postgres_pool.ts";
import type { PostgresAddress } from "./postgres/postgres_socket.ts";
import { createPostgresDatabase } from "./postgres_session.ts";
import { watchSilentSessions } from "./silent_sessions.ts";

export type { Db };

/** An open database with its migrations applied. */
export interface DatabaseHandle {
  readonly db: Db;
  /** The queue runs its own statements: on the one connection of PGlite, or on a pool of its own. */
  readonly connection: PgliteConnection | { readonly kind: "postgres"; readonly url: string };
  close(): Promise<void>;
}

/** The embedded database's one connection. */
export interface PgliteConnection {
  readonly kind: "pglite";
  readonly pool: PostgresPool;
  /** Calls back with the payload of each notification on a channel. @returns A function that ends it. */
  listen(channel: string, onNotification: (payload: string) => void): Promise<() => void>;
}

// Our transactions wait for the database alone. A transaction that is idle for longer belongs to a process that hangs; its locks would keep
// other processes from taking over its work.
const IDLE_IN_TRANSACTION_MS_MAX = 10_000;

/**
 * Opens the embedded database and brings its tables up to date. The caller holds the data directory (see data_directory.ts).
 *
 * @param folder Where its files are, or `memory://` for a database that closing removes.
 * @throws {SchemaMismatch} When a version before 0.1.0, or a newer one than this, made the tables.
 * @throws When the folder cannot be written or holds the files of another PostgreSQL version.
 */
export async function openPglite(folder: string, whileOpening?: () => void): Promise<DatabaseHandle> {
  const server = await PgliteServer.open(folder, whileOpening);
  try {
    await migrateOn(server.address);
  } catch (error) {
    await server.close();
    throw error;
  }
  const listeners = new Set<(channel: string, payload: string) => void>();
  const onNotify = (channel: string, payload: string) => listeners.forEach((listener) => listener(channel, payload));
  const pool = new PostgresPool(server.address, 1, { dates: "Date", onNotify });
  const listen: PgliteConnection["listen"] = async (channel, onNotification) => {
    const listener = (name: string, payload: string) => {
      if (name === channel) onNotification(payload);
    };
    listeners.add(listener);
    await pool.query(`listen "${channel}"`);
    return () => void listeners.delete(listener);
  };
  const close = async () => {
    await pool.close();
    await server.close();
  };
  return { db: createPostgresDatabase(pool), connection: { kind: "pglite", pool, listen }, close };
}

/**
 * Opens a PostgreSQL database and brings its tables up to date; processes that start at once wait for each other.
 *
 * @param url See parseAddress in postgres_socket.ts.
 * @param connectionsMax How many connections this process may hold, without those of the queue.
 * @throws {SchemaMismatch} When a version before 0.1.0, or a newer one than this, made the tables.
 * @throws When the server cannot be reached.
 */
export async function openPostgres(url: string, connectionsMax: number): Promise<DatabaseHandle> {
  await migrateOn(url);
  const settings = { application_name: "hindcast", idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX };
  const pool = new PostgresPool(url, connectionsMax, { settings });
  const unwatch = watchSilentSessions(pool, IDLE_IN_TRANSACTION_MS_MAX);
  const close = async () => {
    unwatch();
    await pool.close();
  };
  return { db: createPostgresDatabase(pool), connection: { kind: "postgres", url }, close };
}

async function migrateOn(server: string | PostgresAddress): Promise<void> {
  const client = await PostgresClient.connect(server);
  try {
    await migrate(client);
  } finally {
    await client.close();
  }
}

import { getLogger } from "@logtape/logtape";
import { is, SQL, sql } from "drizzle-orm";
import { type Db as BossDatabase, fromDrizzle, fromPglite } from "pg-boss";
import { rowsOf } from "../../db/answer_rows.ts";
import type { DatabaseHandle, Db } from "../../db/client.ts";
import { PostgresListener } from "../../db/postgres_listener.ts";
import { PostgresPool } from "../../db/postgres_pool.ts";

const log = getLogger(["hindcast", "queue"]);

const CONNECTIONS_MAX = 4;

/**
 * The database as pg-boss uses it, and a function that disconnects; PGlite's one connection belongs to the handle.
 *
 * @param name The `application_name` of the connections to PostgreSQL.
 */
export function connectBoss({ connection }: DatabaseHandle, name: string) {
  if (connection.kind === "pglite") {
    return { db: fromPglite(connection.pglite), backend: "pglite" as const, disconnect: () => Promise.resolve() };
  }
  const db = openBossDatabase(connection.url, name);
  return { db, disconnect: () => db.close() };
}

/** The caller's transaction as pg-boss uses it. */
export function inTransaction(tx: Db): ReturnType<typeof fromDrizzle> {
  const { executeSql } = fromDrizzle({ execute: (query) => executeRows(tx, query) }, sql);
  return { executeSql: (text, values) => executeSql(text, values?.map(toParameter)) };
}

// pg-boss expects the driver to turn objects into JSON, which drizzle prevents.
function toParameter(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value;
}

async function executeRows(tx: Db, query: unknown): Promise<{ rows: unknown[] }> {
  if (!is(query, SQL)) throw new TypeError("Cannot execute a value that is not an SQL statement");
  return { rows: [...rowsOf(await tx.execute(query))] };
}

function openBossDatabase(url: string, name: string): BossDatabase & { close(): Promise<void> } {
  const settings = { application_name: name };
  const pool = new PostgresPool(url, CONNECTIONS_MAX, { dates: "Date", settings });
  return {
    executeSql: async (text, values) => ({ rows: await pool.query(text, values) }),
    listen: (channel, onNotification, onConnect) => {
      const onError = (error: unknown) => log.error("The queue's database connection: {error}", { error });
      return PostgresListener.open(url, { channel, settings, onNotification, onConnect, onError });
    },
    close: () => pool.close(),
  };
}

import { getLogger } from "@logtape/logtape";
import { sql } from "drizzle-orm";
import type { Db as BossDatabase } from "pg-boss";
import type { DatabaseHandle, Db, PgliteConnection } from "../../db/client.ts";
import { PostgresListener } from "../../db/postgres/postgres_listener.ts";
import { PostgresPool } from "../../db/postgres/postgres_pool.ts";
import { queryText } from "../../db/postgres_session.ts";
import { expectStatement } from "../../db/unit_of_work.ts";
import { FaultLog } from "./fault_log.ts";

const log = getLogger(["hindcast", "queue"]);
const faults = new FaultLog((message, properties) => log.error(message, properties));

const CONNECTIONS_MAX = 3;

/** A PostgreSQL database as pg-boss uses it, on connections of its own. @param name The connections' `application_name`. */
function openBossDatabase(url: string, name: string): BossDatabase & { close(): Promise<void> } {
  const settings = { application_name: name };
  const pool = new PostgresPool(url, CONNECTIONS_MAX, { dates: "Date", settings });
  return {
    executeSql: async (text, values) => ({ rows: await pool.query(text, values) }),
    listen: (channel, onNotification, onConnect) => {
      const onError = (error: unknown) => faults.report("The queue's database connection: {error}", { error });
      return PostgresListener.open(url, { channel, settings, onNotification, onConnect, onError });
    },
    close: () => pool.close(),
  };
}

/** The embedded database as pg-boss uses it, on the connection that the service uses too. */
function openEmbeddedBossDatabase({ pool, listen }: PgliteConnection): BossDatabase {
  return {
    executeSql: async (text, values) => ({ rows: await pool.query(text, values) }),
    async listen(channel, onNotification, onConnect) {
      const end = await listen(channel, onNotification);
      onConnect();
      return { close: () => Promise.resolve(end()) };
    },
  };
}

/**
 * pg-boss's connection to the database, and the call that ends it; the connection of PGlite belongs to the handle.
 *
 * @param name The connections' `application_name` on PostgreSQL.
 */
export function connectBoss({ connection }: Pick<DatabaseHandle, "connection">, name: string) {
  if (connection.kind === "pglite") {
    const db = openEmbeddedBossDatabase(connection);
    return { db, backend: "pglite" as const, disconnect: () => Promise.resolve() };
  }
  const db = openBossDatabase(connection.url, name);
  return { db, disconnect: () => db.close() };
}

/**
 * Ends the heartbeats of all held jobs. An embedded database belongs to one process, so at its opening any holder is dead, and the next
 * monitor pass need not wait for missed heartbeats.
 */
export async function endHeartbeats(db: Db): Promise<void> {
  await db.execute(
    sql`update pgboss.job set heartbeat_on = '-infinity' where state = 'active' and heartbeat_on is not null`,
  );
}

/** Has pg-boss send a statement in the caller's transaction. @param act Calls pg-boss with the transaction as it uses it. */
export async function inTransaction<Answer>(tx: Db, act: (db: BossDatabase) => Promise<Answer>): Promise<Answer> {
  const onSent = expectStatement(tx);
  try {
    return await act({
      async executeSql(text, values) {
        const answer = queryText(tx, text, values);
        onSent();
        return { rows: await answer };
      },
    });
  } finally {
    onSent();
  }
}

import { getLogger } from "@logtape/logtape";
import type { PostgresPool } from "../postgres/postgres_pool.ts";

const log = getLogger(["hindcast", "queue"]);

const INTERVAL_MS = 10 * 60_000;

/**
 * Vacuums the embedded database regularly, since PGlite has no autovacuum: dead rows of ended jobs would pile up, and the planner would
 * use the statistics of an empty database.
 *
 * The one connection is busy for milliseconds meanwhile. A pass without new writes does nothing.
 *
 * @param intervalMs Between two passes.
 * @returns A function that ends it, after the current pass.
 */
export function keepVacuumed(pool: Pick<PostgresPool, "query">, intervalMs = INTERVAL_MS): () => Promise<void> {
  let passing = Promise.resolve();
  let writesSeen: unknown;
  const pass = async () => {
    try {
      const writes = await countWrites(pool);
      if (writes === writesSeen) return;
      await pool.query("vacuum analyze");
      // Counted afterwards, so that its own writes cause no other pass.
      writesSeen = await countWrites(pool);
    } catch (error) {
      log.error("Cannot vacuum the embedded database: {error}", { error });
    }
  };
  const timer = setInterval(() => passing = passing.then(pass), intervalMs);
  return async () => {
    clearInterval(timer);
    await passing;
  };
}

// The position of the write-ahead log.
async function countWrites(pool: Pick<PostgresPool, "query">): Promise<unknown> {
  const [row] = await pool.query("select pg_current_wal_insert_lsn()::text as position");
  return Object(row).position;
}

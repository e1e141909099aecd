import { getLogger } from "@logtape/logtape";
import type { PGlite } from "@electric-sql/pglite";

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
export function keepVacuumed(pglite: PGlite, intervalMs = INTERVAL_MS): () => Promise<void> {
  let passing = Promise.resolve();
  let writesSeen: string | undefined;
  const pass = async () => {
    try {
      const writes = await countWrites(pglite);
      if (writes === writesSeen) return;
      await pglite.exec("vacuum analyze");
      // Counted afterwards, so that its own writes cause no other pass.
      writesSeen = await countWrites(pglite);
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
async function countWrites(pglite: PGlite): Promise<string | undefined> {
  const { rows } = await pglite.query<{ position: string }>("select pg_current_wal_insert_lsn()::text as position");
  return rows[0]?.position;
}

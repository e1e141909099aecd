import { getLogger } from "@logtape/logtape";
import type { PGlite } from "@electric-sql/pglite";

const log = getLogger(["hindcast", "queue"]);

const INTERVAL_MS = 10 * 60_000;

/**
 * Does now and then what a PostgreSQL server's autovacuum would do: PGlite has none, so that the rows of ended jobs would pile up
 * and the planner would go by the statistics of an empty database.
 *
 * The one connection is busy meanwhile, for milliseconds; nothing is done while nothing was written.
 *
 * @param intervalMs How often it looks.
 * @returns What ends it, after a pass that is under way.
 */
export function keepVacuumed(pglite: PGlite, intervalMs = INTERVAL_MS): () => Promise<void> {
  let passing = Promise.resolve();
  let writesSeen: string | undefined;
  const pass = async () => {
    try {
      const writes = await countWrites(pglite);
      if (writes === writesSeen) return;
      await pglite.exec("vacuum analyze");
      // Counted after it, since what it writes itself is no reason for another.
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

// How far the write-ahead log has come.
async function countWrites(pglite: PGlite): Promise<string | undefined> {
  const { rows } = await pglite.query<{ position: string }>("select pg_current_wal_insert_lsn()::text as position");
  return rows[0]?.position;
}

import { getLogger } from "@logtape/logtape";
import type { PostgresPool } from "./postgres/postgres_pool.ts";

const log = getLogger(["hindcast", "db"]);

// postgres.js sends a new statement in two parts: between them it asks for the types of the parameters. The server counts a session that waits
// for the second part as active, so that idle_in_transaction_session_timeout does not end it.
const SILENT = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and usename = current_user and application_name = current_setting('application_name')
    and state = 'active' and wait_event = 'ClientRead' and state_change < now() - $1::float8 * interval '1 ms'`;

/**
 * Ends, again and again, sessions of this service that have sent half of a statement and nothing since. Their processes hang, and the locks
 * that they hold would keep other processes from taking over their work.
 *
 * @param pool Of sessions with the same `application_name`.
 * @returns A function that ends the watch.
 */
export function watchSilentSessions(pool: PostgresPool, silenceMs: number): () => void {
  const look = async () => {
    try {
      const count = (await pool.query(SILENT, [silenceMs])).length;
      if (count > 0) log.warn("Ended {count} database sessions of processes that hang", { count });
    } catch (error) {
      log.debug("Cannot look for sessions that hang: {error}", { error });
    }
  };
  const timer = setInterval(() => void look(), silenceMs);
  return () => clearInterval(timer);
}

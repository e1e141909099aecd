import { getLogger } from "@logtape/logtape";
import type { Db } from "../../db/client.ts";
import { describeNewerSchema, readSchemaState } from "../../db/schema_version.ts";
import { retryOnDatabaseFault } from "../common/retry.ts";
import type { Changes } from "./changes.ts";

const log = getLogger(["hindcast", "db"]);

/**
 * Watches for a newer version's migration of the database under this process.
 *
 * @param onNewer Called once. This version does not know what the newer one's jobs are.
 * @returns A function that ends the watch.
 * @throws When the database cannot be reached.
 */
export async function watchSchema(db: Db, changes: Changes, onNewer: () => Promise<void>): Promise<() => void> {
  const ended = new AbortController();
  let isNewer = false;
  const look = async () => {
    if (isNewer || ended.signal.aborted) return;
    const schema = await retryOnDatabaseFault(ended.signal, () => readSchemaState(db));
    if (schema.state !== "newer" || isNewer) return;
    isNewer = true;
    log.error("This process takes no more jobs, and serves on what it can: {reason}", {
      reason: describeNewerSchema(schema),
    });
    await onNewer();
  };
  const unsubscribe = await changes.subscribe("schema", () => {
    look().catch((error) => log.error("Cannot read the schema's version: {error}", { error }));
  });
  return () => {
    unsubscribe();
    ended.abort();
  };
}

import { openPglite, openPostgres } from "../db/client.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { archiveYears, type Year } from "./run_path_cases.ts";

/** Secrets of a service on PostgreSQL. */
const BETTER_AUTH_SECRET = "a secret of at least 32 characters";

/** Archives the year in a new database on PostgreSQL, if TEST_DATABASE_URL is set. @param measure Gets a service's environment. */
export async function onPostgres(
  year: Year,
  measure: (kind: "PostgreSQL", environment: Record<string, string>) => Promise<void>,
): Promise<void> {
  if (!Deno.env.has("TEST_DATABASE_URL")) return;
  const { url, drop } = await createTestDatabase();
  try {
    const handle = await openPostgres(url, 1);
    await archiveYears(handle.db, year);
    await handle.close();
    await measure("PostgreSQL", { DATABASE_URL: url, BETTER_AUTH_SECRET });
  } finally {
    await drop();
  }
}

/** Like onPostgres(), and on an embedded database before. */
export async function onBothDatabases(
  year: Year,
  measure: (kind: "embedded" | "PostgreSQL", environment: Record<string, string>) => Promise<void>,
): Promise<void> {
  const DATA_DIR = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
  try {
    const handle = await openPglite(`${DATA_DIR}/database`);
    await archiveYears(handle.db, year);
    await handle.close();
    await measure("embedded", { DATA_DIR });
  } finally {
    await Deno.remove(DATA_DIR, { recursive: true });
  }
  await onPostgres(year, measure);
}

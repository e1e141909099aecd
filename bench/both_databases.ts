import { type DatabaseHandle, openPglite, openPostgres } from "../db/client.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { archiveYears, type Year } from "./run_path_cases.ts";

/** Where a service keeps its records. */
export type Kind = "embedded" | "PostgreSQL";

/** A new database. */
interface BenchDatabase {
  /** Of a service on it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Opens it, while no service has it. */
  open(): Promise<DatabaseHandle>;
  drop(): Promise<void>;
}

/** The kinds that there are: PostgreSQL where TEST_DATABASE_URL is set. */
export const KINDS: readonly Kind[] = Deno.env.has("TEST_DATABASE_URL") ? ["embedded", "PostgreSQL"] : ["embedded"];

/** Makes an empty database. */
export async function makeDatabase(kind: Kind): Promise<BenchDatabase> {
  if (kind === "PostgreSQL") {
    const { url, drop } = await createTestDatabase();
    const environment = { DATABASE_URL: url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
    return { environment, open: () => openPostgres(url, 4), drop };
  }
  const DATA_DIR = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
  const drop = () => Deno.remove(DATA_DIR, { recursive: true });
  return { environment: { DATA_DIR }, open: () => openPglite(`${DATA_DIR}/database`), drop };
}

/** Measures on a new database of each kind, in which a year is archived. @param measure Gets a service's environment. */
export async function onBothDatabases(
  year: Year,
  measure: (kind: Kind, environment: BenchDatabase["environment"]) => Promise<void>,
  kinds = KINDS,
): Promise<void> {
  for (const kind of kinds) {
    const { environment, open, drop } = await makeDatabase(kind);
    try {
      const handle = await open();
      await archiveYears(handle.db, year);
      await handle.close();
      await measure(kind, environment);
    } finally {
      await drop();
    }
  }
}

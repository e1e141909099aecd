import { sql } from "drizzle-orm";
import { migrate as migratePostgres } from "drizzle-orm/pg-proxy/migrator";
import type { PostgresClient } from "./postgres/postgres.ts";
import { createPostgresDatabase } from "./postgres_session.ts";
import { MIGRATIONS, notifyOfMigration, requireOwnSchema } from "./schema_version.ts";

// Any constant will do, if every process that migrates the same database uses it.
const MIGRATION_LOCK = 7_405_101_984;

/**
 * Brings the tables of a database up to date; processes that start at once wait for each other.
 *
 * The lock is the transaction's: a pooler may keep a session, and its locks, after the client has gone.
 *
 * @throws {SchemaMismatch}
 */
export async function migrate(client: PostgresClient): Promise<void> {
  const db = createPostgresDatabase(client);
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${sql.raw(String(MIGRATION_LOCK))})`);
    const isBehind = await requireOwnSchema(tx);
    const runAll = async (statements: readonly string[]) => {
      for (const statement of statements) await client.query(statement);
    };
    await migratePostgres(db, runAll, MIGRATIONS);
    if (isBehind) await notifyOfMigration(tx);
  });
}

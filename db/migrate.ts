import { type SQL, sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { migrate as migratePostgres } from "drizzle-orm/pg-proxy/migrator";
import { fileURLToPath } from "node:url";
import type { PostgresClient } from "./postgres/postgres.ts";
import { createPostgresDatabase } from "./postgres_session.ts";
import { rowsOf } from "./answer_rows.ts";

const MIGRATIONS = { migrationsFolder: fileURLToPath(new URL("./migrations", import.meta.url)) };
// Any constant will do, if every process that migrates the same database uses it.
const MIGRATION_LOCK = 7_405_101_984;

/** The tables of the database are not those of this version, and no migration leads from the one to the other. */
export class SchemaMismatch extends Error {
  override readonly name = "SchemaMismatch";
}

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
    await requireReleased(tx);
    const runAll = async (statements: readonly string[]) => {
      for (const statement of statements) await client.query(statement);
    };
    await migratePostgres(db, runAll, MIGRATIONS);
  });
}

interface Executor {
  execute(query: SQL): PromiseLike<unknown>;
}

/** Refuses a database that began with another migration than ours, or that keeps a row for each trade, as those of before 0.1.0 did. */
async function requireReleased(db: Executor): Promise<void> {
  if (!await hasTable(db, "drizzle.__drizzle_migrations")) return;
  const [first] = rowsOf(await db.execute(sql`select hash from drizzle.__drizzle_migrations order by id limit 1`));
  const isOurs = first === undefined || Object(first).hash === readMigrationFiles(MIGRATIONS)[0]?.hash;
  const hasRows = await hasTable(db, "backtest_trades") &&
    rowsOf(await db.execute(sql`select from backtest_trades limit 1`)).length > 0;
  if (isOurs && !hasRows) return;
  throw new SchemaMismatch(
    "Cannot open the database: a version before 0.1.0 made its tables; use an empty database or another DATA_DIR",
  );
}

async function hasTable(db: Executor, table: string): Promise<boolean> {
  const [found] = rowsOf(await db.execute(sql`select to_regclass(${table}) as name`));
  return Object(found).name !== null;
}

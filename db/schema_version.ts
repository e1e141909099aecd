/** The version of a database's tables: the number of migrations that have run. Each build knows its own. */
import { type SQL, sql } from "drizzle-orm";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { rowsOf } from "./answer_rows.ts";
import { CHANGES_CHANNEL } from "./change_channel.ts";

/** Where the migrations are. */
export const MIGRATIONS = { migrationsFolder: fileURLToPath(new URL("./migrations", import.meta.url)) };

/** The tables of the database are not those of this version, and no migration leads from the one to the other. */
export class SchemaMismatch extends Error {
  override readonly name = "SchemaMismatch";
}

/** The schema of a database beside that of this build. */
export interface SchemaState {
  /** `newer`: another build has migrated further. `older`: migrations of this build are missing, as after a restored backup. */
  readonly state: "current" | "newer" | "older";
  readonly applied: number;
  readonly known: number;
}

type Queryable = { execute(query: SQL): PromiseLike<unknown> };

const countSchema = z.object({ applied: z.coerce.number(), later: z.coerce.number() });
let migrations: readonly MigrationMeta[] | undefined;

/** The migrations of this build, oldest first. */
function knownMigrations(): readonly MigrationMeta[] {
  return migrations ??= readMigrationFiles(MIGRATIONS);
}

/** The version of the schema that this build makes. */
export function ownSchemaVersion(): number {
  return knownMigrations().length;
}

/** Compares the schema of a database with this build's. @throws When no version has made its tables. */
export async function readSchemaState(db: Queryable): Promise<SchemaState> {
  const last = knownMigrations().at(-1)?.folderMillis ?? 0;
  const known = ownSchemaVersion();
  const [row] = rowsOf(
    await db.execute(sql`
      select count(*) as applied, count(*) filter (where created_at > ${sql.raw(String(last))}) as later
      from drizzle.__drizzle_migrations`),
  );
  const { applied, later } = countSchema.parse(row);
  const state = later > 0 || applied > known ? "newer" : applied < known ? "older" : "current";
  return { state, applied, known };
}

/**
 * Refuses tables that no migration of ours leads on from: those of a newer version, and those of before 0.1.0, which began with another
 * migration or have a row for each trade.
 *
 * @returns True if migrations are to run.
 * @throws {SchemaMismatch}
 */
export async function requireOwnSchema(db: Queryable): Promise<boolean> {
  if (!await hasTable(db, "drizzle.__drizzle_migrations")) return true;
  const [first] = rowsOf(await db.execute(sql`select hash from drizzle.__drizzle_migrations order by id limit 1`));
  const isOurs = first === undefined || Object(first).hash === knownMigrations()[0]?.hash;
  const hasRows = await hasTable(db, "backtest_trades") &&
    rowsOf(await db.execute(sql`select from backtest_trades limit 1`)).length > 0;
  if (!isOurs || hasRows) {
    throw new SchemaMismatch(
      "Cannot open the database: a version before 0.1.0 made its tables; use an empty database or another DATA_DIR",
    );
  }
  const schema = await readSchemaState(db);
  if (schema.state === "newer") throw new SchemaMismatch(`Cannot start: ${describeNewerSchema(schema)}`);
  return schema.state === "older";
}

async function hasTable(db: Queryable, table: string): Promise<boolean> {
  const [found] = rowsOf(await db.execute(sql`select to_regclass(${table}) as name`));
  return Object(found).name !== null;
}

/** Notifies running processes, when the migration commits, that the schema may not be theirs any more. */
export async function notifyOfMigration(db: Queryable): Promise<void> {
  await db.execute(sql`select pg_notify(${CHANGES_CHANNEL}, 'schema')`);
}

/** One line for logs and refusals. */
export function describeNewerSchema({ applied, known }: SchemaState): string {
  return `a newer version of Hindcast has migrated the database to schema ${applied}, and this one knows ${known}: ` +
    "start the newer version, or restore the backup from before the upgrade";
}

import { expect } from "@std/expect";
import { is, sql } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { fileURLToPath } from "node:url";
import { type Db, openPostgres } from "../../db/client.ts";
import { migrate } from "../../db/migrate.ts";
import { rowsOf } from "../../db/answer_rows.ts";
import * as schema from "../../db/schema.ts";
import { administer, createTestDatabase, eachDatabaseTest, testServerUrl } from "../support/database.ts";
import { startProcess } from "../support/process.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("../../db/migrations", import.meta.url));

eachDatabaseTest("an opened database has every table", async ({ db }) => {
  for (const table of Object.values(schema).filter((value) => is(value, PgTable))) {
    expect(await db.select().from(table).limit(1)).toEqual([]);
  }
});

Deno.test("processes that start at once on an empty PostgreSQL database all come up, and each migration is applied once", async () => {
  const { url, drop } = await createTestDatabase();
  const environment = { DATABASE_URL: url, WORKERS: "0", BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  const countMigrations = () => administer(url, "select count(*)::integer as count from drizzle.__drizzle_migrations");
  try {
    const processes = await Promise.all([1, 2].map(() => startProcess("serve", environment)));
    const { length } = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER });
    expect(await countMigrations()).toEqual([{ count: length }]);
    for (const process of processes) {
      expect((await process.client().get("/api/health")).status).toBe(200);
      expect(await process.end("SIGTERM")).toMatchObject({ code: 0, stderr: "" });
    }
    await (await openPostgres(url, 1)).close();
    expect(await countMigrations()).toEqual([{ count: length }]);
  } finally {
    await drop();
  }
});

Deno.test("a connection that ends within a transaction breaks that transaction alone", async () => {
  const { url, drop } = await createTestDatabase();
  const handle = await openPostgres(url, 1);
  try {
    const broken = handle.db.transaction(async (tx: Db) => {
      await tx.execute(sql`select 1`);
      const name = new URL(url).pathname.slice(1);
      await administer(
        await testServerUrl(),
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
      );
      // The first statement meets the end while it is on its way, the second after it was noticed.
      await expect(tx.execute(sql`select 2`)).rejects.toThrow();
      await tx.execute(sql`select 3`);
    });
    await expect(broken).rejects.toThrow();
    expect(rowsOf(await handle.db.execute(sql`select 4 as answer`))).toEqual([{ answer: 4 }]);
  } finally {
    await handle.close();
    await drop();
  }
});

Deno.test("a transaction in which nothing happens any more gives its locks back after ten seconds", async () => {
  const { url, drop } = await createTestDatabase();
  const { db, close } = await openPostgres(url, 1);
  const shown = await db.execute(sql`show idle_in_transaction_session_timeout`);
  expect(rowsOf(shown)).toEqual([{ idle_in_transaction_session_timeout: "10s" }]);
  await close();
  await drop();
});

eachDatabaseTest("a database that a version before 0.1.0 made is refused in one line", async ({ db, connection }) => {
  const requireRefused = async () => {
    const refused = connection.kind === "pglite"
      ? connection.pool.transaction((client) => migrate(client))
      : openPostgres(connection.url, 2);
    await expect(refused).rejects.toThrow(
      "Cannot open the database: a version before 0.1.0 made its tables; use an empty database or another DATA_DIR",
    );
  };
  // A row for each trade.
  await db.execute(sql`create table backtest_trades as select 1 as number`);
  await requireRefused();
  await db.execute(sql`drop table backtest_trades`);
  await db.execute(sql`update drizzle.__drizzle_migrations set hash = 'another'`);
  await requireRefused();
});

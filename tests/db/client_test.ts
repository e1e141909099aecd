import { expect } from "@std/expect";
import { is, sql } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { drizzle } from "drizzle-orm/pglite";
import { type Db, openPostgres } from "../../db/client.ts";
import { migrateEmbedded } from "../../db/migrate.ts";
import { rowsOf } from "../../db/answer_rows.ts";
import * as schema from "../../db/schema.ts";
import { administer, createTestDatabase, eachDatabaseTest, testServerUrl } from "../support/database.ts";

eachDatabaseTest("an opened database has every table", async ({ db }) => {
  for (const table of Object.values(schema).filter((value) => is(value, PgTable))) {
    expect(await db.select().from(table).limit(1)).toEqual([]);
  }
});

Deno.test("processes that open the same new PostgreSQL database at once all succeed", async () => {
  const { url, drop } = await createTestDatabase();
  try {
    const handles = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url, 1)));
    for (const handle of handles) await handle.close();
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
  await db.execute(sql`update drizzle.__drizzle_migrations set hash = 'another'`);
  const refused = connection.kind === "pglite"
    ? migrateEmbedded(drizzle(connection.pglite, { schema }))
    : openPostgres(connection.url);
  await expect(refused).rejects.toThrow(
    "Cannot open the database: a version before 0.1.0 made its tables; use an empty database or another DATA_DIR",
  );
});

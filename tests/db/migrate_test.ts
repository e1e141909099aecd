import { expect } from "@std/expect";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { migrate as migratePostgres } from "drizzle-orm/pg-proxy/migrator";
import { fileURLToPath } from "node:url";
import { backtestRecords } from "../../db/backtests.ts";
import { findInstrument } from "../../db/instruments.ts";
import { migrate } from "../../db/migrate.ts";
import { PostgresClient } from "../../db/postgres/postgres.ts";
import { createPostgresDatabase } from "../../db/postgres_session.ts";
import { createTestDatabase } from "../support/database.ts";

const migrationsFolder = fileURLToPath(new URL("../../db/migrations", import.meta.url));

Deno.test("a database of the first migration keeps its rows and gets the later columns", async () => {
  const { url, drop } = await createTestDatabase();
  const client = await PostgresClient.connect(url);
  const [first] = readMigrationFiles({ migrationsFolder });
  for (const statement of first!.sql) await client.query(statement);
  await client.query(`
    create schema drizzle;
    create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint);
    insert into drizzle.__drizzle_migrations (hash, created_at) values ('${first!.hash}', ${first!.folderMillis});
    insert into instruments (id, symbol, exchange, asset_class, provider)
      values ('0193a000-0000-7000-8000-000000000000', 'GOOG', 'NASDAQ', 'stock', 'import');
  `);
  await migrate(client);
  const db = createPostgresDatabase(client);
  const instrument = await findInstrument(db, { symbol: "GOOG", exchange: "NASDAQ" });
  expect(instrument).toMatchObject({ assetClass: "stock", session: null });
  expect(instrument?.usedAt).toBeInstanceOf(Date);
  await client.close();
  await drop();
});

Deno.test("keys of submissions of a table of their own go to their backtests", async () => {
  const { url, drop } = await createTestDatabase();
  const client = await PostgresClient.connect(url);
  const folder = await Deno.makeTempDir();
  try {
    await copyMigrations(folder, 30);
    await migratePostgres(createPostgresDatabase(client), async (statements) => {
      for (const statement of statements) await client.query(statement);
    }, { migrationsFolder: folder });
    await client.query(`
      insert into "user" (id, name, email) values ('ann', 'Ann', 'ann@example.com');
      insert into backtests (id, owner_id, symbol, exchange, strategy, start_date, end_date, initial_balance, parameters)
        select id, 'ann', 'GOOG', 'NASDAQ', 'sma_cross', '2020-01-01', '2020-02-01', 1000, '{}'
        from unnest(array['0193a000-0000-7000-8000-000000000001', '0193a000-0000-7000-8000-000000000002']::uuid[]) as id;
      insert into idempotency_keys (owner_id, key, request_sha256, backtest_id)
        values ('ann', 'one', 'abc', '0193a000-0000-7000-8000-000000000001');
    `);
    await migrate(client);
    const db = createPostgresDatabase(client);
    const found = await backtestRecords.findSubmission(db, { ownerId: "ann", key: "one" });
    expect(found).toMatchObject({ id: "0193a000-0000-7000-8000-000000000001", requestSha256: "abc" });
    expect(await backtestRecords.findSubmission(db, { ownerId: "ann", key: "two" })).toBeNull();
  } finally {
    await Deno.remove(folder, { recursive: true });
    await client.close();
    await drop();
  }
});

/** The first so many migrations, as an earlier version had them. */
async function copyMigrations(folder: string, count: number): Promise<void> {
  const journal = JSON.parse(await Deno.readTextFile(`${migrationsFolder}/meta/_journal.json`));
  const entries: { readonly tag: string }[] = journal.entries.slice(0, count);
  await Deno.mkdir(`${folder}/meta`);
  await Deno.writeTextFile(`${folder}/meta/_journal.json`, JSON.stringify({ ...journal, entries }));
  for (const { tag } of entries) await Deno.copyFile(`${migrationsFolder}/${tag}.sql`, `${folder}/${tag}.sql`);
}

import { expect } from "@std/expect";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { fileURLToPath } from "node:url";
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

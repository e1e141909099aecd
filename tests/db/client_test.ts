import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { createTestDatabase, databaseTest } from "../support/database.ts";

databaseTest("an opened database has every table", async ({ db }) => {
  const rows = await db.execute(sql`select table_name from information_schema.tables where table_schema = 'public'`);
  expect(rows).toBeDefined();
  await db.execute(sql`select * from backtests, backtest_trades, candle_chunks, instruments, ingestion_events`);
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

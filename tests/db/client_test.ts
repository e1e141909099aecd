import { expect } from "@std/expect";
import { is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { openPostgres } from "../../db/client.ts";
import * as schema from "../../db/schema.ts";
import { createTestDatabase, databaseTest } from "../support/database.ts";

databaseTest("an opened database has every table", async ({ db }) => {
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

import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import { createTestDatabase } from "../support/database.ts";

const caught = (attempt: Promise<unknown>) => attempt.then(() => null, (error: unknown) => error);

Deno.test("an ended connection and a server that does not answer are faults of the database, a wrong statement is none", async () => {
  const { url, drop } = await createTestDatabase();
  const { db, close } = await openPostgres(url, 1);
  const ended = await caught(db.execute(sql`select pg_terminate_backend(pg_backend_pid())`));
  expect([ended instanceof Error, isDatabaseFault(ended)]).toEqual([true, true]);
  const wrong = await caught(db.execute(sql`select 1 / 0`));
  expect([wrong instanceof Error, isDatabaseFault(wrong)]).toEqual([true, false]);
  const away = new URL(url);
  // Nobody listens on a port of TCP's own.
  away.port = "1";
  expect(isDatabaseFault(await caught(openPostgres(away.href, 1)))).toBe(true);
  expect(isDatabaseFault("ECONNREFUSED")).toBe(false);
  await close();
  await drop();
});

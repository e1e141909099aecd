import { expect } from "@std/expect";
import { isDatabaseFault } from "../../../db/faults.ts";
import { PostgresPool } from "../../../db/postgres/postgres_pool.ts";
import { createTestDatabase } from "../../support/database.ts";

const caught = (attempt: Promise<unknown>) => attempt.then(() => null, (error: unknown) => error);

Deno.test("a pool that closes ends the call that it has lent a connection, refuses the others, and keeps no timer", async () => {
  const { url, drop } = await createTestDatabase();
  const pool = new PostgresPool(url, 1);
  await pool.query("select 1");
  const lent = pool.query("select 2 as two");
  const waiting = caught(pool.query("select 3"));
  const closing = pool.close();
  const late = caught(pool.query("select 4"));
  await closing;
  expect(await lent).toEqual([{ two: 2 }]);
  for (const error of [await waiting, await late]) {
    expect(isDatabaseFault(error)).toBe(true);
    expect(error).toHaveProperty("message", "The connections to the database are closed");
  }
  await drop();
});

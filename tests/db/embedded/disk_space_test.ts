import { expect } from "@std/expect";
import { isDatabaseFault } from "../../../db/faults.ts";
import { guardDiskSpace } from "../../../db/embedded/disk_space.ts";
import { addUser } from "../../support/backtests.ts";
import { openTestDatabase } from "../../support/database.ts";
import { until } from "../../support/until.ts";

Deno.test("a database on a full disk can be read but not written until there is space again", async () => {
  const { db, connection, close } = await openTestDatabase("PGlite");
  if (connection.kind !== "pglite") throw new Error("Cannot be but PGlite");
  const { pool } = connection;
  // No disk has this much space.
  const end = guardDiskSpace(pool, ".", Infinity);
  const readOnly = "select 1 where current_setting('default_transaction_read_only') = 'on'";
  await until(async () => (await pool.query(readOnly)).length > 0);
  const refused = await addUser(db, "ann").then(() => null, (error: unknown) => error);
  expect(isDatabaseFault(refused)).toBe(true);
  expect([...await pool.query("select count(*)::integer as count from backtests")]).toEqual([{ count: 0 }]);
  await end();
  await addUser(db, "ann");
  await close();
});

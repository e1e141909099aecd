import { expect } from "@std/expect";
import { openPglite } from "../../../db/client.ts";
import { isDatabaseFault } from "../../../db/faults.ts";
import { keepRoom } from "../../../db/embedded/disk_space.ts";
import { addUser } from "../../support/backtests.ts";
import { until } from "../../support/until.ts";

Deno.test("a database without room on its disk is read and not written until there is room", async () => {
  const { db, connection, close } = await openPglite("memory://");
  if (connection.kind !== "pglite") throw new Error("Cannot be but PGlite");
  const { pglite } = connection;
  // No disk has so much.
  const end = keepRoom(pglite, ".", Infinity);
  const readOnly = "select 1 where current_setting('default_transaction_read_only') = 'on'";
  await until(async () => (await pglite.query(readOnly)).rows.length > 0);
  const refused = await addUser(db, "ann").then(() => null, (error: unknown) => error);
  expect(isDatabaseFault(refused)).toBe(true);
  expect((await pglite.query("select count(*)::integer as count from backtests")).rows).toEqual([{ count: 0 }]);
  await end();
  await addUser(db, "ann");
  await close();
});

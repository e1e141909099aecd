import { expect } from "@std/expect";
import { openPglite } from "../../db/client.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import { keepRoom } from "../../db/room.ts";
import { addUser } from "../support/backtests.ts";

Deno.test("a database without room on its disk is read and not written until there is room", async () => {
  const { db, connection, close } = await openPglite("memory://");
  if (connection.kind !== "pglite") throw new Error("Cannot be but PGlite");
  const { pglite } = connection;
  // No disk has so much.
  const end = keepRoom(pglite, ".", Infinity);
  const isReadOnly = async () => (await pglite.query("show default_transaction_read_only")).rows;
  const on = [{ default_transaction_read_only: "on" }];
  while (JSON.stringify(await isReadOnly()) !== JSON.stringify(on)) await new Promise((wake) => setTimeout(wake, 20));
  const refused = await addUser(db, "ann").then(() => null, (error: unknown) => error);
  expect(isDatabaseFault(refused)).toBe(true);
  expect((await pglite.query("select count(*)::integer as count from backtests")).rows).toEqual([{ count: 0 }]);
  await end();
  await addUser(db, "ann");
  await close();
});

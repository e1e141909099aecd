import { expect } from "@std/expect";
import { PgliteServer } from "../../../db/embedded/pglite_server.ts";
import { PostgresClient } from "../../../db/postgres/postgres.ts";
import { openTestDatabase } from "../../support/database.ts";

Deno.test("while the embedded database works, the process does other things", async () => {
  const { connection, close } = await openTestDatabase("PGlite");
  if (connection.kind !== "pglite") throw new Error("Cannot be but PGlite");
  let turns = 0;
  let isAnswered = false;
  const answer = connection.pool.query("select sum(n)::text as sum from generate_series(1, 2000000) as n")
    .finally(() => isAnswered = true);
  while (!isAnswered) {
    await new Promise((resume) => setTimeout(resume, 1));
    turns++;
  }
  expect([...await answer]).toEqual([{ sum: "2000001000000" }]);
  // One turn is the one in which the answer came.
  expect(turns).toBeGreaterThan(5);
  await close();
});

Deno.test("a connection to the embedded database leaves no transaction, lock or statement to the next", async () => {
  const server = await PgliteServer.open("memory://");
  const first = await PostgresClient.connect(server.address);
  await first.query("create table notes (id integer)");
  await first.query("begin");
  await first.query("insert into notes values ($1)", [1]);
  await first.query("select pg_advisory_lock(1)");
  await first.close();

  const second = await PostgresClient.connect(server.address);
  expect([...await second.query("select count(*)::integer as count from notes")]).toEqual([{ count: 0 }]);
  const locks = "select count(*)::integer as count from pg_locks where locktype = 'advisory'";
  expect([...await second.query(locks)]).toEqual([{ count: 0 }]);
  const statements = "select count(*)::integer as count from pg_prepared_statements";
  expect([...await second.query(statements)]).toEqual([{ count: 0 }]);
  // An error is one statement's own.
  await expect(second.query("select 1 / $1::integer", [0])).rejects.toThrow("division by zero");
  expect([...await second.query("select $1::integer as one", [1])]).toEqual([{ one: 1 }]);

  // A third takes the session from the second.
  const third = await PostgresClient.connect(server.address);
  await second.ended;
  await expect(second.query("select 1")).rejects.toThrow("The database connection has ended");
  expect([...await third.query("select 1 as one")]).toEqual([{ one: 1 }]);
  await third.close();
  await server.close();
});

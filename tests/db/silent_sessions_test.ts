import { expect } from "@std/expect";
import { PostgresPool } from "../../db/postgres/postgres_pool.ts";
import { ConnectionError } from "../../db/postgres/postgres_socket.ts";
import { watchSilentSessions } from "../../db/silent_sessions.ts";
import { createTestDatabase } from "../support/database.ts";
import { DatabaseProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";

// The first byte of the message with a statement's values.
const BIND = "B".charCodeAt(0);

Deno.test("a process that hangs in the middle of a statement loses its session, and its locks with it", async () => {
  const { url, drop } = await createTestDatabase();
  await using opened = new AsyncDisposableStack();
  opened.defer(drop);
  const proxy = new DatabaseProxy(url);
  proxy.open();
  opened.defer(() => proxy.shut());
  const settings = { application_name: "hindcast", idle_in_transaction_session_timeout: 100 };
  const pools = [url, proxy.url].map((each) => new PostgresPool(each, 2, { settings }));
  for (const pool of pools) opened.defer(() => pool.close());
  const [pool, hanging] = pools as [PostgresPool, PostgresPool];
  await pool.query("create table held (a integer); insert into held values (1)");

  const attempt = hanging.transaction(async (client) => {
    await client.query("update held set a = 2");
    proxy.withholds = ([first]) => first === BIND;
    await client.query("update held set a = $1::integer", [3]);
  }).then(() => null, (error: unknown) => error);
  const others = "from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
  await until(async () =>
    (await pool.query(`select ${others} and state = 'active' and wait_event = 'ClientRead'`)).length > 0
  );
  opened.defer(watchSilentSessions(pool, 100));
  expect(await attempt).toBeInstanceOf(ConnectionError);
  await until(async () => (await pool.query(`select ${others}`)).length === 0);
  expect(await pool.query("select a from held for update nowait")).toEqual([{ a: 1 }]);
});

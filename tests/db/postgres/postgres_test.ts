import { expect } from "@std/expect";
import { isDatabaseFault } from "../../../db/faults.ts";
import { type ClientOptions, PostgresClient } from "../../../db/postgres/postgres.ts";
import { PostgresPool } from "../../../db/postgres/postgres_pool.ts";
import { ConnectionError } from "../../../db/postgres/postgres_socket.ts";
import { createTestDatabase } from "../../support/database.ts";

const CONNECTIONS = 4;
const KILLS = 100;
const ROUNDS_MAX = 5 * KILLS;
// A caller that hangs waits for ever.
const SLOWEST_MS_MAX = 60_000;

async function withPool(
  body: (pool: PostgresPool, admin: PostgresClient, url: string) => Promise<void>,
  options: ClientOptions = {},
): Promise<void> {
  const { url, drop } = await createTestDatabase();
  await using opened = new AsyncDisposableStack();
  opened.defer(drop);
  const pool = new PostgresPool(url, CONNECTIONS, options);
  opened.defer(() => pool.close());
  const admin = await PostgresClient.connect(url);
  opened.defer(() => admin.close());
  await body(pool, admin, url);
}

const caught = (attempt: Promise<unknown>) => attempt.then(() => null, (error: unknown) => error);
const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

/** Keeps this thread from noticing anything for a while, as a busy service does. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Keeps this thread busy until a backend has ended, so that it has heard nothing of its end; for a moment where nobody can tell. */
function blockUntilEnded(pid: unknown): void {
  block(15);
  for (let waitedMs = 0; waitedMs < 2000 && isAlive(pid); waitedMs += 5) block(5);
}

function isAlive(pid: unknown): boolean {
  try {
    // A process that has ended keeps its place until its parent has seen that.
    return !/\) Z /.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

/** The backends of as many transactions at once as the pool has connections. */
async function listPids(pool: PostgresPool): Promise<ReadonlySet<unknown>> {
  const all = Promise.withResolvers<void>();
  let begun = 0;
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      pool.transaction(async (client) => {
        const rows = await client.query("select pg_backend_pid() as pid");
        // Each holds its connection until the last one has one, which the pool gives up waiting for.
        if (++begun === CONNECTIONS) all.resolve();
        await all.promise;
        return rows;
      })),
  ).finally(all.resolve);
  return new Set(answers.flat().map((row) => Object(row).pid));
}

Deno.test("connections that end before `begin`, a hundred times, leave every connection of the pool usable", () =>
  withPool(async (pool, admin) => {
    let failed = 0;
    for (let round = 0; failed < KILLS && round < ROUNDS_MAX; round++) {
      const rows = await pool.query("select pg_backend_pid() as pid").catch(() => null);
      // The end of the last round came late.
      if (rows === null) continue;
      const killing = admin.query("select pg_sleep(0.005), pg_terminate_backend($1)", [Object(rows[0]).pid]);
      await pause(1);
      blockUntilEnded(Object(rows[0]).pid);
      // The connection has ended, and nobody here has heard of it yet.
      const error = await caught(pool.transaction((client) => client.query("select 1")));
      if (error !== null) {
        expect([error instanceof ConnectionError, isDatabaseFault(error)]).toEqual([true, true]);
        failed++;
      }
      await killing;
    }
    expect(failed).toBe(KILLS);
    expect((await listPids(pool)).size).toBe(CONNECTIONS);
  }));

Deno.test("connections that end inside transactions leave no half of one, let no caller wait, and all are usable again", () =>
  withPool(async (pool, admin) => {
    await admin.query("create table pairs (transaction integer, half integer)");
    let next = 0;
    let isOver = false;
    const committed = new Set<number>();
    let slowestMs = 0;
    const submit = async () => {
      while (!isOver) {
        const id = next++;
        const begun = performance.now();
        const error = await caught(pool.transaction(async (client) => {
          await client.query("insert into pairs values ($1, 1)", [id]);
          if (id % 2 === 0) await pause(id % 7);
          else await client.query("select pg_sleep($1)", [id % 7 / 1000]);
          await client.query("insert into pairs values ($1, 2)", [id]);
        }));
        if (error === null) committed.add(id);
        else expect(isDatabaseFault(error)).toBe(true);
        slowestMs = Math.max(slowestMs, performance.now() - begun);
      }
    };
    const submitters = Array.from({ length: 2 * CONNECTIONS }, submit);
    for (let kills = 0; kills < KILLS;) {
      const killed = await admin.query(`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
        order by random() limit 1`);
      kills += killed.length;
      await pause(10);
    }
    isOver = true;
    await Promise.all(submitters);
    expect(slowestMs).toBeLessThan(SLOWEST_MS_MAX);
    const rows = (await admin.query("select transaction as id, count(*)::integer as halves from pairs group by 1"))
      .map(Object);
    expect(rows.filter(({ halves }) => halves !== 2)).toEqual([]);
    const found = new Set(rows.map(({ id }) => id));
    expect([...committed].filter((id) => !found.has(id))).toEqual([]);
    expect(committed.size).toBeGreaterThan(0);
    expect((await listPids(pool)).size).toBe(CONNECTIONS);
  }));

Deno.test("a transaction goes on after a nested one that failed, and a failed one leaves its connection clean", () =>
  withPool(async (pool, admin) => {
    await admin.query("create table numbers (n integer)");
    await pool.transaction(async (client) => {
      await client.query("insert into numbers values (1)");
      const nested = client.savepoint("inner_one", async () => {
        await client.query("insert into numbers values (2)");
        await client.query("select 1 / 0");
      });
      expect(await caught(nested)).toMatchObject({ code: "22012" });
      await client.query("insert into numbers values (3)");
    });
    const failed = pool.transaction((client) =>
      client.query("insert into numbers values (4)").then(() => client.query("!"))
    );
    expect(await caught(failed)).toMatchObject({ code: "42601" });
    expect(await caught(pool.query("begin; select 1 / 0; commit"))).toMatchObject({ code: "22012" });
    expect(await pool.query("select n from numbers order by n")).toMatchObject([{ n: 1 }, { n: 3 }]);
  }));

Deno.test("a pipelined transaction that reads first writes nothing where its `begin` fails, however late it asks", () =>
  withPool(async (pool, admin, url) => {
    await admin.query("create table numbers (n integer)");
    for (const isLate of [false, true]) {
      const client = await PostgresClient.connect(url);
      const query = client.query.bind(client);
      client.query = (text, values, shape) => query(text === "begin" ? "begin ?" : text, values, shape);
      const failed = client.pipelinedTransaction(async () => {
        if (isLate) await client.ended;
        await client.query("select n from numbers where n = $1", [1]);
        return { answer: client.query("insert into numbers values (1)") };
      });
      expect(await caught(failed)).toBeInstanceOf(Error);
      expect([client.isUsable, await admin.query("select n from numbers")]).toMatchObject([false, []]);
      await client.close();
    }
    await pool.pipelinedTransaction(async (client) => {
      await client.query("select n from numbers where n = $1", [1]);
      return { answer: client.query("insert into numbers values (1)") };
    });
    expect(await pool.query("select n from numbers")).toMatchObject([{ n: 1 }]);
  }));

Deno.test("a pipelined transaction leaves nothing of its last statements where any of them or its connection fails", () =>
  withPool(async (pool, admin) => {
    await admin.query("create table numbers (n integer)");
    const insert = (client: PostgresClient, n: number) => client.query("insert into numbers values ($1)", [n]);
    const writeWith = (fail: (client: PostgresClient) => Promise<unknown>) =>
      caught(
        pool.pipelinedTransaction((client) =>
          Promise.resolve({ answer: Promise.all([insert(client, 1), fail(client), insert(client, 2)]) })
        ),
      );
    // Twice, since a statement is prepared at its first use.
    for (let round = 0; round < 2; round++) {
      expect(await writeWith((client) => client.query("select 1 / $1::integer", [0]))).toMatchObject({ code: "22012" });
      expect(await writeWith((client) => client.query("select pg_terminate_backend(pg_backend_pid())")))
        .toBeInstanceOf(Error);
    }
    expect(await admin.query("select n from numbers")).toEqual([]);
    const counts = await pool.pipelinedTransaction((client) =>
      Promise.resolve({
        answer: Promise.all([insert(client, 3), client.query("select count(*)::integer as count from numbers")]),
      })
    );
    expect(counts[1]).toMatchObject([{ count: 1 }]);
    expect(await admin.query("select n from numbers")).toMatchObject([{ n: 3 }]);
  }));

Deno.test("a transaction fails with the error that aborted it, whichever of its statements is awaited first", () =>
  withPool(async (pool) => {
    const failing = async (client: PostgresClient) => {
      const query = client.query("select 1 / $1::integer", [0]);
      // A wrapper tells of it a moment later.
      await query.catch(() => new Promise((resume) => setTimeout(resume)));
      return await query;
    };
    const both = (client: PostgresClient) => Promise.all([failing(client), client.query("select 2")]);
    const first = { code: "22012" };
    expect(await caught(pool.transaction(both))).toMatchObject(first);
    expect(await caught(pool.pipelinedTransaction((client) => Promise.resolve({ answer: both(client) }))))
      .toMatchObject(first);
    const nested = pool.transaction(async (client) => {
      expect(await caught(client.savepoint("inner_one", () => both(client)))).toMatchObject(first);
      // The transaction goes on, and ends for another reason.
      const query = client.query("select $1::integer", ["x"]);
      await Promise.all([query.catch(() => new Promise((resume) => setTimeout(resume))), client.query("select 3")]);
    });
    expect(await caught(nested)).toMatchObject({ code: "22P02" });
  }));

Deno.test("a session prepares a bounded number of statements, however many different ones it runs", () =>
  withPool(async (pool) => {
    const count = () => pool.query("select count(*)::integer as count from pg_prepared_statements");
    let most = 0;
    for (let i = 0; i < 1200; i++) {
      expect(await pool.query(`select $1::integer + ${i} as sum`, [1])).toMatchObject([{ sum: i + 1 }]);
      if (i % 100 === 99) most = Math.max(most, Object((await count())[0]).count);
    }
    expect(most).toBeGreaterThan(50);
    expect(most).toBeLessThanOrEqual(500);
    const inOne = await pool.transaction(async (client) => {
      for (let i = 0; i < 600; i++) await client.query(`select $1::integer - ${i}`, [1]);
      return await client.query("select count(*)::integer as count from pg_prepared_statements");
    });
    expect(Object(inOne[0]).count).toBeLessThanOrEqual(500);
  }));

const VALUES = `
  select '\\x00ff'::bytea as bytes, '{"a": [1, null]}'::jsonb as jsonb, '[true]'::json as json, true as yes,
    32767::smallint as small, -2147483648 as whole, 9007199254740993 as big, 0.1::real as single, 1e300::float8 as double,
    0.10::numeric as decimal, null as nothing, 'ä"\\' as text, '{1,NULL,3}'::integer[] as numbers,
    array['a b', null, '"\\,{}', ''] as texts, array[9007199254740993] as bigs,
    '{00000000-0000-0000-0000-000000000001}'::uuid[] as ids`;
const READ = {
  bytes: new Uint8Array([0, 255]),
  jsonb: { a: [1, null] },
  json: [true],
  yes: true,
  small: 32767,
  whole: -2147483648,
  big: "9007199254740993",
  single: 0.1,
  double: 1e300,
  decimal: "0.10",
  nothing: null,
  text: 'ä"\\',
  numbers: [1, null, 3],
  texts: ["a b", null, '"\\,{}', ""],
  bigs: ["9007199254740993"],
  ids: ["00000000-0000-0000-0000-000000000001"],
};

Deno.test("values are read as their types are: integers beyond 2 ** 53 and decimals as text, the others as values", () =>
  withPool(async (pool) => {
    expect(await pool.query(VALUES)).toMatchObject([READ]);
    expect(await pool.query(VALUES, [], "arrays")).toMatchObject([Object.values(READ)]);
    const moment = "2024-02-29 12:34:56.789+00";
    const shown = "select $1::timestamptz at time zone 'UTC' as moment, set_config('TimeZone', 'UTC', false)";
    expect(await pool.query(shown, [new Date("2024-02-29T12:34:56.789Z")])).toMatchObject([{
      moment: moment.slice(0, -3),
    }]);
  }));

Deno.test("written values come back: bytes, documents, arrays, moments, numbers and null", () =>
  withPool(async (pool) => {
    const moment = new Date("2024-02-29T12:34:56.789Z");
    const values = [new Uint8Array([1, 2]), { a: "ü" }, ['a"b\\', null, ""], moment, 2n ** 60n, 0.1, false, null];
    const [row] = await pool.query(
      `select $1::bytea as bytes, $2::jsonb as json, $3::text[] as texts, $4::timestamptz as moment, $5::bigint as big,
        $6::float8 as double, $7::boolean as no, $8::text as nothing`,
      values,
    );
    expect(row).toMatchObject({
      bytes: values[0],
      json: values[1],
      texts: values[2],
      moment,
      big: "1152921504606846976",
      double: 0.1,
      no: false,
      nothing: null,
    });
  }, { dates: "Date" }));

Deno.test("several statements at once answer with the rows of all", () =>
  withPool(async (pool) => {
    expect(await pool.query("begin; select 1 as n; select 2 as n; commit")).toMatchObject([{ n: 1 }, { n: 2 }]);
  }));

Deno.test("a server that closes new connections is a fault of the database", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  // Accepts and closes: no PostgreSQL.
  const accepting = listener.accept().then((connection) => connection.close());
  const error = await caught(PostgresClient.connect(`postgres://nobody@127.0.0.1:${port}/none`));
  expect([error instanceof ConnectionError, isDatabaseFault(error)]).toEqual([true, true]);
  await accepting;
});

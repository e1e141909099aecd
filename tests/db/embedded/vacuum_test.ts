import { expect } from "@std/expect";
import { keepVacuumed } from "../../../db/embedded/vacuum.ts";
import type { PostgresPool } from "../../../db/postgres/postgres_pool.ts";
import { openTestDatabase } from "../../support/database.ts";
import { until } from "../../support/until.ts";

const SOON_MS = 5;

async function withPool(body: (pool: PostgresPool) => Promise<void>): Promise<void> {
  const { connection, close } = await openTestDatabase("PGlite");
  try {
    if (connection.kind !== "pglite") throw new Error("Cannot be but PGlite");
    await body(connection.pool);
  } finally {
    await close();
  }
}

async function read(pool: PostgresPool, statement: string): Promise<unknown> {
  return Object(await pool.query(statement).then(([row]) => row)).value;
}

Deno.test("rows that were deleted make room again in a long-lived embedded database", () =>
  withPool(async (pool) => {
    const size = "select pg_relation_size('jobs')::integer as value";
    await pool.query("create table jobs (id integer, data text)");
    const fill = () => pool.query("insert into jobs select i, repeat('x', 100) from generate_series(1, 10000) i");
    await fill();
    await pool.query("delete from jobs");
    expect(await read(pool, size)).toBeGreaterThan(1_000_000);

    const stop = keepVacuumed(pool, SOON_MS);
    // Nothing but dead rows: the table shrinks to nothing.
    await until(async () => await read(pool, size) === 0);
    await fill();
    const analyzed = "select reltuples::integer as value from pg_class where relname = 'jobs'";
    await until(async () => await read(pool, analyzed) === 10_000);
    await stop();
  }));

Deno.test("an idle database is left alone", () =>
  withPool(async (pool) => {
    const passes: string[] = [];
    const seen = Promise.withResolvers<void>();
    let looks = 0;
    const watched: Pick<PostgresPool, "query"> = {
      query(text) {
        if (text.startsWith("vacuum")) passes.push(text);
        else if (++looks === 10) seen.resolve();
        return pool.query(text);
      },
    };
    const stop = keepVacuumed(watched, SOON_MS);
    await seen.promise;
    await stop();
    expect(passes).toEqual(["vacuum analyze"]);
  }));

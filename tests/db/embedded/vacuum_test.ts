import { PGlite } from "@electric-sql/pglite";
import { expect } from "@std/expect";
import { keepVacuumed } from "../../../db/embedded/vacuum.ts";
import { until } from "../../support/until.ts";

const SOON_MS = 5;

async function bytesOf(pglite: PGlite): Promise<number | undefined> {
  const { rows } = await pglite.query<{ bytes: number }>("select pg_relation_size('jobs')::integer as bytes");
  return rows[0]?.bytes;
}

Deno.test("rows that were deleted make room again in a long-lived embedded database", async () => {
  const pglite = await PGlite.create("memory://");
  await pglite.exec("create table jobs (id integer, data text)");
  const fill = () => pglite.exec("insert into jobs select i, repeat('x', 100) from generate_series(1, 10000) i");
  await fill();
  await pglite.exec("delete from jobs");
  const full = await bytesOf(pglite);
  expect(full).toBeGreaterThan(1_000_000);

  const stop = keepVacuumed(pglite, SOON_MS);
  // Nothing but dead rows: the table shrinks to nothing.
  await until(async () => await bytesOf(pglite) === 0);
  await fill();
  const analyzed = "select reltuples::integer as rows from pg_class where relname = 'jobs'";
  await until(async () => (await pglite.query<{ rows: number }>(analyzed)).rows[0]?.rows === 10_000);
  await stop();
  await pglite.close();
});

Deno.test("an idle database is left alone", async () => {
  const pglite = await PGlite.create("memory://");
  const passes: string[] = [];
  const exec = pglite.exec.bind(pglite);
  const seen = Promise.withResolvers<void>();
  const query = pglite.query.bind(pglite);
  let looks = 0;
  const watched = Object.assign(Object.create(pglite), {
    exec: (text: string) => (passes.push(text), exec(text)),
    query: (text: string) => (++looks === 10 && seen.resolve(), query(text)),
  });
  const stop = keepVacuumed(watched, SOON_MS);
  await seen.promise;
  await stop();
  expect(passes).toEqual(["vacuum analyze"]);
  await pglite.close();
});

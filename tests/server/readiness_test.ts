import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { healthRouter } from "../../routers/health.ts";
import { strangerContext } from "../support/context.ts";
import { administer, createTestDatabase } from "../support/database.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const WELL = { database: "ok", queue: "ok", schema: "current", workers: "alive" };

Deno.test("a process that can do all of its work is ready, and another one says why not", async (t) => {
  const service = await startTestService("PostgreSQL");
  const stranger = service.client();
  const ready = () => stranger.get("/api/health/ready");
  const database = new URL(service.databaseUrl).pathname.slice(1);
  // From another database: what is set here holds for all connections to this one.
  const outside = new URL("/postgres", service.databaseUrl).href;
  const reconnect = () =>
    administer(outside, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
  const first = await ready();
  expect([first.status, first.at("/checks"), first.at("/reasons")]).toEqual([200, WELL, []]);
  expect((await stranger.get("/api/health/live")).at("/status")).toBe("ok");

  await t.step("a database that cannot be written", async () => {
    await administer(outside, `alter database ${database} set default_transaction_read_only = on`);
    await reconnect();
    const answer = await until(async () => {
      const answer = await ready();
      return String(answer.at("/reasons/0")).startsWith("the database is read-only") && answer;
    });
    expect([answer.status, answer.at("/status"), answer.at("/checks/database")]).toEqual([503, "failed", "failed"]);
    // Reading still works, and the process is alive.
    expect((await stranger.get("/api/health/live")).status).toBe(200);
    await administer(outside, `alter database ${database} reset default_transaction_read_only`);
    await reconnect();
    await until(async () => (await ready()).status === 200);
  });

  await t.step("migrations that are missing", async () => {
    await administer(service.databaseUrl, "create table kept as select * from drizzle.__drizzle_migrations");
    await administer(
      service.databaseUrl,
      "delete from drizzle.__drizzle_migrations where id = (select max(id) from drizzle.__drizzle_migrations)",
    );
    const answer = await until(async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    expect([answer.at("/checks/schema"), answer.list("/reasons")]).toEqual(["older", [
      "the database lacks migrations of this version, as after a restored backup: restart the process",
    ]]);
    await administer(
      service.databaseUrl,
      "insert into drizzle.__drizzle_migrations select * from kept order by id desc limit 1",
    );
    await until(async () => (await ready()).status === 200);
  });
  await service.close();
});

Deno.test("a process is not ready once no worker was there for a minute", async () => {
  const { url, drop } = await createTestDatabase();
  const { db, close } = await openPostgres(url, 1);
  const answerAfter = (ms: number) =>
    healthRouter.createCaller(strangerContext(db, { startedAt: performance.now() - ms })).ready();
  expect(await answerAfter(30_000)).toMatchObject({ status: "ok", checks: { workers: "alive" } });
  await close();
  const second = await openPostgres(url, 1);
  const late = strangerContext(second.db, { startedAt: performance.now() - 61_000 });
  expect(await healthRouter.createCaller(late).ready()).toMatchObject({
    status: "failed",
    checks: { workers: "none" },
    reasons: ["no process has taken backtests for a minute: start a worker"],
  });
  await second.close();
  await drop();
});

import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { healthRouter } from "../../routers/health.ts";
import { strangerContext } from "../support/context.ts";
import { administer, createTestDatabase } from "../support/database.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { startPostgres } from "../support/postgres.ts";
import { startTestService } from "../support/service.ts";

// It means to tell within two seconds; a connection that says nothing would keep it for many minutes.
const TRUTH_MS_MAX = 60_000;
const OK = { status: "ok", checks: { database: "ok", queue: "ok" }, workers: "alive" };

/** Asks until the status is the one that is waited for, as whoever distributes traffic does. @returns The answer, and when it came. */
async function awaitStatus(client: TestClient, status: number): Promise<{ answer: Answer; afterMs: number }> {
  const begun = performance.now();
  for (;;) {
    const answer = await client.get("/api/health");
    const afterMs = performance.now() - begun;
    if (answer.status === status || afterMs > 2 * TRUTH_MS_MAX) return { answer, afterMs };
    // A moment between two questions.
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

Deno.test("the health tells of a fault soon, and of its end", async (t) => {
  const server = await startPostgres();
  // A first start on an empty server.
  const service = await startTestService("PostgreSQL", { DATABASE_URL: server.url, WORKERS: "1" });
  const stranger = service.client();
  const user = await service.user();
  const [healthy] = await Promise.all(Array.from({ length: 20 }, () => stranger.get("/api/health")));
  expect(healthy!.status).toBe(200);
  expect(JSON.parse(healthy!.text)).toMatchObject(OK);
  const both = { status: "failed", checks: { database: "failed", queue: "failed" }, workers: "unknown" };

  await t.step("a database that has crashed", async () => {
    await using restarting = new AsyncDisposableStack();
    restarting.defer(() => server.start());
    await server.halt();
    const { answer, afterMs } = await awaitStatus(stranger, 503);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([503, expect.objectContaining(both)]);
    expect(afterMs).toBeLessThan(TRUTH_MS_MAX);
    // A session could only be looked up in the database.
    expect((await user.get("/api/health")).status).toBe(503);
    // Nor can anything else be, which is said in the same words everywhere.
    const account = { email: "ada@example.com", password: "correct horse battery", name: "Ada" };
    for (
      const refused of [
        await user.get("/api/session"),
        await stranger.send("POST", "/api/auth/sign-in/email", account),
        await stranger.send("POST", "/api/auth/sign-up/email", account),
        await stranger.get("/api/market-data/instruments"),
      ]
    ) expect([refused.status, refused.at("/error/code")]).toEqual([503, "UNAVAILABLE"]);
    await restarting.disposeAsync();
    expect((await awaitStatus(stranger, 200)).afterMs).toBeLessThan(TRUTH_MS_MAX);
  });

  await t.step("a database that says nothing any more", async () => {
    // Without this, the next step would wait for ever after a failure here.
    await using thawing = new AsyncDisposableStack();
    thawing.defer(() => server.thaw());
    await server.freeze();
    const asked = await Promise.all(Array.from({ length: 20 }, () => awaitStatus(stranger, 503)));
    for (const { answer, afterMs } of asked) {
      expect([answer.status, JSON.parse(answer.text)]).toEqual([503, expect.objectContaining(both)]);
      expect(afterMs).toBeLessThan(TRUTH_MS_MAX);
    }
    await thawing.disposeAsync();
    expect((await awaitStatus(stranger, 200)).afterMs).toBeLessThan(TRUTH_MS_MAX);
  });

  await t.step("a queue that is not there", async () => {
    await administer(server.url, "alter schema pgboss rename to elsewhere");
    const { answer, afterMs } = await awaitStatus(stranger, 503);
    const checks = { database: "ok", queue: "failed" };
    expect([answer.status, JSON.parse(answer.text)]).toEqual([503, expect.objectContaining({ checks })]);
    expect(afterMs).toBeLessThan(TRUTH_MS_MAX);
    await administer(server.url, "alter schema elsewhere rename to pgboss");
    expect((await awaitStatus(stranger, 200)).afterMs).toBeLessThan(TRUTH_MS_MAX);
  });

  await service.close();
  await server.stop();
});

Deno.test("the health of an embedded service tells whether it has workers", async () => {
  for (const [WORKERS, workers] of [["1", "alive"], ["0", "none"]] as const) {
    const service = await startTestService("PGlite", { WORKERS });
    const answer = await service.client().get("/api/health");
    // A service without workers serves all the same.
    expect([answer.status, answer.at("/workers")]).toEqual([200, workers]);
    await service.close();
  }
});

Deno.test("a check is not failed by the time in which the service's own thread was busy", async () => {
  const { url, drop } = await createTestDatabase();
  const { db, close } = await openPostgres(url, 1);
  // It has the only connection, so that the check is still under way when the thread becomes busy.
  const slow = db.execute(sql`select pg_sleep(1)`);
  const health = healthRouter.createCaller(strangerContext(db)).get();
  await new Promise((resume) => setTimeout(resume, 50));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
  expect((await health).checks.database).toBe("ok");
  await slow;
  await close();
  await drop();
});

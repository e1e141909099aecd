/** What random requests (tests/fuzz) and reviews have found, each as the smallest case of its own. */
import { expect } from "@std/expect";
// @ts-types="@types/pg"
import pg from "pg";
import { BACKTEST } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { startProcess } from "../support/process.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

Deno.test("a strategy that is deleted while its next version's module is checked takes no version", async () => {
  const asked = Promise.withResolvers<void>();
  const deleted = Promise.withResolvers<void>();
  const module = await Deno.readFile(new URL("../../strategies/examples/c/sma_cross.wasm", import.meta.url));
  const files = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async () => {
    asked.resolve();
    await deleted.promise;
    return new Response(module);
  });
  const host = `127.0.0.1:${files.addr.port}`;
  const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: host });
  const user = await service.user();
  const artifact = { content_base64: module.toBase64() };
  const registered = await user.send("POST", "/api/strategies", {
    strategy: {
      slug: "gone-soon",
      name: "Gone",
      runtime_type: "wasm",
      language: "c",
      initial_version: { version: "1", runtime_config: { type: "wasm", artifact } },
    },
  });
  expect(registered.status).toBe(201);
  const runtime_config = { type: "wasm", moduleUrl: `http://${host}/module.wasm` };
  const adding = user.send("POST", "/api/strategies/gone-soon/versions", { version: { version: "2", runtime_config } });
  await asked.promise;
  expect((await user.send("DELETE", "/api/strategies/gone-soon")).status).toBe(204);
  deleted.resolve();
  const added = await adding;
  expect([added.status, added.at("/error/code")]).toEqual([404, "STRATEGY_NOT_FOUND"]);
  await service.close();
  await files.shutdown();
});

Deno.test("a year that PostgreSQL's calendar does not have is no date", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const admin = { "x-ingestion-admin-secret": INGESTION_SECRET };
  const answer = await service.client().send(
    "POST",
    "/api/admin/ingestion/run-once",
    { start_date: "0000-01-01" },
    admin,
  );
  expect([answer.status, answer.at("/error/issues/0/path")]).toEqual([400, "/start_date"]);
  await service.close();
});

Deno.test("a cancel or a deletion and the store of a result do not wait for each other", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const worker = new pg.Client(service.databaseUrl);
  await worker.connect();
  const blocked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  for (const [method, action] of [["POST", "/cancel"], ["DELETE", ""]] as const) {
    const accepted = await user.send("POST", "/api/backtests", { backtest: BACKTEST });
    const id = String(accepted.at("/backtest/id"));
    // A worker that stores has the record and goes on to the job.
    await worker.query("begin");
    await worker.query("update backtests set progress = 1 where id = $1", [id]);
    const answering = user.send(method, `/api/backtests/${id}${action}`);
    await until(async () => (await worker.query(blocked)).rowCount !== 0);
    const job = await worker.query("select id from pgboss.job where id = $1 for update nowait", [id]);
    expect(job.rowCount).toBe(1);
    await worker.query("commit");
    expect((await answering).status).toBeLessThan(300);
  }
  await worker.end();
  await service.close();
});

Deno.test("a body that is nested thousands of levels deep is refused by tRPC too, and by the accounts", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const json = { "content-type": "application/json" };
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const create = (levels: number) => user.send("POST", "/trpc/backtests.create", nested(levels), json);
  expect((await create(20_000)).at("/error/data/issues/0/message")).toBe("must not be nested more than 32 levels deep");
  // Not too deep, and wrong otherwise.
  expect((await create(32)).at("/error/data/issues/0/message")).toBe("is required");
  const signIn = await service.client().send("POST", "/api/auth/sign-in/email", nested(2000), json);
  expect([signIn.status, signIn.at("/error/code")]).toEqual([400, "VALIDATION_FAILED"]);
  await service.close();
});

Deno.test("a number that no double holds is refused by its place: it was kept as null", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const runtime = { type: "remote", endpoint: "https://signals.example.com/v1" };
  for (
    const [change, path] of [
      [{ initial_balance: "?" }, "/backtest/initial_balance"],
      [{ strategy: "inline", parameters: { runtime, weights: [1, "?"] } }, "/backtest/parameters/weights/1"],
    ] as const
  ) {
    const body = JSON.stringify({ backtest: { ...BACKTEST, ...change } }).replace('"?"', "-1e400");
    const answer = await user.send("POST", "/api/backtests", body, { "content-type": "application/json" });
    expect([answer.status, answer.at("/error/issues")])
      .toEqual([400, [{ path, message: "must be a number, not -Infinity" }]]);
  }
  await service.close();
});

Deno.test("null is none for each reserved parameter, and who gives a slug is told what is wrong beside it", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const submit = (parameters: object) => user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters } });
  const plain = await submit({ timeframe: null, execution: null, runtime: null });
  expect([plain.status, plain.at("/backtest/parameters/runtime")]).toEqual([202, undefined]);
  const refused = await submit({ runtime: { slug: "sma-cross", version: 1 } });
  expect(refused.at("/error/issues"))
    .toEqual([{ path: "/backtest/parameters/runtime/version", message: "must be of type string, not 1" }]);
  await service.close();
});

Deno.test("what strangers send wrongly to the accounts is not written down as an error", async () => {
  const { url, drop } = await createTestDatabase("service");
  const environment = { DATABASE_URL: url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  const service = await startProcess("serve", environment);
  const signIn = (body: string, type: string) =>
    service.client().send("POST", "/api/auth/sign-in/email", body, { "content-type": type });
  const answers = [
    await signIn("{", "application/json"),
    await signIn("{}", "text/plain"),
    await signIn("{}", "text/csv"),
  ];
  expect(answers.map(({ status }) => status)).toEqual([400, 415, 415]);
  const { code, stderr } = await service.end("SIGTERM");
  expect([code, stderr]).toEqual([0, ""]);
  await drop();
});

Deno.test("who waits for a backtest that is deleted meanwhile is told that it is gone", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const id = (await user.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id");
  const waiting = user.get(`/api/backtests/${id}?wait=30`);
  // One that asks later is answered later than the first look of the one that waits.
  expect((await user.get(`/api/backtests/${id}`)).status).toBe(200);
  expect((await user.send("DELETE", `/api/backtests/${id}`)).status).toBe(204);
  const answer = await waiting;
  expect([answer.status, answer.at("/error/code")]).toEqual([404, "BACKTEST_NOT_FOUND"]);
  await service.close();
});

Deno.test("a query's key that every object has is unknown like any other", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  for (const key of ["constructor", "__proto__", "toString", "nothing"]) {
    const answer = await user.get(`/api/backtests?${key}=1`);
    const issues = [{ path: `/${key}`, message: "is not a known key" }];
    expect([key, answer.status, answer.at("/error/issues")]).toEqual([key, 400, issues]);
  }
  await service.close();
});

Deno.test("a client that leaves within its request's body is no fault of the service's", async () => {
  const { url, drop } = await createTestDatabase("service");
  const secret = "a secret for ingestion tests";
  const service = await startProcess("serve", {
    DATABASE_URL: url,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    INGESTION_ADMIN_SECRET: secret,
    LOG_LEVEL: "info",
  });
  const user = service.client();
  await user.signUp();
  const { hostname, port } = new URL(service.url);
  for (
    const [path, type] of [
      ["/api/backtests", "application/json"],
      ["/api/auth/sign-in/email", "application/json"],
      ["/trpc/backtests.create", "application/json"],
      ["/api/admin/ingestion/import?symbol=X&exchange=Y&assetClass=stock&timeframe=1d", "text/csv"],
    ]
  ) {
    const head = [`POST ${path} HTTP/1.1`, "host: x", `cookie: ${user.cookie}`, `content-type: ${type}`];
    const rest = [`x-ingestion-admin-secret: ${secret}`, "content-length: 1000", "", '{"date,'];
    using connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(new TextEncoder().encode([...head, ...rest].join("\r\n")));
  }
  // Written in the order in which they ended: the last of a later one tells that all have.
  await user.get("/api/session");
  const { stderr } = await service.end("SIGTERM");
  const lines: Record<string, unknown>[] = stderr.trim().split("\n").map((line) => JSON.parse(line));
  const cut = lines.filter(({ method, status }) => method === "POST" && status !== 200);
  expect(cut.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
  expect(lines.filter(({ level }) => level === "ERROR")).toEqual([]);
  await drop();
});

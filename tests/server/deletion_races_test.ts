/** Deletions and cancellations that meet other work on the same record. */
import { expect } from "@std/expect";
import { PostgresClient } from "../../db/postgres/postgres.ts";
import { BACKTEST } from "../support/client.ts";
import { submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

Deno.test("a strategy takes no version when it is deleted during the module check", async () => {
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

Deno.test("a cancel or a deletion and the storing of a result do not wait for each other", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const worker = await PostgresClient.connect(service.databaseUrl);
  const blocked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  const acts = [["POST", "/cancel"], ["DELETE", ""]] as const;
  const submitBacktest = async () =>
    String((await user.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id"));
  const records = [["backtests", submitBacktest], ["optimizations", () => submitOptimization(user)]] as const;
  for (
    const [[table, submit], [method, action]] of records.flatMap((record) => acts.map((act) => [record, act] as const))
  ) {
    const id = await submit();
    // Like a worker that stores a result or a slice: it holds the record and goes on to the job.
    await worker.query("begin");
    await worker.query(`select from ${table} where id = $1 for update`, [id]);
    const answering = user.send(method, `/api/${table}/${id}${action}`);
    await until(async () => (await worker.query(blocked)).length !== 0);
    const job = await worker.query("select id from pgboss.job where id = $1 for update nowait", [id]);
    expect(job).toHaveLength(1);
    await worker.query("commit");
    expect((await answering).status).toBeLessThan(300);
  }
  await worker.close();
  await service.close();
});

Deno.test("a client that waits for a backtest gets 404 when the backtest is deleted", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const id = (await user.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id");
  const waiting = user.get(`/api/backtests/${id}?wait=30`);
  // This later request is answered after the first read of the waiting one.
  expect((await user.get(`/api/backtests/${id}`)).status).toBe(200);
  expect((await user.send("DELETE", `/api/backtests/${id}`)).status).toBe(204);
  const answer = await waiting;
  expect([answer.status, answer.at("/error/code")]).toEqual([404, "BACKTEST_NOT_FOUND"]);
  await service.close();
});

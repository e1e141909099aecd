/** Limits of one user, over HTTP and from the command line. */
import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { grantAdmin } from "../../db/users.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { runTaskCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { openQueue } from "../../workers/queue.ts";

const MODULE = new URL("../../strategies/examples/c/sma_cross.wasm", import.meta.url);
const NAMES = ["backtests_max", "optimizations_max", "result_bytes_max", "versions_max", "registry_bytes_max"];

const submit = (client: TestClient, more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  client.send("POST", "/api/backtests", {
    backtest: {
      symbol: "DEMO",
      exchange: "SAMPLE",
      strategy: "SMA Cross",
      start_date: "2024-01-01",
      end_date: "2024-02-01",
      initial_balance: 10_000,
      parameters: { timeframe: "1d", fast: 2, slow: 5 },
      ...more,
    },
  }, headers);

Deno.test("an admin gives a user limits of their own, which each request and each run reads", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", USER_OPTIMIZATIONS_MAX: "7" });
  const [admin, ann, bob] = [await service.user(), await service.user(), await service.user()];
  const handle = await openPostgres(service.databaseUrl, 1);
  await grantAdmin(handle.db, String((await admin.get("/api/session")).at("/user/email")));
  const { id, email } = Object((await ann.get("/api/session")).at("/user"));
  const path = `/api/admin/users/${id}/quotas`;
  const change = async (quotas: object) => {
    const answer = await admin.send("PATCH", path, { quotas });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('{"quotas":')]);
    return answer;
  };
  const own = (answer: Answer) => NAMES.map((name) => answer.at(`/quotas/${name}/own`));
  const refusal = (answer: Answer) => [answer.status, answer.at("/error/code"), answer.at("/error/message")];

  await t.step("only admins read and change them, and of users that exist", async () => {
    for (const [client, status] of [[service.client(), 401], [ann, 403]] as const) {
      expect((await client.get(path)).status).toBe(status);
      expect((await client.send("PATCH", path, { quotas: { backtests_max: 1 } })).status).toBe(status);
    }
    for (const unknown of ["nobody", "%27%20or%201", "x".repeat(100)]) {
      const answers = [
        await admin.get(`/api/admin/users/${unknown}/quotas`),
        await admin.send("PATCH", `/api/admin/users/${unknown}/quotas`, { quotas: {} }),
      ];
      expect(answers.map((answer) => answer.at("/error/code"))).toEqual(["USER_NOT_FOUND", "USER_NOT_FOUND"]);
    }
  });
  await t.step("a wrong one is refused by name", async () => {
    for (const wrong of [0, -1, 1.5, "5", 1e300, true]) {
      const answer = await admin.send("PATCH", path, { quotas: { versions_max: wrong } });
      expect([wrong, answer.status, answer.at("/error/issues/0/path")]).toEqual([wrong, 400, "/quotas/versions_max"]);
    }
    expect((await admin.send("PATCH", path, { quotas: { version_max: 1 } })).status).toBe(400);
  });
  await t.step("without their own, users have the service's", async () => {
    const answer = await admin.get(path);
    expect(own(answer)).toEqual([null, null, null, null, null]);
    expect(answer.at("/quotas/optimizations_max")).toEqual({ own: null, service: 7, used: 0 });
  });
  await t.step("backtests", async () => {
    await change({ backtests_max: 1 });
    const answers = [await submit(ann), await submit(ann), await submit(bob), await submit(bob)];
    expect(answers.map(({ status }) => status)).toEqual([202, 429, 202, 202]);
    expect(answers[1]!.at("/error/message")).toContain("1 of yours are queued or running");
    expect((await admin.get(path)).at("/quotas/backtests_max")).toEqual({ own: 1, service: 10_000, used: 1 });
  });
  await t.step("bytes of results, also of a request with a token", async () => {
    const token = await ann.send("POST", "/api/tokens", { token: { name: "x", scope: "run" } });
    const authorization = `Bearer ${token.at("/secret")}`;
    await change({ backtests_max: null, result_bytes_max: 10 });
    for (const answer of [await submit(ann), await submit(service.client(), {}, { authorization })]) {
      expect(refusal(answer)).toEqual([429, "QUOTA_EXCEEDED", expect.stringMatching(/may have 10;/)]);
    }
    expect((await submit(bob)).status).toBe(202);
  });
  await t.step("versions and bytes of modules", async () => {
    await change({ result_bytes_max: null, versions_max: 1, registry_bytes_max: 10 });
    const content_base64 = (await Deno.readFile(MODULE)).toBase64();
    const runtime = { type: "wasm", artifact: { content_base64 } };
    const queue = await openQueue({ handle, runSecondsMax: 60 });
    await queue.work(1);
    const brought = await submit(ann, { strategy: "mine", parameters: { timeframe: "1d", runtime } });
    expect(refusal(brought)).toEqual([429, "QUOTA_EXCEEDED", expect.stringMatching(/and may have 10;/)]);
    await change({ registry_bytes_max: null });
    const register = (slug: string) => {
      const initial_version = { version: "1", runtime_config: runtime };
      const strategy = { slug, name: slug, runtime_type: "wasm", language: "c", initial_version };
      return ann.send("POST", "/api/strategies", { strategy });
    };
    expect((await register("first")).status).toBe(201);
    expect(refusal(await register("second"))).toEqual([
      429,
      "QUOTA_EXCEEDED",
      expect.stringContaining("your strategies have 1, and may have 1;"),
    ]);
    await queue.close();
  });
  await t.step("optimizations", async () => {
    await change({ versions_max: null, optimizations_max: 1 });
    const optimization = {
      symbol: "DEMO",
      exchange: "SAMPLE",
      strategy: "SMA Cross",
      start_date: "2024-01-01",
      end_date: "2024-02-01",
      initial_balance: 10_000,
      parameters: { timeframe: "1d", slow: 5 },
      space: { fast: { values: [2, 3] } },
    };
    const answers = [
      await ann.send("POST", "/api/optimizations", { optimization }),
      await ann.send("POST", "/api/optimizations", { optimization }),
    ];
    expect(answers.map(({ status, text }) => [status, status === 202 || text])).toEqual([
      [202, true],
      [429, expect.stringContaining("1 of yours are queued or running")],
    ]);
  });
  await t.step("the operator changes them from a terminal", async () => {
    const environment = { DATABASE_URL: service.databaseUrl, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
    const run = (...args: string[]) => runTaskCommand("admin", ["quotas", ...args], environment);
    const made = await run(email, "backtests_max=3", "optimizations_max=default");
    expect([made.code, made.stdout.split("\n").slice(0, 3)]).toEqual([
      0,
      ["backtests_max: 3", "optimizations_max: default", "result_bytes_max: default"],
    ]);
    expect(own(await admin.get(path))).toEqual([3, null, null, null, null]);
    const wrong = [
      await run(email, "backtest_max=3"),
      await run(email, "backtests_max=0"),
      await run("nobody@example.com"),
    ];
    expect(wrong.map(({ code, stderr }) => [code, stderr.trim()])).toEqual([
      [1, expect.stringContaining(`"backtest_max=3" is not one of backtests_max, optimizations_max`)],
      [1, expect.stringContaining('backtests_max must be a whole number from 1, or "default", not "0"')],
      [1, expect.stringContaining("nobody has signed up with this e-mail")],
    ]);
  });
  await handle.close();
  await service.close();
});

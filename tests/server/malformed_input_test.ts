/** Input that parsers, PostgreSQL or JSON treat in unexpected ways. */
import { expect } from "@std/expect";
import { BACKTEST } from "../support/client.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

Deno.test("a year outside PostgreSQL's calendar is refused", async () => {
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

Deno.test("a body nested thousands of levels deep is refused by tRPC and by the account routes", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const json = { "content-type": "application/json" };
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const create = (levels: number) => user.send("POST", "/trpc/backtests.create", nested(levels), json);
  expect((await create(20_000)).at("/error/data/issues/0/message")).toBe("must not be nested more than 32 levels deep");
  // Within the depth limit, and invalid for another reason.
  expect((await create(32)).at("/error/data/issues/0/message")).toBe("is required");
  const signIn = await service.client().send("POST", "/api/auth/sign-in/email", nested(2000), json);
  expect([signIn.status, signIn.at("/error/code")]).toEqual([400, "VALIDATION_FAILED"]);
  await service.close();
});

Deno.test("names and descriptions that would command a terminal are refused by their paths", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const message = expect.stringContaining("must be without control characters");
  const plain = { slug: "plain", name: "Plain", description: "Several\n\tlines", runtime_type: "remote" };
  const initial_version = { runtime_config: { type: "remote", endpoint: "serve:plain" } };
  const register = (change: object) =>
    user.send("POST", "/api/strategies", {
      strategy: { ...plain, language: "typescript", initial_version, ...change },
    });
  const refused = await register({ name: "\u001b]0;owned\u0007", description: "\u202eclean" });
  expect([refused.status, refused.at("/error/issues")]).toEqual([
    400,
    [{ path: "/strategy/name", message }, { path: "/strategy/description", message }],
  ]);
  expect((await register({})).status).toBe(201);
  const renamed = await user.send("PATCH", "/api/strategies/plain", { strategy: { name: "two\nlines" } });
  expect([renamed.status, renamed.at("/error/issues")]).toEqual([400, [{ path: "/strategy/name", message }]]);
  const universe = { slug: "plain", description: "\u001b[2J", members: [] };
  const described = await user.send("POST", "/api/universes", { universe });
  expect(described.at("/error/issues")).toContainEqual({ path: "/universe/description", message });
  const account = { name: "\u001b]0;owned\u0007", email: "eve@example.com", password: "correct horse battery" };
  for (const path of ["sign-up/email", "update-user", "admin/create-user"]) {
    const named = await user.send("POST", `/api/auth/${path}`, account);
    expect([path, named.status, named.at("/error/issues")]).toEqual([path, 400, [{ path: "/name", message }]]);
    const listed = await user.send("POST", `/api/auth/${path}`, { ...account, name: ["\u202eclean"] });
    expect([path, listed.status, listed.at("/error/issues/0")])
      .toEqual([path, 400, { path: "/name", message: "must be text" }]);
    const long = await user.send("POST", `/api/auth/${path}`, { ...account, name: "a".repeat(10_000) });
    expect([path, long.status, long.at("/error/issues")])
      .toEqual([path, 400, [{ path: "/name", message: "must have at most 200 characters, not 10000" }]]);
    const image = "http://192.0.2.1/pixel.gif";
    const pictured = await user.send("POST", `/api/auth/${path}`, { ...account, name: "Eve", image });
    expect([path, pictured.status, pictured.at("/error/issues")])
      .toEqual([path, 400, [{ path: "/image", message: "must be left out: accounts have no picture" }]]);
  }
  const inside = await user.send("POST", "/api/auth/admin/update-user", { userId: "x", data: { image: "data:," } });
  expect(inside.at("/error/issues/0/path")).toBe("/data/image");
  const kept = await user.send("POST", "/api/auth/update-user", { name: "E".repeat(200), image: null });
  expect([kept.status, (await user.get("/api/auth/get-session")).at("/user/name")]).toEqual([200, "E".repeat(200)]);
  await service.close();
});

Deno.test("a number that no double can hold is refused by its path", async () => {
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

Deno.test("null means absent for each reserved parameter, and a slug's other fields are still checked", async () => {
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

Deno.test("an unknown key of a query is ignored and named in a header", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const ignored = async (query: string) => {
    const answer = await user.get(`/api/backtests?${query}`);
    return [answer.status, answer.headers.get("x-ignored-query")];
  };
  expect(await ignored("_=1")).toEqual([200, "_"]);
  expect(await ignored("_=1&limit=5&stauts=failed&_=2")).toEqual([200, "_, stauts"]);
  expect(await ignored("limit=5")).toEqual([200, null]);
  expect(await ignored("a%0d%0ab=1&%F0%9D%84%9E=2")).toEqual([200, "a%0D%0Ab, %F0%9D%84%9E"]);
  for (const key of ["constructor", "__proto__", "toString"]) expect(await ignored(`${key}=1`)).toEqual([200, key]);
  const hinted = await user.get("/api/backtests?stauts=failed&nothing=1&lmit=3");
  expect(hinted.headers.get("x-query-hint")).toBe("did you mean status, limit?");
  expect((await user.get("/api/backtests?nothing=1")).headers.get("x-query-hint")).toBe(null);
  const ticks = await user.get("/api/market-data/ticks?symbol=DEMO&startdate=2024-01-01&endDate=2024-01-02");
  const missing = 'is required: the query has "startdate", which is not a known key';
  expect([ticks.status, ticks.at("/error/message"), ticks.at("/error/issues")]).toEqual([
    400,
    `Cannot accept the request: /startDate ${missing}`,
    [{ path: "/startDate", message: missing }],
  ]);
  // Known keys are checked as before, and bodies are refused by name.
  expect((await user.get("/api/backtests?limit=5&limit=6")).status).toBe(400);
  expect((await user.get("/api/backtests?limit=none")).status).toBe(400);
  const sent = await user.send("POST", "/api/backtests?_=1", { backtest: BACKTEST });
  expect([sent.status, sent.headers.get("x-ignored-query")]).toEqual([202, "_"]);
  const refused = await user.send("POST", "/api/backtests", { backtest: BACKTEST, _: 1 });
  expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, "/_"]);
  await service.close();
});

Deno.test("null means absent for every optional field, and a version may come bare", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const runtime_config = {
    type: "remote",
    endpoint: "https://signals.example.com/v1",
    language: null,
    timeoutMs: null,
    mode: null,
    moduleUrl: null,
    artifact: null,
  };
  const strategy = {
    slug: "nulls",
    name: "Nulls",
    description: null,
    runtime_type: "remote",
    language: "python",
    default_frequency: null,
    min_candles: null,
    default_config: null,
    parameter_schema: null,
    is_public: null,
    initial_version: { version: "1.0", runtime_config, artifact: null },
  };
  const created = await user.send("POST", "/api/strategies", { strategy });
  expect([created.status, created.at("/version/runtime_config")]).toEqual([201, {
    type: "remote",
    endpoint: "https://signals.example.com/v1",
    timeoutMs: 10_000,
    mode: "batch",
  }]);
  const wasm = { type: "wasm", moduleUrl: null, artifact: { content_base64: "AA==" }, endpoint: null, timeoutMs: null };
  const run = { ...BACKTEST, parameters: { timeframe: "HOURLY", runtime: { ...wasm, mode: 1 } } };
  expect((await user.send("POST", "/api/backtests", { backtest: run })).at("/error/issues/0/path"))
    .toBe("/backtest/parameters/runtime/mode");
  expect(
    (await user.send("POST", "/api/strategies", { strategy: { ...strategy, slug: null } })).at("/error/issues/0/path"),
  )
    .toBe("/strategy/slug");
  const plain = {
    ...BACKTEST,
    parameters: { timeframe: "HOURLY", execution: { commission: { rate: null, fixed: 1 }, fill: null } },
  };
  const accepted = await user.send("POST", "/api/backtests", { backtest: plain });
  expect([accepted.status, accepted.at("/backtest/parameters/timeframe")]).toEqual([202, "1h"]);
  const without = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters: null } });
  expect(without.status).toBe(202);
  const generated = { ...BACKTEST, parameters: { timeframe: "1h", moduleUrl: null, fast: null } };
  const taken = await user.send("POST", "/api/backtests", { backtest: generated });
  expect([taken.status, taken.at("/backtest/parameters/fast")]).toEqual([202, without.at("/backtest/parameters/fast")]);
  expect(taken.text).not.toContain("moduleUrl");

  const add = (body: object) => user.send("POST", "/api/strategies/nulls/versions", body);
  expect((await add({ version: "1.1", runtime_config })).at("/version/version")).toBe("1.1");
  expect((await add({ version: { version: "1.2", runtime_config } })).at("/version/version")).toBe("1.2");
  const refused = await add({ version: "1.3", runtime_config, extra: 1 });
  expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, "/version/extra"]);
  const patched = await user.send("PATCH", "/api/strategies/nulls", { strategy: { name: null, description: "New" } });
  expect([patched.at("/strategy/name"), patched.at("/strategy/description")]).toEqual(["Nulls", "New"]);
  await service.close();
});

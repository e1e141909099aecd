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

Deno.test("a query key named like a property of every object is unknown", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  for (const key of ["constructor", "__proto__", "toString", "nothing"]) {
    const answer = await user.get(`/api/backtests?${key}=1`);
    const issues = [{ path: `/${key}`, message: "is not a known key" }];
    expect([key, answer.status, answer.at("/error/issues")]).toEqual([key, 400, issues]);
  }
  await service.close();
});

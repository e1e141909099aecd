/** The description of the API is valid, complete, and what its examples say. */
import { expect } from "@std/expect";
import { Validator } from "@seriousme/openapi-schema-validator";
import { METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { ERROR_CODES } from "../../routers/common/errors.ts";
import { ACCOUNT_ROUTES } from "../../server/openapi/accounts.ts";
import { OPERATIONS } from "../../server/openapi/operations.ts";
import { ROUTES } from "../../server/rest/routes.ts";
import { openPostgres } from "../../db/client.ts";
import { grantAdmin } from "../../db/users.ts";
import { checkDescribed } from "../support/described_answers.ts";
import { startTestService, type TestService } from "../support/service.ts";

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const toTemplate = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}");

Deno.test("every route has words, and no words are of a route that is gone", () => {
  expect(Object.keys(OPERATIONS).toSorted()).toEqual(ROUTES.map(({ procedure }) => procedure).toSorted());
});

Deno.test("the served description is valid OpenAPI 3.1, describes every route and metric, and its examples work", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", REMOTE_ENDPOINT_ALLOW: "example.com:443" });
  const served = await service.client().get("/openapi.json");
  expect([served.status, served.headers.get("content-type")]).toEqual([200, "application/json"]);
  const document = Object(served.at(""));
  const operations = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    }))
  );
  await t.step("it is valid", async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect([valid, errors]).toEqual([true, undefined]);
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });
  await t.step("it is complete", () => {
    expectAll(operations);
    const { properties } = document.components.schemas.Metrics;
    for (const [name, { meaning, formula }] of Object.entries(METRIC_DEFINITIONS)) {
      const { description } = properties[name];
      expect([name, description]).toEqual([name, expect.stringContaining(`${meaning} `)]);
      expect([name, description]).toEqual([name, expect.stringContaining(`Formula: ${formula}.`)]);
    }
  });
  await t.step("its examples work", () => sendExamples(service, operations));
  await service.close();
});

function expectAll(operations: readonly Operation[]) {
  const routes = ROUTES.map(({ method, path }) => `${method} ${toTemplate(path)}`);
  const accounts = ACCOUNT_ROUTES.map(({ method, path }) => `${method} /api/auth${path}`);
  expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
    [...routes, ...accounts].toSorted(),
  );
  for (const { method, path, status } of ROUTES) {
    const { responses } = operations.find((each) => each.method === method && each.path === toTemplate(path))!;
    const always = [String(status), "401", "429", "500", "503"];
    expect([path, Object.keys(responses)]).toEqual([path, expect.arrayContaining(always)]);
  }
  const answers = operations.flatMap(({ responses }) => Object.values(responses));
  const named = new Set(
    answers.flatMap(({ description }) => [...description.matchAll(/`([A-Z_]+)`:/g)].map(([, code]) => code)),
  );
  // Of paths and methods that are not described.
  const elsewhere = ["ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED"];
  expect(ERROR_CODES.filter((code) => !named.has(code))).toEqual(elsewhere);
}

/** Sends each example of a body; TestClient checks the answers against the description. */
async function sendExamples(service: TestService, operations: readonly Operation[]) {
  const user = service.client();
  const handle = await openPostgres(service.databaseUrl, 1);
  const made: Record<string, unknown> = {};
  // Accounts come first, and a resource before its parts.
  const order = ({ path }: Operation) => path.includes("/sign-") ? 0 : path.split("/").length;
  let sent = 0;
  for (const { method, path, requestBody, responses } of operations.toSorted((a, b) => order(a) - order(b))) {
    const example = requestBody?.content["application/json"]?.example;
    if (example === undefined) continue;
    const filled = path.replace(/(\w+)\/\{\w+\}/, (_, list: string) => `${list}/${made[list]}`);
    const answer = await user.send(method, filled, example);
    const [success] = Object.keys(responses);
    expect([method, filled, answer.status, answer.text]).toEqual([method, filled, Number(success), answer.text]);
    made.users ??= answer.at("/user/id");
    made.backtests ??= answer.at("/backtest/id");
    made.strategies ??= answer.at("/strategy/slug");
    made.universes ??= answer.at("/universe/slug");
    made.instruments ??= answer.at("/instrument/id");
    sent++;
    if (!path.includes("/sign-")) continue;
    user.cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
    await grantAdmin(handle.db, "ada@example.com");
  }
  expect(sent).toBeGreaterThan(10);
  await handle.close();
}

Deno.test("an answer that differs from the description fails the test that receives it", () => {
  const headers = new Headers({ "content-type": "application/json" });
  const session = { session: { id: "x", expires_at: "2024-01-01T00:00:00.000Z", scope: null } };
  const user = { id: "x", email: "x@example.com", role: "user", name: "x" };
  const check = (json: unknown, status = 200) => checkDescribed("GET", "/api/session?x=1", { status, headers, json });
  const error = (code: string) => ({ error: { code, message: "x", issues: [], request_id: "x" } });
  check({ ...session, user });
  check(error("FORBIDDEN"), 403);
  expect(() => check({ ...session, user: { ...user, role: "owner" } })).toThrow(/role must be equal to one of/);
  expect(() => check({ ...session, user: { ...user, extra: 1 } })).toThrow(/must NOT have additional properties/);
  expect(() => check(session)).toThrow(/must have required property 'user'/);
  expect(() => check(error("SLUG_TAKEN"), 403)).toThrow(/code must be equal to one of/);
  expect(() => check(error("SLUG_TAKEN"), 409)).toThrow(/no such status/);
  expect(() => checkDescribed("GET", "/api/nothing", { status: 200, headers, json: {} })).toThrow(/no such operation/);
});

import { expect } from "@std/expect";
import { ROUTES } from "../../server/rest/routes.ts";
import { runTask } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { judge, type Seen } from "./answers.ts";
import { fuzz } from "./fuzzer.ts";
import { findGrowth } from "./growth.ts";
import { type Case, toRequest } from "./requests.ts";
import { listAccountTargets, listTargets, type Target } from "./targets.ts";
import { startOutside, World } from "./world.ts";

const targets = await listTargets();
const REFUSAL = { code: "UNAUTHENTICATED", message: "Cannot", issues: [], request_id: "r" };

function target(procedure: string): Target {
  const found = targets.find((one) => one.procedure === procedure);
  if (found === undefined) throw new Error(`Cannot find ${procedure}`);
  return found;
}

Deno.test("every route and every procedure is a target, with its schemas", () => {
  expect(new Set(targets.flatMap(({ route }) => route === null ? [] : [route]))).toEqual(new Set(ROUTES));
  expect(target("backtests.create").shape?.required).toEqual(["backtest"]);
  expect(target("backtests.onEvent").route).toBeNull();
});

for (const [kind, seed] of [["PGlite", 1], ["PostgreSQL", 2]] as const) {
  Deno.test(`random requests are all answered as they may be (${kind})`, async () => {
    const outside = startOutside();
    const service = await startTestService(kind, outside.environment);
    const world = await World.open(service.url, outside.origin);
    const { failure, tally } = await fuzz(world, [...targets, ...listAccountTargets()], { seed, requests: 400 });
    expect(failure).toBeNull();
    // The run must contain every kind of answer.
    for (const status of ["200", "202", "400", "401", "403", "404"]) expect(tally[status]).toBeGreaterThan(0);
    await service.close();
    await outside.close();
  });
}

const MOMENT = "2024-01-01T00:00:00.000Z";
const USER = {
  id: "u",
  name: "Ann",
  email: "ann@example.com",
  emailVerified: false,
  createdAt: MOMENT,
  updatedAt: MOMENT,
};
const SIGNED_IN = { token: null, user: USER };

Deno.test("the report of a fault has the smallest request that shows it", async () => {
  // It fails on every body that mentions an exchange.
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const isFaulty = (await request.text()).includes('"exchange"');
    const headers = { "x-request-id": "r", "x-content-type-options": "nosniff" };
    if (new URL(request.url).pathname.startsWith("/api/auth")) return Response.json(SIGNED_IN, { headers });
    return Response.json({ error: REFUSAL }, { status: isFaulty ? 500 : 401, headers });
  });
  const world = await World.open(`http://127.0.0.1:${server.addr.port}`, "http://127.0.0.1:9");
  const only = [target("backtests.create")];
  const { failure } = await fuzz(world, only, { seed: 3, requests: 200 });
  await server.shutdown();
  expect(failure).toMatchObject({ kind: "status 500", mutations: [] });
  const body = failure?.request.split("\n").at(-1);
  expect(body).toMatch(/^\{("0":\{)?"backtest":\{"exchange":"[^"]*"\}\}\}?$/);
});

Deno.test("every kind of invalid answer is noticed", () => {
  const fuzzed: Case = {
    caller: "ann",
    target: target("backtests.create"),
    transport: "rest",
    input: { backtest: {} },
    mutations: [],
  };
  const headers = { "x-request-id": "r", "x-content-type-options": "nosniff", "content-type": "application/json" };
  const kindOf = (
    status: number,
    body: unknown,
    { changes = {}, more = {} }: { changes?: Partial<Case>; more?: HeadersInit } = {},
  ) => {
    const changed = { ...fuzzed, ...changes };
    const seen: Seen = { status, headers: new Headers({ ...headers, ...more }), text: JSON.stringify(body) };
    return judge(changed, toRequest(changed), seen, ["mark-of-bob"])?.kind ?? null;
  };
  expect(kindOf(401, { error: REFUSAL })).toBeNull();
  expect(kindOf(500, { error: REFUSAL })).toBe("status 500");
  expect(kindOf(401, { error: { ...REFUSAL, message: "see engine/run.ts:12:3" } })).toBe("shows our internals");
  expect(kindOf(401, { error: { ...REFUSAL, message: "mark-of-bob" } })).toBe("shows another user's data");
  expect(kindOf(401, { error: { ...REFUSAL, more: 1 } })).toBe("not the error's shape");
  expect(kindOf(400, { error: REFUSAL })).toBe("a code of another status");
  expect(kindOf(401, { error: { ...REFUSAL, code: "NEW" } })).toBe("a code of another status");
  expect(kindOf(401, { error: { ...REFUSAL, request_id: "s" } })).toBe("two request ids");
  expect(kindOf(202, { backtest: {} })).toBe("accepted what its schema refuses");
  expect(kindOf(200, { backtest: {} })).toBe("not the declared status");
  expect(kindOf(202, { backtest: {} }, { changes: { caller: "nobody" } })).toBe("answered a stranger");
  expect(kindOf(429, { error: { ...REFUSAL, code: "RATE_LIMITED" } })).toBe("429 without Retry-After");
  expect(kindOf(429, { error: { ...REFUSAL, code: "RATE_LIMITED" } }, { more: { "retry-after": "1" } })).toBeNull();
  const trpc = { transport: "trpc" } as const;
  const refused = {
    error: { message: "Cannot", code: -32001, data: { ...REFUSAL, appCode: REFUSAL.code, httpStatus: 401 } },
  };
  expect(kindOf(401, refused, { changes: trpc })).toBeNull();
  expect(
    kindOf(207, [{ error: { ...refused.error, data: { ...refused.error.data, httpStatus: 500 } } }], { changes: trpc }),
  )
    .toBe("status 500");
  expect(kindOf(200, { result: { data: { backtest: {} } } }, { changes: trpc })).toBe("not the declared output");
});

Deno.test("a process that goes on growing is noticed", () => {
  const before = { megabytes: 300, handles: 50 };
  expect(findGrowth(before, { megabytes: 500, handles: 60 })).toBeNull();
  expect(findGrowth(before, { megabytes: 900, handles: 60 })).toBe("from 300 MB to 900 MB");
  expect(findGrowth(before, { megabytes: 300, handles: 200 })).toBe("from 50 handles to 200");
});

Deno.test("`deno task fuzz --help` says what there is to say", async () => {
  const { code, stdout } = await runTask("fuzz", ["--help"]);
  expect([code, stdout.includes("--seed N")]).toEqual([0, true]);
  expect((await runTask("fuzz", ["--minutes", "none"])).code).toBe(2);
});

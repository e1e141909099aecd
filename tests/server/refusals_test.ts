import { expect } from "@std/expect";
import { eq } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { session } from "../../db/schema.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const RUN_ONCE = "/api/admin/ingestion/run-once";

Deno.test("a request is refused by what is wrong with it, in the contract's words", async (t) => {
  const service = await startTestService();
  const stranger = service.client();
  const user = await service.user();

  await t.step("every answer names its request, and takes the caller's name for it", async () => {
    const made = await stranger.get("/api/session");
    expect(made.headers.get("x-request-id")).toBe(made.at("/error/request_id"));
    const given = await stranger.get("/api/session", { "x-request-id": "from-the-caller" });
    expect(given.at("/error/request_id")).toBe("from-the-caller");
  });

  await t.step("without a session, protected paths are 401, unknown ones and wrong methods included", async () => {
    for (
      const [method, path] of [
        ["GET", "/api/session"],
        ["GET", "/api/backtests"],
        ["POST", "/api/backtests"],
        ["GET", "/api/strategies"],
        ["DELETE", "/api/strategies"],
        ["GET", "/api/nothing-here"],
        ["GET", "/api"],
        ["GET", "/api/admin/ingestion/events"],
        ["POST", RUN_ONCE],
      ] as const
    ) {
      const answer = await stranger.send(method, path);
      expect([path, answer.status, answer.at("/error/code")]).toEqual([path, 401, "UNAUTHENTICATED"]);
    }
  });

  await t.step("under public prefixes, an unknown path is 404 and a wrong method 405 without a session", async () => {
    expect((await stranger.get("/api/health")).status).toBe(200);
    expect((await stranger.get("/api/market-data/nothing")).at("/error/code")).toBe("ROUTE_NOT_FOUND");
    const wrong = await stranger.send("POST", "/api/market-data/ticks", {});
    expect([wrong.status, wrong.at("/error/code")]).toEqual([405, "METHOD_NOT_ALLOWED"]);
    expect(wrong.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await stranger.get("/nothing")).status).toBe(404);
  });

  await t.step("with a session, an unknown path is 404, a wrong method 405", async () => {
    expect((await user.get("/api/nothing-here")).at("/error/code")).toBe("ROUTE_NOT_FOUND");
    expect((await user.send("PATCH", "/api/backtests", {})).at("/error/code")).toBe("METHOD_NOT_ALLOWED");
    const messageOf = async (path: string) => (await user.get(path)).at("/error/message");
    expect(await messageOf("/api/nothing-here")).toBe("Cannot find GET /api/nothing-here");
    expect(await messageOf("/api/backtest")).toBe("Cannot find GET /api/backtest: did you mean /api/backtests?");
    expect(await messageOf("/strategies")).toBe("Cannot find GET /strategies: did you mean /api/strategies?");
    expect(await messageOf("/api/backtest/x%2Fy/trade")).toContain(": did you mean /api/backtests/x%2Fy/trades?");
  });

  await t.step("a forged cookie is none", async () => {
    const forged = service.client();
    forged.cookie = user.cookie.replace(/=.{8}/, "=AAAAAAAA");
    expect((await forged.get("/api/session")).status).toBe(401);
    forged.cookie = "better-auth.session_token=nonsense";
    expect((await forged.get("/api/session")).status).toBe(401);
  });

  await t.step("an ordinary user is 403 on admin paths, unknown ones included", async () => {
    for (const path of ["/api/admin/ingestion/events", "/api/admin/nothing", "/api/admin/ingestion/nothing"]) {
      const answer = await user.get(path);
      expect([path, answer.status, answer.at("/error/code")]).toEqual([path, 403, "FORBIDDEN"]);
    }
  });

  await t.step("the ingestion secret opens the ingestion group and nothing else", async () => {
    const secret = { "x-ingestion-admin-secret": INGESTION_SECRET };
    expect((await stranger.get("/api/admin/ingestion/events", secret)).status).toBe(200);
    expect((await stranger.get("/api/admin/ingestion/nothing", secret)).status).toBe(404);
    expect((await stranger.get("/api/admin/nothing", secret)).status).toBe(401);
    expect((await stranger.get("/api/backtests", secret)).status).toBe(401);
    for (const wrong of ["", "x", `${INGESTION_SECRET} `.repeat(2), INGESTION_SECRET.slice(1)]) {
      const header = { "x-ingestion-admin-secret": wrong };
      expect((await stranger.get("/api/admin/ingestion/events", header)).status).toBe(401);
      expect((await user.get("/api/admin/ingestion/events", header)).status).toBe(403);
    }
  });

  await t.step("a body must be JSON, of bounded size and depth, and an object", () => refuseBodies(user));
  await service.close();
});

async function refuseBodies(user: TestClient): Promise<void> {
  const post = (body: string | Uint8Array, type = "application/json") =>
    user.send("POST", "/api/backtests", body, type === "" ? {} : { "content-type": type });
  const cases = [
    [await post("{}", "text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    [await post("{}", ""), 415, "UNSUPPORTED_MEDIA_TYPE"],
    [await post("{", "application/json; charset=utf-8"), 400, "VALIDATION_FAILED"],
    [await post(""), 400, "VALIDATION_FAILED"],
    [await post("[]"), 400, "VALIDATION_FAILED"],
    [await post(new Uint8Array([0x22, 0xff, 0x22])), 400, "VALIDATION_FAILED"],
    [await post(`${'{"a":'.repeat(33)}1${"}".repeat(33)}`), 400, "VALIDATION_FAILED"],
    [await post(`{"backtest":"${"x".repeat(2 * 1024 * 1024)}"}`), 413, "PAYLOAD_TOO_LARGE"],
    [await post(`{"content_base64":"${"x".repeat(7 * 1024 * 1024)}"}`), 413, "PAYLOAD_TOO_LARGE"],
    // Artifacts are not counted against the first limit: this one is refused for what it is, not for its size.
    [await post(`{"artifact":{"content_base64":"${"x".repeat(2 * 1024 * 1024)}"}}`), 400, "VALIDATION_FAILED"],
  ] as const;
  for (const [i, [answer, status, code]] of cases.entries()) {
    expect([i, answer.status, answer.at("/error/code")]).toEqual([i, status, code]);
  }
  const signIn = await user.send("POST", "/api/auth/sign-in/email", { email: "x".repeat(2 * 1024 * 1024) });
  expect([signIn.status, signIn.at("/error/message")])
    .toEqual([413, "Cannot read a body of more than 16384 bytes: at most 16384 are accepted"]);
}

Deno.test("an unset ingestion secret matches nothing", async () => {
  const service = await startTestService("PostgreSQL", { INGESTION_ADMIN_SECRET: "" });
  for (const value of ["", "undefined", "null"]) {
    const answer = await service.client().get("/api/admin/ingestion/events", { "x-ingestion-admin-secret": value });
    expect(answer.status).toBe(401);
  }
  await service.close();
});

Deno.test("a session that has expired is none", async () => {
  const service = await startTestService();
  const user = await service.user();
  const id = String((await user.get("/api/session")).at("/session/id"));
  const handle = await openPostgres(service.databaseUrl, 1);
  await handle.db.update(session).set({ expiresAt: new Date(Date.now() - 1000) }).where(eq(session.id, id));
  await handle.close();
  expect((await user.get("/api/session")).status).toBe(401);
  await service.close();
});

Deno.test("a session that is used is lengthened once a day, with the cookie that says so", async () => {
  const service = await startTestService();
  const user = await service.user();
  const id = String((await user.get("/api/session")).at("/session/id"));
  const handle = await openPostgres(service.databaseUrl, 1);
  // Two of its seven days have passed.
  const expiresAt = new Date(Date.now() + 5 * 86_400_000);
  const putBack = () => handle.db.update(session).set({ expiresAt }).where(eq(session.id, id));
  await putBack();
  const secondsOf = ({ headers }: Answer) =>
    headers.getSetCookie().map((line) => /session_token=.*Max-Age=(\d+)/.exec(line)?.[1]);
  // A shared cache may keep this answer, so no cookie is in it.
  const ticks = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2024-01-02&limit=1";
  expect((await user.get(ticks)).headers.getSetCookie()).toEqual([]);
  await putBack();
  const longer = await user.get("/api/backtests");
  expect([longer.status, ...secondsOf(longer)]).toEqual([200, "604800"]);
  const seen = await user.get("/api/session");
  // Not again on the same day.
  expect(secondsOf(seen)).toEqual([]);
  expect(Date.parse(String(seen.at("/session/expires_at")))).toBeGreaterThan(expiresAt.getTime() + 86_400_000);
  await putBack();
  expect(secondsOf(await user.get("/trpc/session.get"))).toEqual(["604800"]);
  await handle.close();
  await service.close();
});

Deno.test("pages of a foreign origin cannot act in a user's name; curl and servers can", async (t) => {
  const service = await startTestService("PostgreSQL", { TRUSTED_ORIGINS: "https://app.example.com" });
  const user = await service.user();
  const post = (headers: Readonly<Record<string, string>>) =>
    user.send("POST", "/api/backtests", "{}", { "content-type": "application/json", ...headers });
  const codes = async (headers: Readonly<Record<string, string>>) => {
    const answer = await post(headers);
    return [answer.status, answer.at("/error/code")];
  };
  // A request that passes the check is refused for its empty body.
  const passes = [400, "VALIDATION_FAILED"];
  const refused = [403, "ORIGIN_NOT_ALLOWED"];

  await t.step("with a cookie", async () => {
    expect(await codes({})).toEqual(passes);
    expect(await codes({ origin: service.url })).toEqual(passes);
    expect(await codes({ origin: service.url.replace("127.0.0.1", "localhost") })).toEqual(passes);
    expect(await codes({ origin: "https://app.example.com" })).toEqual(passes);
    expect(await codes({ origin: "https://evil.example.com" })).toEqual(refused);
    expect(await codes({ origin: "null" })).toEqual(refused);
    expect(await codes({ "sec-fetch-site": "cross-site" })).toEqual(refused);
    expect(await codes({ "sec-fetch-site": "same-site" })).toEqual(refused);
    expect(await codes({ "sec-fetch-site": "same-origin" })).toEqual(passes);
  });

  await t.step("the same on /trpc and /api/auth", async () => {
    const foreign = { origin: "https://evil.example.com", "content-type": "application/json" };
    expect((await user.send("POST", "/trpc/backtests.create", "{}", foreign)).status).toBe(403);
    expect((await user.send("POST", "/api/auth/sign-out", "{}", foreign)).status).toBe(403);
    expect((await user.get("/api/session")).status).toBe(200);
  });

  await t.step("without a cookie the request acts in nobody's name", async () => {
    const answer = await service.client().send("POST", "/api/backtests", {}, { origin: "https://evil.example.com" });
    expect(answer.status).toBe(401);
  });

  await t.step("a valid secret is exempt", async () => {
    const headers = { origin: "https://evil.example.com", "x-ingestion-admin-secret": INGESTION_SECRET };
    expect((await user.send("POST", RUN_ONCE, undefined, headers)).status).toBe(202);
  });

  await t.step("CORS answers trusted origins, with credentials, and no other", async () => {
    const preflight = (origin: string) =>
      user.send("OPTIONS", "/api/backtests", undefined, { origin, "access-control-request-method": "POST" });
    const trusted = await preflight("https://app.example.com");
    expect(trusted.headers.get("access-control-allow-origin")).toBe("https://app.example.com");
    expect(trusted.headers.get("access-control-allow-credentials")).toBe("true");
    expect((await preflight("https://evil.example.com")).headers.get("access-control-allow-origin")).toBeNull();
  });
  await service.close();
});

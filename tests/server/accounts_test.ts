import { expect } from "@std/expect";
import { eq } from "drizzle-orm";
import { grantAdmin } from "../../db/users.ts";
import { openPostgres } from "../../db/client.ts";
import { user as users } from "../../db/schema.ts";
import { createAuth } from "../../server/requests/auth.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { DATABASES } from "../support/database.ts";
import { startTestService } from "../support/service.ts";

for (const kind of DATABASES) {
  Deno.test(`users sign up, in and out by e-mail and password (${kind})`, async (t) => {
    const service = await startTestService(kind);
    const client = service.client();
    const email = "Trader@Example.com";
    const password = "correct horse battery";

    await t.step("the session says who it is", async () => {
      await client.signUp(email, password);
      const answer = await client.get("/api/session");
      expect(answer.at("/user")).toEqual({
        id: expect.any(String),
        email: email.toLowerCase(),
        role: "user",
        name: "Test",
      });
      expect(Date.parse(String(answer.at("/session/expires_at")))).toBeGreaterThan(Date.now());
    });

    await t.step("cookies are hidden from scripts and not sent across sites", async () => {
      const answer = await service.client().send("POST", "/api/auth/sign-in/email", { email, password });
      const cookie = answer.headers.getSetCookie()[0];
      expect(cookie).toMatch(/^better-auth\.session_token=.*HttpOnly/);
      expect(cookie).toMatch(/SameSite=Lax/);
    });

    await t.step("signing out ends the session, also for a copy of the cookie", async () => {
      const copy = service.client();
      copy.cookie = client.cookie;
      // As fetch and curl send it where nothing is to be said: without a body, and so without its type.
      expect((await client.send("POST", "/api/auth/sign-out")).status).toBe(200);
      expect((await copy.get("/api/session")).status).toBe(401);
    });

    await t.step("a wrong password and an unknown e-mail sound the same", async () => {
      const wrong = await client.send("POST", "/api/auth/sign-in/email", { email, password: "wrong horse battery" });
      const unknown = await client.send("POST", "/api/auth/sign-in/email", { email: "nobody@example.com", password });
      expect([wrong.status, unknown.status]).toEqual([401, 401]);
      const said = ({ text, headers }: Answer) => text.replace(headers.get("x-request-id") ?? "", "");
      expect(said(wrong)).toBe(said(unknown));
    });

    await t.step("nobody signs up as admin", async () => {
      const body = { name: "Eve", email: "eve@example.com", password, role: "admin" };
      const answer = await client.send("POST", "/api/auth/sign-up/email", body);
      if (answer.status === 200) {
        const eve = service.client();
        eve.cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
        expect((await eve.get("/api/session")).at("/user/role")).toBe("user");
        expect((await eve.get("/api/admin/ingestion/events")).status).toBe(403);
      } else {
        expect(answer.status).toBe(400);
      }
    });
    await service.close();
  });
}

Deno.test("an admin's session opens the admin paths, from the request after the grant", async () => {
  const service = await startTestService();
  const user = service.client();
  const email = await user.signUp();
  expect((await user.get("/api/admin/ingestion/events")).status).toBe(403);
  const handle = await openPostgres(service.databaseUrl, 1);
  expect(await grantAdmin(handle.db, "nobody@example.com")).toBeUndefined();
  expect(await grantAdmin(handle.db, email.toUpperCase())).toEqual(expect.any(String));
  await handle.close();
  expect((await user.get("/api/session")).at("/user/role")).toBe("admin");
  expect((await user.get("/api/admin/ingestion/events")).status).toBe(200);
  expect((await user.get("/api/admin/nothing")).status).toBe(404);
  await service.close();
});

Deno.test("where sign-up is closed, strangers are told so, users sign in, and admins make accounts", async () => {
  const service = await startTestService("PostgreSQL", { SIGN_UP: "closed" });
  const handle = await openPostgres(service.databaseUrl, 1);
  const [first, added, stranger] = [service.client(), service.client(), service.client()];
  const [email, password] = ["first@example.com", "correct horse battery"];
  const signIn = async (client: TestClient, email: string) => {
    const answer = await client.send("POST", "/api/auth/sign-in/email", { email, password });
    client.cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
    return answer.status;
  };
  // As if it had signed up before.
  const auth = createAuth(handle.db, { secret: "x".repeat(32), baseUrl: service.url, origins: [service.url] });
  const body = JSON.stringify({ name: "First", email, password });
  const request = { method: "POST", headers: { "content-type": "application/json" }, body };
  expect((await auth.handle(new Request(`${service.url}/api/auth/sign-up/email`, request), "127.0.0.1")).status).toBe(
    200,
  );
  for (const path of ["/api/auth/sign-up/email", "/api/auth/sign-up/email/"]) {
    const refused = await stranger.send("POST", path, { name: "x", email: "x@example.com", password: "weak" });
    expect([path, refused.status, refused.at("/error/code"), refused.at("/error/message")]).toEqual([
      ...[path, 403, "FORBIDDEN"],
      "Cannot sign up: this service takes no new accounts by itself; ask an admin for one",
    ]);
  }
  expect((await stranger.get("/trpc/session.policy")).at("/result/data")).toEqual({
    sign_up: "closed",
    password_reset: false,
    open_id: null,
  });
  expect(await signIn(stranger, "x@example.com")).toBe(401);
  expect(await signIn(first, email)).toBe(200);
  await grantAdmin(handle.db, email);
  const account = { name: "Added", email: "added@example.com", password };
  expect((await first.send("POST", "/api/auth/admin/create-user", account)).status).toBe(200);
  expect(await signIn(added, account.email)).toBe(200);
  expect((await added.get("/api/session")).at("/user/role")).toBe("user");
  await handle.close();
  await service.close();
});

Deno.test("a list of roles makes an admin where it names one, and a name that only contains it does not", async () => {
  const service = await startTestService();
  const user = await service.user();
  const id = (await user.get("/api/session")).at("/user/id");
  const handle = await openPostgres(service.databaseUrl, 1);
  for (
    const [role, seen] of [
      ["user,admin", "admin"],
      ["user, admin ", "admin"],
      ["administrator", "user"],
      ["superadmin,user", "user"],
      ["Admin", "user"],
      ["", "user"],
      [null, "user"],
    ] as const
  ) {
    await handle.db.update(users).set({ role }).where(eq(users.id, String(id)));
    expect([role, (await user.get("/api/session")).at("/user/role")]).toEqual([role, seen]);
    expect((await user.get("/api/admin/ingestion/events")).status).toBe(seen === "admin" ? 200 : 403);
  }
  await handle.close();
  await service.close();
});

Deno.test("no user can take a role or another's account", async () => {
  const service = await startTestService();
  const [eve, ann] = [await service.user(), await service.user()];
  const ids = await Promise.all([eve, ann].map(async (user) => (await user.get("/api/session")).at("/user/id")));
  for (
    const [path, body] of [
      ["update-user", { name: "Eve", role: "admin" }],
      ["update-user", { name: "Eve", id: ids[1] }],
      ["admin/set-role", { userId: ids[0], role: "admin" }],
      ["admin/impersonate-user", { userId: ids[1] }],
      ["admin/set-user-password", { userId: ids[1], newPassword: "another horse battery" }],
      ["admin/remove-user", { userId: ids[1] }],
      ["admin/create-user", {
        name: "Mal",
        email: "mal@example.com",
        password: "correct horse battery",
        role: "admin",
      }],
    ] as const
  ) {
    const answer = await eve.send("POST", `/api/auth/${path}`, body);
    if (path !== "update-user") expect([path, answer.status]).toEqual([path, 403]);
    expect(answer.status).toBeLessThan(500);
    expect((await eve.get("/api/session")).at("/user")).toMatchObject({ id: ids[0], role: "user" });
    expect((await ann.get("/api/session")).at("/user")).toMatchObject({ id: ids[1], role: "user", name: "Test" });
  }
  expect((await eve.get("/api/auth/admin/list-users")).status).toBe(403);
  await service.close();
});

Deno.test("over https, cookies are Secure and browsers are told to stay there; headers keep browsers from guessing and framing", async () => {
  const [http, https] = await Promise.all([
    startTestService(),
    startTestService("PostgreSQL", { BASE_URL: "https://hindcast.example.com" }),
  ]);
  const body = { name: "Test", email: "a@example.com", password: "correct horse battery" };
  const answer = await https.client().send("POST", "/api/auth/sign-up/email", body);
  const cookies = answer.headers.getSetCookie();
  expect(cookies[0]).toMatch(/^__Secure-better-auth\.session_token=.*; Secure/);
  expect(cookies[1]).toMatch(/^__Secure-hindcast\.device=.*; Secure/);
  for (
    const path of ["/api/health", "/api/session", "/api/market-data/instruments", "/nothing", "/trpc/strategies.list"]
  ) {
    const [plain, secure] = await Promise.all([http.client().get(path), https.client().get(path)]);
    expect([path, plain.headers.get("strict-transport-security")]).toEqual([path, null]);
    expect([path, secure.headers.get("strict-transport-security")]).toEqual([
      path,
      expect.stringMatching(/^max-age=\d{7}/),
    ]);
    for (const { headers } of [plain, secure]) {
      expect([headers.get("x-content-type-options"), headers.get("x-frame-options")]).toEqual([
        "nosniff",
        "SAMEORIGIN",
      ]);
      expect(headers.has("x-powered-by")).toBe(false);
    }
  }
  await http.close();
  await https.close();
});

Deno.test("no cache keeps what is one user's: what may be kept says so", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const backtest = { symbol: "DEMO", exchange: "SAMPLE", strategy: "SMA Cross", initial_balance: 1000 };
  const range = { start_date: "2024-01-01", end_date: "2024-02-01" };
  const { id } = Object(
    (await user.send("POST", "/api/backtests", { backtest: { ...backtest, ...range } })).at("/backtest"),
  );
  const ticks = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2024-01-02";
  for (
    const [path, said] of [
      ["/api/session", "no-store"],
      ["/api/auth/get-session", "no-store"],
      ["/api/backtests", "no-store"],
      [`/api/backtests/${id}`, "private, no-cache"],
      [`/api/backtests/${crypto.randomUUID()}`, "no-store"],
      ["/trpc/session.get", "no-store"],
      ["/api/health", "no-store"],
      [ticks, "public, max-age=60"],
      [`${ticks}&limit=0`, "no-store"],
    ]
  ) expect([path, (await user.get(path!)).headers.get("cache-control")]).toEqual([path, said]);
  await service.close();
});

import { expect } from "@std/expect";
import { createTRPCClient, httpLink } from "@trpc/client";
import { eq } from "drizzle-orm";
import { type DatabaseHandle, openPostgres } from "../../db/client.ts";
import { tokens, user as users } from "../../db/schema.ts";
import { removeExpiredTokens } from "../../db/tokens.ts";
import { grantAdmin } from "../../db/users.ts";
import type { AppRouter } from "../../routers/app.ts";
import { type Answer, BACKTEST, TestClient } from "../support/client.ts";
import { startTestService, type TestService } from "../support/service.ts";

const PASSWORD = "correct horse battery";
const FOREIGN = { origin: "https://evil.example.com" };

const refusal = (answer: Answer) => [answer.status, answer.at("/error/code"), answer.at("/error/message")];
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** Makes a token of a signed-in user's. */
async function make(user: TestClient, scope: string, more: object = {}): Promise<{ id: string; secret: string }> {
  const made = await user.send("POST", "/api/tokens", { token: { name: "a program", scope, ...more } });
  if (made.status !== 201) throw new Error(`Cannot make a token: ${made.status} ${made.text}`);
  return { id: String(made.at("/token/id")), secret: String(made.at("/secret")) };
}

Deno.test("a program acts for its user with a token", async (t) => {
  const service = await startTestService();
  const handle = await openPostgres(service.databaseUrl, 1);
  const user = service.client();
  const email = await user.signUp(undefined, PASSWORD);
  const program = service.client();

  await t.step("it is shown once, and stored as a hash", () => showOnce(user, program, handle));
  await t.step("it runs a backtest over REST, tRPC and event streams, from any origin", () => runAll(user, service));
  await t.step("its use is noted at most once a minute", () => noteUses(user, program, handle));
  await t.step("a mistyped, an expired and a revoked one are refused with the reason", () => refuse(user, handle));
  await t.step("a scope that is too small is named, with the one that is needed", async () => {
    const { secret } = await make(user, "read");
    const needed = (it: string, scope: string) =>
      `Cannot do this with a token of the scope ${it}: it needs the scope ${scope}`;
    const submit = await program.send("POST", "/api/backtests", { backtest: BACKTEST }, bearer(secret));
    expect(refusal(submit)).toEqual([403, "FORBIDDEN", needed("read", "run")]);
    // Before the body is read.
    const unread = await program.send("POST", "/api/strategies", "{", bearer(secret));
    expect(refusal(unread)).toEqual([403, "FORBIDDEN", needed("read", "run")]);
    const overTrpc = await program.send("POST", "/trpc/backtests.create", { backtest: BACKTEST }, bearer(secret));
    expect([overTrpc.status, overTrpc.at("/error/message")]).toEqual([403, needed("read", "run")]);
  });
  await t.step("it makes and revokes no tokens, and changes no account", async () => {
    const { id, secret } = await make(user, "run");
    for (
      const [method, path, body] of [
        ["GET", "/api/tokens"],
        ["POST", "/api/tokens", { token: { name: "another", scope: "run" } }],
        ["DELETE", `/api/tokens/${id}`],
      ] as const
    ) {
      const message = "Cannot do this with a token: sign in with e-mail and password";
      expect(refusal(await program.send(method, path, body, bearer(secret)))).toEqual([403, "FORBIDDEN", message]);
    }
    const body = { currentPassword: PASSWORD, newPassword: "another horse battery" };
    expect((await program.send("POST", "/api/auth/change-password", body, bearer(secret))).status).toBe(401);
    expect((await program.get("/api/auth/get-session", bearer(secret))).text).toBe("null");
  });
  await t.step("another user's token is as unknown as none", async () => {
    const other = await service.user();
    const { id } = await make(other, "read");
    const answer = await user.send("DELETE", `/api/tokens/${id}`);
    expect(refusal(answer)).toEqual([404, "TOKEN_NOT_FOUND", `Cannot find the token "${id}"`]);
    expect((await user.get("/api/tokens")).text).not.toContain(id);
  });
  await t.step("what is asked for is checked", () => checkRequests(user));
  await t.step("the scope admin is for admins, as long as they are admins", () => useAdmin(service, handle));
  await t.step("a ban, a password set by an admin and the user's end are the token's", async () => {
    await endWithUser(service, handle, user, email);
  });
  await handle.close();
  await service.close();
});

async function showOnce(user: TestClient, program: TestClient, { db }: DatabaseHandle) {
  const token = { name: "  nightly runs ", scope: "run", expires_in_days: 30 };
  const made = await user.send("POST", "/api/tokens", { token });
  const { id, ...shown } = Object(made.at("/token"));
  expect([made.status, shown]).toEqual([201, {
    name: "nightly runs",
    scope: "run",
    created_at: expect.any(String),
    expires_at: expect.any(String),
    last_used_at: null,
  }]);
  expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBeCloseTo(30 * 86_400_000, -4);
  const secret = String(made.at("/secret"));
  expect(secret).toMatch(/^hc_[\w-]{59}$/);
  const list = await user.get("/api/tokens");
  expect(list.at("/tokens")).toEqual([{ id, ...shown }]);
  const [row] = await db.select().from(tokens).where(eq(tokens.id, id));
  for (const text of [list.text, JSON.stringify(row)]) expect(text).not.toContain(secret.slice(19));
  // Requests of the user and of the token count together.
  const before = await user.get("/api/session");
  const session = await program.get("/api/session", bearer(secret));
  const leftOf = ({ headers }: Answer) => Number(/^"user";r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  expect(leftOf(session)).toBe(leftOf(before) - 1);
  expect(session.at("/session")).toEqual({ id, expires_at: shown.expires_at, scope: "run" });
  expect(session.at("/user")).toEqual((await user.get("/api/session")).at("/user"));
  expect(session.headers.getSetCookie()).toEqual([]);
  // A program that also has somebody's cookie acts for the token's user.
  const other = new TestClient(program.url);
  await other.signUp();
  expect((await other.get("/api/session", bearer(secret))).at("/session/id")).toBe(id);
}

async function runAll(user: TestClient, { url }: TestService) {
  const { secret } = await make(user, "run");
  const headers = bearer(secret);
  const program = new TestClient(url);
  const submitted = await program.send("POST", "/api/backtests", { backtest: BACKTEST }, { ...headers, ...FOREIGN });
  expect(submitted.status).toBe(202);
  const path = `/api/backtests/${submitted.at("/backtest/id")}`;
  const events = await program.get(`${path}/events`, headers);
  expect(events.text).toMatch(/^event: end$/m);
  const { pathname, search } = new URL(
    `http://x/trpc/backtests.onEvent?input=${encodeURIComponent(JSON.stringify({ id: submitted.at("/backtest/id") }))}`,
  );
  const followed = await program.get(`${pathname}${search}`, headers);
  expect(followed.text).toContain('"status":"completed"');
  expect((await user.get(path)).at("/backtest/status")).toBe("completed");
  const api = createTRPCClient<AppRouter>({ links: [httpLink({ url: `${url}/trpc`, headers })] });
  const { trades } = await api.backtests.trades.query({ id: String(submitted.at("/backtest/id")) });
  expect(trades).toEqual((await program.get(`${path}/trades`, headers)).at("/trades"));
  expect((await program.send("DELETE", path, undefined, headers)).status).toBe(204);
}

async function noteUses(user: TestClient, program: TestClient, { db }: DatabaseHandle) {
  const { id, secret } = await make(user, "read");
  const use = async () => {
    expect((await program.get("/api/backtests", bearer(secret))).status).toBe(200);
    const list = (await user.get("/api/tokens")).list("/tokens").map((token) => Object(token));
    return list.find((token) => token.id === id).last_used_at;
  };
  const first = await use();
  expect(Math.abs(Date.now() - Date.parse(first))).toBeLessThan(60_000);
  expect(await use()).toBe(first);
  await db.update(tokens).set({ lastUsedAt: new Date(Date.parse(first) - 61_000) }).where(eq(tokens.id, id));
  expect(Date.parse(await use())).toBeGreaterThanOrEqual(Date.parse(first));
}

async function refuse(user: TestClient, { db }: DatabaseHandle) {
  const { id, secret } = await make(user, "run");
  const program = new TestClient(user.url);
  const reason = async (text: string, path = "/api/backtests") => {
    const answer = await program.get(path, bearer(text));
    return [answer.status, answer.at("/error/data/appCode") ?? answer.at("/error/code"), answer.at("/error/message")];
  };
  const refused = (why: string) => [401, "UNAUTHENTICATED", `Cannot accept the token: ${why}`];
  const malformed = refused("one has 62 characters and begins with hc_: compare it with the one that you were shown");
  const unknown = refused("it is mistyped or revoked: compare it with the one that you were shown, or make a new one");
  for (const text of ["hc_", "x", secret.slice(0, -1), `${secret}A`, secret.toUpperCase(), `${secret} x`]) {
    expect([text, ...await reason(text)]).toEqual([text, ...malformed]);
  }
  const swap = (at: number) => secret.slice(0, at) + (secret[at] === "A" ? "B" : "A") + secret.slice(at + 1);
  for (const at of [3, 18, 19, 60]) expect([at, ...await reason(swap(at))]).toEqual([at, ...unknown]);
  // On public paths, too: the program should learn of it.
  expect(await reason(swap(30), "/api/market-data/instruments")).toEqual(unknown);
  expect(await reason(swap(30), "/trpc/session.get")).toEqual(unknown);
  expect((await program.get("/api/health", bearer(swap(30)))).status).toBe(200);
  // A cookie does not make up for it.
  expect((await user.get("/api/session", bearer(swap(30)))).status).toBe(401);
  // Other schemes are a proxy's.
  expect((await user.get("/api/session", { authorization: "Basic eDp5" })).status).toBe(200);
  expect((await program.get("/api/session", { authorization: `bearer ${secret}` })).status).toBe(200);

  const ended = new Date(Date.now() - 1000);
  await db.update(tokens).set({ expiresAt: ended }).where(eq(tokens.id, id));
  expect(await reason(secret)).toEqual(refused(`it expired at ${ended.toISOString()}: make a new one`));
  expect((await user.get("/api/tokens")).text).toContain(id);
  expect((await user.send("DELETE", `/api/tokens/${id}`)).status).toBe(204);
  expect(await reason(secret)).toEqual(unknown);
  expect((await user.send("DELETE", `/api/tokens/${id}`)).status).toBe(404);
  const old = await make(user, "read");
  await db.update(tokens).set({ expiresAt: new Date(Date.now() - 31 * 86_400_000) }).where(eq(tokens.id, old.id));
  await removeExpiredTokens(db);
  expect((await user.get("/api/tokens")).text).not.toContain(old.id);
}

async function checkRequests(user: TestClient) {
  const refused = async (token: unknown) => {
    const answer = await user.send("POST", "/api/tokens", { token });
    return [answer.status, answer.at("/error/issues/0/path")];
  };
  const plain = { name: "x", scope: "read" };
  for (
    const [token, path] of [
      [{ scope: "read" }, "name"],
      [{ ...plain, name: " " }, "name"],
      [{ ...plain, name: "x".repeat(101) }, "name"],
      [{ ...plain, name: "a\nb" }, "name"],
      [{ ...plain, name: "\u202eabc" }, "name"],
      [{ name: "x" }, "scope"],
      [{ ...plain, scope: "write" }, "scope"],
      [{ ...plain, expires_in_days: 0 }, "expires_in_days"],
      [{ ...plain, expires_in_days: 367 }, "expires_in_days"],
      [{ ...plain, expires_in_days: 1.5 }, "expires_in_days"],
      [{ ...plain, expires: 1 }, "expires"],
    ] as const
  ) expect([token, ...await refused(token)]).toEqual([token, 400, `/token/${path}`]);
  const held = (await user.get("/api/tokens")).list("/tokens").length;
  const all = await Promise.all(
    Array.from({ length: 51 - held }, () => user.send("POST", "/api/tokens", { token: plain })),
  );
  expect(all.map(({ status }) => status).toSorted().slice(-2)).toEqual([201, 429]);
  const full = all.find(({ status }) => status === 429)!;
  expect([full.at("/error/code"), full.headers.has("retry-after")]).toEqual(["QUOTA_EXCEEDED", true]);
}

async function useAdmin(service: TestService, { db }: DatabaseHandle) {
  const user = service.client();
  const email = await user.signUp();
  const program = service.client();
  const refused = await user.send("POST", "/api/tokens", { token: { name: "x", scope: "admin" } });
  const message = "Cannot make a token of the scope admin without the role admin";
  expect(refusal(refused)).toEqual([403, "FORBIDDEN", message]);
  await grantAdmin(db, email);
  const [run, admin] = [await make(user, "run"), await make(user, "admin")];
  const events = (secret: string) => program.get("/api/admin/ingestion/events", bearer(secret));
  const narrow = "Cannot do this with a token of the scope run: it needs the scope admin";
  expect(refusal(await events(run.secret))).toEqual([403, "FORBIDDEN", narrow]);
  expect((await events(admin.secret)).status).toBe(200);
  const runOnce = await program.send("POST", "/api/admin/ingestion/run-once", undefined, bearer(admin.secret));
  expect(runOnce.status).toBe(202);
  await db.update(users).set({ role: "user" }).where(eq(users.email, email));
  expect(refusal(await events(admin.secret))).toEqual([403, "FORBIDDEN", "Cannot do this without the role admin"]);
}

async function endWithUser(service: TestService, { db }: DatabaseHandle, user: TestClient, email: string) {
  await db.delete(tokens);
  const admin = service.client();
  await grantAdmin(db, await admin.signUp());
  const userId = String((await user.get("/api/session")).at("/user/id"));
  const act = async (name: string, body: object) => {
    const answer = await admin.send("POST", `/api/auth/admin/${name}`, { userId, ...body });
    expect([name, answer.status]).toEqual([name, 200]);
  };
  const statusOf = async (secret: string) => (await service.client().get("/api/session", bearer(secret))).status;
  const first = await make(user, "run");
  await act("ban-user", { banReason: "tests" });
  const banned = await service.client().get("/api/session", bearer(first.secret));
  expect(refusal(banned)).toEqual([
    401,
    "UNAUTHENTICATED",
    "Cannot accept the token: its user is banned: ask an admin",
  ]);
  await act("unban-user", {});
  expect(await statusOf(first.secret)).toBe(200);
  await act("set-user-password", { newPassword: "another horse battery" });
  expect(await statusOf(first.secret)).toBe(401);
  const back = await user.send("POST", "/api/auth/sign-in/email", { email, password: "another horse battery" });
  user.cookie = back.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  const second = await make(user, "run");
  await act("remove-user", {});
  expect(await statusOf(second.secret)).toBe(401);
}

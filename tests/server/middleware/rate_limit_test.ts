import { expect } from "@std/expect";
import postgres from "postgres";
import { RateLimiter } from "../../../server/middleware/rate_limit.ts";
import { type Answer, TestClient } from "../../support/client.ts";
import { startTestService } from "../../support/service.ts";
import { postPart } from "../../support/silent_client.ts";
import { until } from "../../support/until.ts";

Deno.test("a window begins with the first use and ends a minute later, for each key alone", () => {
  const limiter = new RateLimiter("test", 2);
  const refused = (key: string, nowMs: number) => {
    try {
      limiter.hold(key, nowMs);
      return false;
    } catch {
      return true;
    }
  };
  expect([refused("a", 1000), refused("a", 2000), refused("a", 3000), refused("b", 3000)])
    .toEqual([false, false, true, false]);
  expect([refused("a", 60_999), refused("a", 61_000), refused("b", 62_999)]).toEqual([true, false, false]);
  // b's window began at 3,000: full until 63,000, though the generations have changed in between.
  expect([refused("b", 62_999), refused("b", 63_000), refused("a", 500_000)]).toEqual([true, false, false]);
});

const PASSWORD = "correct horse battery";

Deno.test("answers name the limit, the requests left and, after too many, the time to retry", async (t) => {
  const service = await startTestService("PostgreSQL", {
    WORKERS: "0",
    USER_REQUESTS_PER_MINUTE: "3",
    ADDRESS_REQUESTS_PER_MINUTE: "40",
    ACCOUNT_FAILURES_PER_MINUTE: "3",
    ADDRESS_SIGN_INS_PER_MINUTE: "10",
    TRUSTED_PROXIES: "127.0.0.0/8",
  });
  // The proxy's word: each step comes from elsewhere.
  const from = (address: string) => ({ "x-forwarded-for": address });

  await t.step("a user, whatever address and transport they use", async () => {
    const [ann, bob] = [await service.user(), await service.user()];
    const one = await ann.get("/api/backtests", from("192.0.2.1"));
    expect([one.status, one.headers.get("ratelimit-policy")]).toEqual([200, '"user";q=3;w=60']);
    expect(one.headers.get("ratelimit")).toMatch(/^"user";r=2;t=\d+$/);
    expect((await ann.get("/trpc/session.get", from("192.0.2.2"))).status).toBe(200);
    expect((await ann.get("/api/nothing", from("192.0.2.3"))).status).toBe(404);
    for (
      const [path, code] of [["/api/backtests", "/error/code"], ["/trpc/session.get", "/error/data/appCode"]] as const
    ) {
      const refused = await ann.get(path, from("192.0.2.4"));
      expect([refused.status, refused.at(code)]).toEqual([429, "RATE_LIMITED"]);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(refused.headers.get("ratelimit")).toMatch(/^"user";r=0;t=\d+$/);
    }
    expect((await bob.get("/api/backtests", from("192.0.2.4"))).status).toBe(200);
  });

  await t.step("each call of a batch counts, however its commas are written", async () => {
    const calls = ["session.get,session.get", "session.get%2csession.get,session.get%2Csession.get"];
    for (const [i, path] of calls.entries()) {
      const caller = await service.user();
      const answer = await caller.get(`/trpc/${path}?batch=1`, from(`192.0.2.${10 + i}`));
      const left = i === 0 ? { status: 200, remaining: 1 } : { status: 429, remaining: 0 };
      expect([answer.status, answer.headers.get("ratelimit")])
        .toEqual([left.status, expect.stringMatching(`^"user";r=${left.remaining};`)]);
    }
  });

  await t.step("an address, signed in or not", async () => {
    const stranger = service.client();
    const answers = await Promise.all(
      Array.from({ length: 42 }, () => stranger.get("/api/health", from("198.51.100.7"))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
    // The client invented everything before the proxy's own entry.
    expect((await stranger.get("/api/health", from("1.2.3.4, 198.51.100.7"))).status).toBe(429);
    expect((await stranger.get("/api/health", from("198.51.100.8"))).status).toBe(200);
  });

  await t.step("passwords of one account, from many addresses; a right one counts for nothing", async () => {
    const email = await service.client().signUp();
    const signIn = (password: string, address: string) =>
      new TestClient(service.url).send("POST", "/api/auth/sign-in/email", { email, password }, from(address));
    for (let i = 1; i <= 4; i++) expect((await signIn(PASSWORD, `203.0.113.${i}`)).status).toBe(200);
    const wrong = await Promise.all([1, 2, 3, 4, 5].map((i) => signIn("wrong password", `203.0.113.${10 + i}`)));
    expect(wrong.map(({ status }) => status).sort()).toEqual([401, 401, 401, 429, 429]);
    const refused = await signIn("wrong password", "203.0.113.19");
    expect([refused.status, refused.at("/error/code")]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    // The library would take a form as well, and the account is not looked for there.
    const form = new URLSearchParams({ email, password: "wrong password" }).toString();
    const type = { "content-type": "application/x-www-form-urlencoded" };
    const formed = await service.client().send("POST", "/api/auth/sign-in/email", form, {
      ...type,
      ...from("203.0.113.9"),
    });
    expect([formed.status, formed.at("/error/code")]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
  });

  await t.step("attempts from one address, whatever the account", async () => {
    const signIn = () =>
      service.client().send(
        "POST",
        "/api/auth/sign-in/email",
        { email: `${crypto.randomUUID()}@example.com`, password: PASSWORD },
        from("203.0.113.99"),
      );
    const statuses = (await Promise.all(Array.from({ length: 12 }, signIn))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
  });

  await t.step("an attempt beyond the limit waits neither for its body nor for the database", async () => {
    const { cookie } = await service.user();
    const lock = postgres(service.databaseUrl, { max: 1 });
    const held = await lock.reserve();
    await held`begin`;
    await held`lock table "session", "user" in access exclusive mode`;
    const attempt = await postPart(service.url, "/api/auth/sign-in/email", {
      ...{ length: 1000, part: "{" },
      headers: { ...from("203.0.113.99"), "content-type": "application/json", cookie },
    });
    const status = await attempt.readStatus();
    attempt.close();
    await held`rollback`;
    held.release();
    await lock.end();
    expect(status).toBe("HTTP/1.1 429 Too Many Requests");
  });
  await service.close();
});

Deno.test("strangers who guess do not keep out who has signed in before", async (t) => {
  const service = await startTestService("PostgreSQL", {
    WORKERS: "0",
    ACCOUNT_FAILURES_PER_MINUTE: "3",
    TRUSTED_PROXIES: "127.0.0.0/8",
  });
  const from = (address: string) => ({ "x-forwarded-for": address });
  const signIn = (email: string, address: string, password = PASSWORD, cookie = "") =>
    service.client().send("POST", "/api/auth/sign-in/email", { email, password }, { ...from(address), cookie });
  const deviceOf = ({ headers }: Answer) =>
    headers.getSetCookie().find((line) => line.startsWith("hindcast.device="))?.split(";")[0] ?? "";
  const account = { name: "Ann", email: `${crypto.randomUUID()}@example.com`, password: PASSWORD };
  const { email } = account;
  const signedUp = await service.client().send("POST", "/api/auth/sign-up/email", account, from("192.0.2.1"));
  const device = deviceOf(signedUp);
  expect((await signIn(email, "2001:db8:1:2:aaaa::1")).status).toBe(200);
  const guess = (address: string, cookie?: string) => signIn(email, address, "wrong password", cookie);
  // The window lasts for the next attempts on a slow machine, too.
  const exhaust = (address: string, cookie?: string) =>
    until(async () => {
      const { status, headers } = await guess(address, cookie);
      return status === 429 && Number(headers.get("retry-after")) >= 30;
    });
  const count = async (address: string, cookie?: string) => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => guess(address, cookie)));
    return answers.map(({ status }) => status).sort();
  };
  expect(await count("198.51.100.1")).toEqual([401, 401, 401, 429]);

  await t.step("a stranger waits, and so does a caller with a forged cookie", async () => {
    await exhaust("198.51.100.1");
    expect((await signIn(email, "198.51.100.2")).status).toBe(429);
    const other = deviceOf(
      await service.client().send("POST", "/api/auth/sign-up/email", { ...account, email: `x${email}` }),
    );
    expect(other).not.toBe("");
    const [owner, signature] = [device.split(".").slice(0, 2), other.slice(-50)];
    for (const cookie of [other, `${device}x`, owner.join("."), `${owner.join(".")}.x${signature}`]) {
      await exhaust("198.51.100.1");
      expect([cookie, (await signIn(email, "198.51.100.2", PASSWORD, cookie)).status]).toEqual([cookie, 429]);
    }
  });

  await t.step("a device signs in from anywhere, and an address and its neighbours without a cookie", async () => {
    await exhaust("198.51.100.1");
    const answer = await signIn(email, "198.51.100.3", PASSWORD, device);
    expect(answer.status).toBe(200);
    expect(deviceOf(answer)).not.toBe(device);
    expect((await signIn(email, "192.0.2.1")).status).toBe(200);
    expect((await signIn(email, "2001:db8:1:2:bbbb::2")).status).toBe(200);
    expect((await signIn(email, "2001:db8:1:3:aaaa::1")).status).toBe(429);
  });

  await t.step("each has as many attempts as all strangers, and no more", async () => {
    expect(await count("192.0.2.1")).toEqual([401, 401, 401, 429]);
    expect(await count("198.51.100.4", device)).toEqual([401, 401, 401, 429]);
    await exhaust("198.51.100.4", device);
    expect((await signIn(email, "192.0.2.1", PASSWORD, device)).status).toBe(429);
    expect((await signIn(email, "2001:db8:1:2::3")).status).toBe(200);
  });

  await t.step(
    "the cookie is for signing in alone, and for no script; others are still free to sign up",
    async () => {
      const line = signedUp.headers.getSetCookie().find((each) => each.startsWith("hindcast.device="));
      expect(line).toMatch(/; Path=\/api\/auth\/sign-in; HttpOnly; SameSite=Lax$/);
      await Promise.all(Array.from({ length: 4 }, () => signIn(`new${email}`, "198.51.100.5", "wrong password")));
      const fresh = await service.client().send("POST", "/api/auth/sign-up/email", {
        ...account,
        email: `new${email}`,
      });
      expect(fresh.status).toBe(200);
    },
  );
  await service.close();
});

Deno.test("a path that leads around the limits on sign-ins leads nowhere", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const email = await service.client().signUp();
  const { hostname, port } = new URL(service.url);
  const body = JSON.stringify({ email, password: PASSWORD });
  // As no URL of fetch's can be, which takes such parts away.
  const post = async (path: string) => {
    using connection = await Deno.connect({ hostname, port: Number(port) });
    const head = [`POST ${path} HTTP/1.1`, "host: x", "connection: close", "content-type: application/json"];
    const text = [...head, `content-length: ${body.length}`, "", body].join("\r\n");
    await connection.write(new TextEncoder().encode(text));
    return (await new Response(connection.readable).text()).split("\r\n")[0];
  };
  expect(await post("/api/auth/sign-in/email")).toBe("HTTP/1.1 200 OK");
  for (const path of ["./sign-in/email", "x/../sign-in/email", "%2e/sign-in/email", "sign-in/x/%2E%2e/email"]) {
    expect([path, await post(`/api/auth/${path}`)]).toEqual([path, "HTTP/1.1 404 Not Found"]);
  }
  await service.close();
});

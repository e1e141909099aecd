import { expect } from "@std/expect";
import { RateLimiter } from "../../server/rate_limit.ts";
import { TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";

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

Deno.test("who asks too often is told how much is left and when to come back", async (t) => {
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

  await t.step("a user, whatever address and transport he uses", async () => {
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

  await t.step("an address, signed in or not", async () => {
    const stranger = service.client();
    const answers = await Promise.all(
      Array.from({ length: 42 }, () => stranger.get("/api/health", from("198.51.100.7"))),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(2);
    // What stands before the proxy's own entry is the client's invention.
    expect((await stranger.get("/api/health", from("1.2.3.4, 198.51.100.7"))).status).toBe(429);
    expect((await stranger.get("/api/health", from("198.51.100.8"))).status).toBe(200);
  });

  await t.step("passwords of one account, from many addresses; a right one counts for nothing", async () => {
    const email = await service.client().signUp();
    const signIn = (password: string, address: string) =>
      new TestClient(service.url).send("POST", "/api/auth/sign-in/email", { email, password }, from(address));
    for (let i = 1; i <= 4; i++) expect((await signIn(PASSWORD, `203.0.113.${i}`)).status).toBe(200);
    const wrong = await Promise.all([1, 2, 3, 4, 5].map((i) => signIn("wrong password", `203.0.113.${i}`)));
    expect(wrong.map(({ status }) => status).sort()).toEqual([401, 401, 401, 429, 429]);
    const refused = await signIn("wrong password", "203.0.113.9");
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
  await service.close();
});

import { expect } from "@std/expect";
import { submitOptimization } from "../support/optimizations.ts";
import { appRouter } from "../../routers/app.ts";
import { ROUTES } from "../../server/rest/routes.ts";
import { listTargets } from "../fuzz/targets.ts";
import { type Answer, BACKTEST, type TestClient } from "../support/client.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const PUBLIC_PATHS = /^\/api\/(health(\/(serving|ready|live|events))?|market-data\/.*|shared\/:token(\/\w+)?)$/;
// docs/metrics.md defines the metrics publicly, too, strangers ask if they may sign up, and a link is for all who have it.
const PUBLIC_PROCEDURES = /^(health|marketData)\.|^(backtests\.metrics|session\.policy|shares\.open)$/;
const SECRET = { "x-ingestion-admin-secret": INGESTION_SECRET };
const REMOTE = { type: "remote", language: "any", endpoint: "https://signals.example.com/v1" };

const STRATEGY = {
  slug: "private-one",
  name: "Private One",
  description: "Nobody else's business.",
  runtime_type: "remote",
  language: "any",
  default_config: { note: "free" },
  initial_version: { version: "1", runtime_config: REMOTE },
};
const INSTRUMENT = { symbol: "NEW", exchange: "SAMPLE", assetClass: "crypto", provider: "provider_a", timeframe: "1d" };

const UNIVERSE = { slug: "my-list", members: [{ symbol: "DEMO", exchange: "SAMPLE" }] };

/** A body that a route with one accepts, or nearly. */
function bodyOf(path: string): Record<string, unknown> {
  if (path === "/api/backtests") return { backtest: BACKTEST };
  if (path === "/api/backtests/:id") return { backtest: { name: "New name" } };
  if (path === "/api/strategies") return { strategy: STRATEGY };
  if (path === "/api/universes") return { universe: UNIVERSE };
  if (path === "/api/universes/:slug") return { universe: { description: "New words." } };
  if (path === "/api/universes/:slug/versions") return { version: { members: UNIVERSE.members } };
  if (path.endsWith("/versions")) return { version: { version: "2", runtime_config: REMOTE } };
  if (path === "/api/strategies/:slug") return { strategy: { name: "New name", description: "New words." } };
  if (path.endsWith("/instruments")) return { instrument: INSTRUMENT };
  return {};
}

const fill = (path: string, value: string) => path.replaceAll(/:\w+/g, value);

/** Sends what the route expects; `query` is appended as it is. */
function call(client: TestClient, row: (typeof ROUTES)[number], path: string, body?: unknown, headers = {}) {
  if (row.body === "none") return client.send(row.method, path, undefined, headers);
  if (row.body === "csv") {
    return client.send(row.method, path, "date,open\n", { ...headers, "content-type": "text/csv" });
  }
  return client.send(row.method, path, body ?? bodyOf(row.path), headers);
}

Deno.test("no route and no procedure but the public ones answers without a session", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const stranger = service.client();

  await t.step("REST, row by row", async () => {
    for (const row of ROUTES.filter(({ path }) => !PUBLIC_PATHS.test(path))) {
      const answer = await call(stranger, row, fill(row.path, crypto.randomUUID()));
      expect([row.method, row.path, answer.status, answer.at("/error/code")])
        .toEqual([row.method, row.path, 401, "UNAUTHENTICATED"]);
    }
  });

  await t.step("tRPC, procedure by procedure", async () => {
    const procedures = Object.entries(appRouter._def.procedures).filter(([name]) => !PUBLIC_PROCEDURES.test(name));
    expect(procedures.length).toBeGreaterThan(10);
    for (const [name, procedure] of procedures) {
      // Flat by name when it runs, though its type follows the routers.
      const type: unknown = Object(procedure)._def.type;
      const answer = type === "mutation"
        ? await stranger.send("POST", `/trpc/${name}`, {})
        : await stranger.get(`/trpc/${name}`);
      // A subscription's refusal arrives as its first event.
      const refused = type === "subscription" ? answer.text.includes('"UNAUTHENTICATED"') : answer.status === 401;
      expect([name, refused]).toEqual([name, true]);
    }
  });

  await t.step("an ordinary user is refused on every admin route", async () => {
    const user = await service.user();
    for (const row of ROUTES.filter(({ path }) => path.startsWith("/api/admin/"))) {
      const answer = await call(user, row, fill(row.path, crypto.randomUUID()));
      expect([row.path, answer.status, answer.at("/error/code")]).toEqual([row.path, 403, "FORBIDDEN"]);
    }
  });
  await service.close();
});

Deno.test("another user's record is answered exactly as a missing one, on every route that names a record", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const [owner, other] = [await service.user(), await service.user()];
  const accepted = await owner.send("POST", "/api/backtests", { backtest: BACKTEST });
  expect(accepted.status).toBe(202);
  const id = String(accepted.at("/backtest/id"));
  const optimization = await submitOptimization(owner);
  expect((await owner.send("POST", "/api/strategies", { strategy: STRATEGY })).status).toBe(201);
  expect((await owner.send("POST", "/api/universes", { universe: UNIVERSE })).status).toBe(201);
  // The name of an endpoint is no record: each user may have programs of any name.
  const named = ROUTES.filter(({ path, access }) =>
    path.includes("/:") && !path.startsWith("/api/admin/") && access !== "serve"
  );
  expect(named.length).toBeGreaterThan(10);
  const told = ({ status, text }: Answer, name: string) => [
    status,
    text.replaceAll(name, "NAME").replace(/"request_id":"[^"]*"/, ""),
  ];
  for (const row of named) {
    const slug = row.path.startsWith("/api/strategies")
      ? STRATEGY.slug
      : row.path.startsWith("/api/universes")
      ? UNIVERSE.slug
      : null;
    const theirs = slug ?? (row.path.startsWith("/api/optimizations") ? optimization : id);
    const nobodys = slug === null ? crypto.randomUUID() : "no-such-one";
    const query = row.path.endsWith("/differences") ? "?other=:id" : row.path.endsWith("/surface") ? "?x=fast" : "";
    const path = (name: string) => fill(row.path.replace(/:version|:number/, "1") + query, name);
    const [hidden, missing] = [await call(other, row, path(theirs)), await call(other, row, path(nobodys))];
    expect([row.method, row.path, hidden.status]).toEqual([row.method, row.path, 404]);
    expect(told(hidden, theirs)).toEqual(told(missing, nobodys));
  }
  // And nothing of it was touched.
  expect((await owner.get(`/api/backtests/${id}`)).at("/backtest/status")).toBe("queued");
  expect((await owner.get(`/api/optimizations/${optimization}`)).at("/optimization/status")).toBe("queued");
  expect((await owner.get(`/api/strategies/${STRATEGY.slug}`)).at("/strategy/latest_version")).toBe("1");
  await service.close();
});

// Each at a place where somebody might have trusted it.
const TEXTS = [
  "'; drop table backtests; --",
  '" or 1=1 --',
  "%' union select null --",
  "\\",
  "\u0000",
  "\ud800",
  "__proto__",
  "constructor",
  "\u202egnp.exe",
  "ｓｅｌｅｃｔ",
  "../../etc/passwd",
  "${7*7}{{7*7}}",
  "x".repeat(100_000),
];
const QUERIES = [
  "limit=1&limit=2",
  "__proto__=1",
  "__proto__[role]=admin",
  "constructor[prototype][role]=admin",
  "constructor=1",
  "limit[]=1",
  "limit=1e9",
  "limit=-1",
  "cursor=%00",
  "cursor=%zz",
  "cursor=%ED%A0%80",
  "cursor=bnVsbA",
  Array.from({ length: 500 }, (_, i) => `k${i}=v`).join("&"),
];
const NAMES = [
  "'",
  "%27%20or%201=1--",
  "%00",
  "%zz",
  "..%2f..%2f",
  "__proto__",
  "constructor",
  "x".repeat(3000),
  "%ED%A0%80",
];
const LEAK =
  /\.ts:\d|\bat \w+ \(|node_modules|pgboss|drizzle|postgres(?!\.example)|syntax error|insert into|select .* from|PG[A-Z]{3}/i;

function harmless(what: string, answer: Answer): void {
  const brief = `${what}: ${answer.text.slice(0, 300)}`;
  expect([brief, answer.status < 500]).toEqual([brief, true]);
  expect([brief, answer.status >= 400 && LEAK.test(answer.text)]).toEqual([brief, false]);
}

/** The value with `text` in place of one of its strings, for each in turn; and with a key of that name, where there is an object. */
function* mutations(value: unknown, text: string): Generator<unknown> {
  if (typeof value === "string") yield text;
  if (typeof value !== "object" || value === null) return;
  yield Object.defineProperty({ ...value }, text, { value: { role: "admin" }, enumerable: true });
  for (const [key, inner] of Object.entries(value)) {
    for (const changed of mutations(inner, text)) yield { ...value, [key]: changed };
  }
}

Deno.test("hostile requests are refused in words that give nothing away, and are never a fault", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", ACCOUNT_FAILURES_PER_MINUTE: "1000" });
  const user = await service.user();
  const headersOf = (path: string) => path.startsWith("/api/admin/") ? SECRET : {};

  await t.step("query strings", async () => {
    const targets = await listTargets();
    // A name that a route does not know is refused whatever its value.
    const listParameters = (row: (typeof ROUTES)[number]) => [
      "unknown",
      ...Object.keys(targets.find(({ route }) => route === row)?.shape?.properties ?? {}),
    ];
    for (const row of ROUTES.filter(({ method }) => method === "GET")) {
      const path = fill(row.path, crypto.randomUUID());
      const texts = TEXTS.filter((text) => text.length < 1000).map((text) => encodeURIComponent(text.toWellFormed()));
      const named = listParameters(row);
      const queries = [...QUERIES, ...texts.flatMap((text) => named.map((name) => `${name}=${text}`))];
      for (const query of queries) {
        const what = `${row.path}?${query.slice(0, 60)}`;
        harmless(what, await user.get(`${path}?${query}`, headersOf(path)));
      }
    }
  });

  await t.step("names in paths", async () => {
    for (const row of ROUTES.filter(({ path }) => path.includes("/:"))) {
      for (const name of NAMES) {
        const answer = await call(user, row, fill(row.path, name), undefined, headersOf(row.path));
        harmless(`${row.method} ${row.path} ${name.slice(0, 20)}`, answer);
        // Any name may be that of a program, for which nothing is asked yet.
        if (row.access !== "serve") expect(answer.status).toBeGreaterThanOrEqual(400);
      }
    }
  });

  await t.step("bodies", async () => {
    const slug = String((await user.send("POST", "/api/strategies", { strategy: STRATEGY })).at("/strategy/slug"));
    for (const row of ROUTES.filter(({ body, path }) => body === "json" && !path.includes("/:id"))) {
      const path = fill(row.path, slug);
      for (const text of TEXTS) {
        for (const body of mutations(bodyOf(row.path), text)) {
          const answer = await call(user, row, path, body, headersOf(path));
          harmless(`${row.method} ${row.path} ${JSON.stringify(body).slice(0, 200)}`, answer);
        }
      }
    }
    expect((await user.get("/api/session")).at("/user/role")).toBe("user");
    const account = { name: "Ann", email: "ann@example.com", password: "correct horse battery" };
    for (const path of ["/api/auth/sign-up/email", "/api/auth/sign-in/email"]) {
      for (const text of TEXTS.filter((text) => ["'", "\u0000", "\ud800", "_"].includes(text.slice(0, 1)))) {
        for (const body of mutations(account, text)) {
          harmless(`${path} ${JSON.stringify(body).slice(0, 200)}`, await service.client().send("POST", path, body));
        }
      }
    }
  });

  await t.step("headers", async () => {
    for (
      const headers of [
        { "x-request-id": "x".repeat(5000) },
        { "x-request-id": "<script>" },
        { cookie: `better-auth.session_token=${"x".repeat(5000)}` },
        { cookie: "better-auth.session_token='; drop table session; --" },
        { cookie: Array.from({ length: 200 }, (_, i) => `c${i}=1`).join("; ") },
        { "if-none-match": `"${"x".repeat(5000)}`, range: "bytes=9-1", accept: "x".repeat(5000) },
        { origin: "null" },
        { "x-forwarded-for": "'; drop table session; --" },
      ]
    ) harmless(JSON.stringify(headers).slice(0, 60), await user.get("/api/backtests", headers));
    const bomb = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x-bomb-${i}`, "x".repeat(1000)]));
    // Refused, or cut off before it was read: either way the next request is answered.
    const answer = await user.get("/api/backtests", bomb).catch(() => null);
    if (answer !== null) expect(answer.status).toBeLessThan(500);
    expect((await user.get("/api/backtests")).status).toBe(200);
  });
  await service.close();
});

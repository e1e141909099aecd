/** Attacks by a stranger and a user on the API through the page's nginx, with two processes behind it: `deno task hostile`. */
import { expect } from "@std/expect";
import { BACKTEST, TestClient } from "../support/client.ts";
import { inCluster } from "../support/cluster.ts";
import { freePort } from "../support/free_port.ts";
import { startProxy } from "../support/proxies.ts";
import { until } from "../support/until.ts";

/** Sends a request as it is written, and reads until the other side closes. */
async function sendRaw(port: number, lines: readonly string[], body = ""): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const text = [...lines, "connection: close", "", body].join("\r\n");
  await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text().catch(() => "");
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);

// Each names a path of a user's or an admin's in another way.
const SPELLINGS = [
  "/api//session",
  "/API/session",
  "/api/health/../session",
  "/api/health/%2e%2e/session",
  "/api/health%2f..%2fsession",
  "/api/health;/../session",
  "/api/./session",
  "/%61pi/session",
  "/api/session/",
  "/api/session%00",
  "/api/admin/ingestion/../ingestion/events",
  "/api/market-data/../admin/ingestion/events",
  "/api/market-data/%2e%2e/admin/ingestion/events",
  "http://127.0.0.1/api/session",
];

const SMUGGLED = "GET /api/session HTTP/1.1\r\nhost: x\r\n\r\n";

const FOREIGN = ["https://evil.example", "null", "http://127.0.0.1.evil.example", "http://localhost", "file://"];
const STREAMS = 300;
// As the page has it.
const CONNECTIONS_MAX = 100;

Deno.test("nothing that was tried through nginx opens a user's data or takes a process away", async (t) => {
  const places = [freePort(), freePort()];
  await inCluster(async (start) => {
    const more = { WORKERS: "0", TRUSTED_PROXIES: "127.0.0.1", ADDRESS_SIGN_INS_PER_MINUTE: "20" };
    const processes = await Promise.all(places.map((place) => start("serve", { PORT: String(place), ...more })));
    const proxy = await startProxy("nginx", places);
    const user = new TestClient(proxy.url);
    const stranger = new TestClient(proxy.url);
    await until(() => stranger.get("/api/health").then(({ status }) => status === 200, () => false));
    await user.signUp();
    const made = await user.send("POST", "/api/tokens", { token: { name: "mine", scope: "read" } });
    const secret = String(made.at("/secret"));

    await t.step("spellings of paths", async () => {
      for (const path of SPELLINGS) {
        const answer = await sendRaw(proxy.port, [`GET ${path} HTTP/1.1`, "host: x"]);
        expect([path, [400, 401, 404].includes(statusOf(answer)), answer]).toEqual([path, true, answer]);
      }
    });

    await t.step("requests within requests", async () => {
      const head = ["POST /api/auth/sign-out HTTP/1.1", "host: x", "content-type: application/json"];
      for (
        const framing of [
          ["content-length: 4", "transfer-encoding: chunked"],
          ["content-length: 0", `content-length: ${SMUGGLED.length}`],
          ["transfer-encoding: identity, chunked"],
          ["transfer-encoding: xchunked"],
          ["content-length: +4"],
          [" transfer-encoding: chunked", "content-length: 4"],
        ]
      ) {
        const answer = await sendRaw(proxy.port, [...head, ...framing], `0\r\n\r\n${SMUGGLED}`);
        expect([framing, answer.match(/^HTTP\/1\.1 \d+/gm)?.length ?? 0]).toEqual([framing, 1]);
        expect(answer).not.toContain('"session"');
      }
    });

    await t.step("tokens in other forms, scopes and places", async () => {
      const bearer = (text: string) => ({ authorization: text });
      expect((await stranger.get("/api/session", bearer(`Bearer ${secret}`))).status).toBe(200);
      for (
        const text of [
          `Basic ${btoa(`user:${secret}`)}`,
          `Bearer ${secret.slice(0, -1)}`,
          `Bearer ${secret}x`,
          `Bearer ${secret.toUpperCase()}`,
          `Bearer ${secret}, Bearer ${secret}`,
          `Token ${secret}`,
          secret,
        ]
      ) expect([text, (await stranger.get("/api/session", bearer(text))).status]).toEqual([text, 401]);
      expect((await stranger.get(`/api/session?authorization=Bearer%20${secret}`)).status).toBe(401);
      const submit = await stranger.send("POST", "/api/tokens", { token: { name: "x", scope: "run" } }, {
        ...bearer(`Bearer ${secret}`),
      });
      expect(submit.status).toBe(403);
    });

    await t.step("pages of other origins", async () => {
      for (
        const origin of ["https://evil.example", "null", "http://127.0.0.1.evil.example", `${proxy.url}.evil.example`]
      ) {
        const answer = await user.send("POST", "/api/tokens", { token: { name: "x", scope: "run" } }, { origin });
        expect([origin, answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([origin, 403, null]);
      }
    });

    await t.step("preflights of other origins", async () => {
      for (const origin of FOREIGN) {
        for (const method of ["GET", "POST", "PATCH", "DELETE", "PUT"]) {
          for (const path of ["/api/session", "/api/backtests", "/api/tokens/x", "/trpc/session.get", "/mcp"]) {
            const answer = await stranger.send("OPTIONS", path, undefined, {
              origin,
              "access-control-request-method": method,
              "access-control-request-headers": "authorization, content-type, x-ingestion-admin-secret",
            });
            const allowed = answer.headers.get("access-control-allow-origin");
            expect([origin, method, path, allowed, answer.status < 500]).toEqual([origin, method, path, null, true]);
          }
        }
      }
    });

    const submitted = await user.send("POST", "/api/backtests", { backtest: BACKTEST });
    const id = String(submitted.at("/backtest/id"));

    await t.step("exports in other forms, and of others", async () => {
      const other = new TestClient(proxy.url);
      await other.signUp();
      for (const part of ["", "/trades", "/orders", "/equity", "/returns", "/series", "/log", "/report"]) {
        for (const format of ["json", "csv", "arrow"]) {
          const answer = await other.get(`/api/backtests/${id}${part}?format=${format}`);
          expect([part, format, answer.status, answer.at("/error/code")])
            .toEqual([part, format, 404, "BACKTEST_NOT_FOUND"]);
        }
      }
      const ticks = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2024-02-01&timeframe=1h";
      for (
        const format of [
          "CSV",
          "csv%00",
          "xlsx",
          "../csv",
          "csv%0d%0aset-cookie:a=b",
          "csv&format=json",
          "%F0%9D%84%9E",
        ]
      ) expect([format, (await stranger.get(`${ticks}&format=${format}`)).status]).toEqual([format, 400]);
      const whole = (await stranger.get(`${ticks}&format=csv`)).text.length;
      for (
        const headers of [
          { range: "bytes=0-10" },
          { "if-range": "*", range: "bytes=9999999-" },
          { "accept-encoding": "gzip;q=0, zstd;q=0, identity;q=0" },
          { "accept-encoding": "x".repeat(4_000) },
          { "if-none-match": 'W/"", "' },
          { accept: `${"text/csv,".repeat(400)}*/*;q=NaN` },
        ]
      ) {
        const answer = await stranger.get(`${ticks}&format=csv`, headers);
        expect([headers, answer.status, answer.text.length]).toEqual([headers, 200, whole]);
        expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      }
    });

    await t.step("downloads that are begun and left", async () => {
      const year = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2025-01-01&timeframe=1m";
      for (let round = 0; round < 5; round++) {
        await Promise.all(Array.from({ length: 20 }, async () => {
          const leaving = new AbortController();
          const answer = await fetch(`${proxy.url}${year}`, { signal: leaving.signal });
          await answer.body?.getReader().read();
          leaving.abort();
        }));
      }
      await until(() => stranger.get(`${year}&limit=10`).then(({ status }) => status === 200));
    });

    await t.step("event streams of others, without number, and with made-up ids", async () => {
      const path = `/api/backtests/${id}/events`;
      expect((await stranger.get(path)).status).toBe(401);
      const leaving = new AbortController();
      const open = async (lastEventId: string) => {
        const headers = { cookie: user.cookie, "last-event-id": lastEventId };
        const answer = await fetch(`${proxy.url}${path}`, { headers, signal: leaving.signal });
        if (answer.status !== 200) await answer.text();
        return answer.status;
      };
      const ids = ["", "0-completed-1", "x".repeat(4_000), "-1", "%0a%0aevent: end"];
      const statuses = await Promise.all(Array.from({ length: STREAMS }, (_, i) => open(ids[i % ids.length]!)));
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(CONNECTIONS_MAX);
      expect(new Set(statuses)).toEqual(new Set([200, 429]));
      // The page's nginx refuses further connections of the address in the service's own form.
      const refused = await stranger.get("/api/market-data/instruments");
      expect([refused.status, refused.at("/error/code")]).toEqual([429, "RATE_LIMITED"]);
      leaving.abort();
      await until(async () => {
        const again = new AbortController();
        const answer = await fetch(`${proxy.url}${path}`, { headers: { cookie: user.cookie }, signal: again.signal });
        again.abort();
        return answer.status === 200;
      });
    });

    await t.step("a token that was revoked, at both processes", async () => {
      const one = await user.send("POST", "/api/tokens", { token: { name: "short", scope: "admin" } });
      expect([one.status, one.at("/error/code")]).toEqual([403, "FORBIDDEN"]);
      const short = await user.send("POST", "/api/tokens", { token: { name: "short", scope: "run" } });
      const headers = { authorization: `Bearer ${short.at("/secret")}` };
      for (let i = 0; i < 4; i++) expect((await stranger.get("/api/session", headers)).status).toBe(200);
      await user.send("DELETE", `/api/tokens/${short.at("/token/id")}`);
      for (let i = 0; i < 8; i++) expect((await stranger.get("/api/session", headers)).status).toBe(401);
    });

    await t.step("an address that a client makes up", async () => {
      const attempt = (i: number) =>
        stranger.send("POST", "/api/auth/sign-in/email", { email: "a@example.com", password: "wrong horse" }, {
          "x-forwarded-for": `198.51.100.${i}`,
          "x-real-ip": `198.51.100.${i}`,
          forwarded: `for=198.51.100.${i}`,
        });
      const statuses = [];
      // Two processes count for themselves.
      for (let i = 0; i < 60; i++) statuses.push((await attempt(i)).status);
      expect(statuses.at(-1)).toBe(429);
    });

    await t.step("afterwards both processes answer", async () => {
      const found = new Set<string | null>();
      for (let i = 0; i < 16; i++) {
        const answer = await stranger.get("/api/market-data/instruments");
        expect(answer.status).toBe(200);
        found.add(answer.headers.get("x-upstream"));
      }
      expect(found.size).toBe(2);
    });
    await proxy.end();
    await Promise.all(processes.map((process) => process.end("SIGINT")));
  });
});

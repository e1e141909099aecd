/** What a stranger and a user tried on the API through the page's nginx, with two processes behind it: `deno task hostile`. */
import { expect } from "@std/expect";
import { TestClient } from "../support/client.ts";
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

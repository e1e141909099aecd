import { expect } from "@std/expect";
import { fetchGuarded } from "../../../workers/egress/fetch.ts";
import { EndpointBreaker } from "../../../workers/egress/breaker.ts";
import { serveBytes, serveRaw } from "../sandbox/remote/endpoints.ts";

const limits = { timeoutMs: 60_000, bytesMax: 100, signal: new AbortController().signal };

Deno.test("fetchGuarded() returns the bytes from the address that was checked", async () => {
  const bytes = Uint8Array.from([0, 97, 115, 109, 255]);
  await using server = serveBytes(() => ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", bytes]);
  const host = `modules.test:${server.port}`;
  const rules = { allow: new Set([host]), lookup: () => Promise.resolve(["127.0.0.1"]) };
  expect([...await fetchGuarded(`http://${host}/a.wasm`, rules, limits)]).toEqual([...bytes]);
});

Deno.test("private addresses, redirects, errors, long and late answers are refused with a reason", async () => {
  await using canary = serveRaw(async () => {});
  const ends: readonly (readonly [head: string, code: string, reason: string])[] = [
    [
      `HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:${canary.port}/\r\ncontent-length: 0\r\n\r\n`,
      "ENDPOINT_FAILED",
      "redirects are not followed",
    ],
    ["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "ENDPOINT_FAILED", "it answered HTTP 404"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n", "ENDPOINT_FAILED", "longer than 100 bytes"],
    [`HTTP/1.0 200 OK\r\n\r\n${"x".repeat(101)}`, "ENDPOINT_FAILED", "longer than 100 bytes"],
  ];
  for (const [head, code, reason] of ends) {
    await using server = serveBytes(() => [head]);
    const rules = { allow: new Set([`127.0.0.1:${server.port}`]) };
    await expect(fetchGuarded(`http://127.0.0.1:${server.port}/`, rules, limits)).rejects
      .toMatchObject({ code, message: expect.stringContaining(reason) });
  }
  await using silent = serveBytes(() => [], { hang: true });
  const rules = { allow: new Set([`127.0.0.1:${silent.port}`]) };
  await expect(fetchGuarded(`http://127.0.0.1:${silent.port}/`, rules, { ...limits, timeoutMs: 50 })).rejects
    .toMatchObject({ code: "ENDPOINT_FAILED" });
  await expect(fetchGuarded(`http://127.0.0.1:${canary.port}/`, { allow: new Set() }, limits)).rejects
    .toMatchObject({ code: "ENDPOINT_NOT_ALLOWED" });
  expect(canary.connections()).toBe(0);
});

Deno.test("calls to an endpoint pause for 30 seconds after five failed runs in a row", () => {
  let now = 1000;
  const breaker = new EndpointBreaker(() => now);
  for (let i = 0; i < 4; i++) breaker.record("https://a.test/one", true);
  expect(breaker.pauseMs("https://a.test/one")).toBe(0);
  breaker.record("https://a.test/one", true);
  expect([breaker.pauseMs("https://a.test/one"), breaker.pauseMs("https://a.test/two")]).toEqual([30_000, 0]);
  now += 29_999;
  expect(breaker.pauseMs("https://a.test/one")).toBe(1);
  now += 1;
  expect(breaker.pauseMs("https://a.test/one")).toBe(0);
  // One more failure starts another pause; one success clears the record.
  breaker.record("https://a.test/one", true);
  expect(breaker.pauseMs("https://a.test/one")).toBe(30_000);
  breaker.record("https://a.test/one", false);
  breaker.record("https://a.test/one", true);
  expect(breaker.pauseMs("https://a.test/one")).toBe(0);
});

import { expect } from "@std/expect";
import { fetchGuarded } from "../../../workers/egress/fetch.ts";
import { EndpointBreaker } from "../../../workers/egress/breaker.ts";
import { runScriptAs } from "../../support/process.ts";
import { serveBytes, serveRaw } from "../sandbox/remote/endpoints.ts";

const FETCH = new URL("../../../workers/egress/fetch.ts", import.meta.url).href;
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const limits = { timeoutMs: 60_000, bytesMax: 100, signal: new AbortController().signal };

Deno.test("fetchGuarded() returns the bytes from the address that was checked", async () => {
  const bytes = Uint8Array.from([0, 97, 115, 109, 255]);
  await using server = serveBytes(() => ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n", bytes]);
  const host = `modules.test:${server.port}`;
  const rules = { allow: new Set([host]), lookup: () => Promise.resolve(["127.0.0.1"]) };
  const outcome = await fetchGuarded(`http://${host}/a.wasm`, rules, limits);
  expect(outcome).toEqual({ type: "completed", body: bytes });
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
    expect(await fetchGuarded(`http://127.0.0.1:${server.port}/`, rules, limits))
      .toMatchObject({ type: "failed", code, message: expect.stringContaining(reason) });
  }
  await using silent = serveBytes(() => [], { hang: true });
  const rules = { allow: new Set([`127.0.0.1:${silent.port}`]) };
  expect(await fetchGuarded(`http://127.0.0.1:${silent.port}/`, rules, { ...limits, timeoutMs: 50 }))
    .toMatchObject({ type: "failed", code: "ENDPOINT_FAILED" });
  await expect(fetchGuarded(`http://127.0.0.1:${canary.port}/`, { allow: new Set() }, limits)).rejects
    .toMatchObject({ code: "ENDPOINT_NOT_ALLOWED" });
  expect(canary.connections()).toBe(0);
});

const FLOODS: readonly (readonly [what: string, head: string, more: string, reason: string])[] = [
  ["informational answers", "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", "more than 16 informational answers"],
  ["lines before its answer", "", "\r\n", "it sent more than 262344 bytes in all"],
  ["a chunk's extension", CHUNKED + "1;", "a", "it sent more than 262344 bytes in all"],
];

for (const [what, head, more, reason] of FLOODS) {
  Deno.test(`an address that sends ${what} for ever is given up, and keeps nobody else waiting`, async () => {
    await using server = serveBytes(() => flood(head, more));
    const rules = { allow: new Set([`127.0.0.1:${server.port}`]) };
    expect(await fetchGuarded(`http://127.0.0.1:${server.port}/`, rules, limits))
      .toMatchObject({ type: "failed", code: "ENDPOINT_FAILED", message: expect.stringContaining(reason) });
  });
}

Deno.test("each command that fetches modules may have a sandbox do it", async () => {
  await using server = serveBytes(() => ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"]);
  const script = `import { fetchGuarded } from ${JSON.stringify(FETCH)};
    const limits = { timeoutMs: 60_000, bytesMax: 100, signal: new AbortController().signal };
    const rules = { allow: new Set(["127.0.0.1:${server.port}"]) };
    const outcome = await fetchGuarded("http://127.0.0.1:${server.port}/", rules, limits);
    await Deno.stdout.write(outcome.body ?? new TextEncoder().encode(JSON.stringify(outcome)));`;
  for (const task of ["start", "worker"] as const) expect(await runScriptAs(task, () => script)).toBe("hi");
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

function* flood(head: string, more: string): Iterable<string> {
  yield head;
  const piece = more.repeat(Math.ceil(65_536 / more.length));
  for (;;) yield piece;
}

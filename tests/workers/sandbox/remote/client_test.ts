import { expect } from "@std/expect";
import { gzipSync } from "node:zlib";
import { RunError } from "../../../../workers/common/outcome.ts";
import { RemoteClient } from "../../../../workers/sandbox/remote/client.ts";
import { freePort } from "../../../support/free_port.ts";
import { type RawServer, remoteTask, serveBytes, serveDecisions, serveJson, serveRaw, wave } from "./endpoints.ts";

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const CANDLE = "candle 0 (2024-01-01T00:00:00.000Z)";

interface Failed {
  readonly code: string;
  readonly message: string;
}

/** The outcome of asking an endpoint for its first candles. */
async function askFailing(url: string, { timeoutMs = 60_000, count = 3 } = {}): Promise<Failed> {
  const client = new RemoteClient(await remoteTask(url, { timeoutMs }));
  try {
    await client.ask({ from: 0, first: 0, until: count });
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { code: error.code, message: error.message };
  } finally {
    client.close();
  }
  throw new Error("The endpoint was believed");
}

async function askRaw(server: RawServer, options: { timeoutMs?: number; count?: number } = {}): Promise<Failed> {
  await using endpoint = server;
  const failed = await askFailing(`http://127.0.0.1:${endpoint.port}/`, options);
  expect(failed.message).toContain(`127.0.0.1:${endpoint.port}`);
  expect(failed.message).toContain(CANDLE);
  return failed;
}

function* forever(part: string | Uint8Array) {
  while (true) yield part;
}

Deno.test("headers that never come end in STRATEGY_TIMED_OUT", async () => {
  const { code, message } = await askRaw(serveBytes(() => [], { hang: true }), { timeoutMs: 150 });
  expect([code, message]).toEqual(["STRATEGY_TIMED_OUT", expect.stringContaining("did not answer within 150 ms")]);
});

Deno.test("headers that drip one at a time end in STRATEGY_TIMED_OUT", async () => {
  const server = serveRaw(async (connection) => {
    await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n"));
    const more = new TextEncoder().encode("x: y\r\n");
    for (let bytes = 0; bytes < 10_000; bytes += more.length) {
      await connection.write(more);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  expect((await askRaw(server, { timeoutMs: 200 })).code).toBe("STRATEGY_TIMED_OUT");
});

Deno.test("headers without end fail", async () => {
  const server = serveBytes(function* () {
    yield "HTTP/1.1 200 OK\r\n";
    yield* forever(`x: ${"y".repeat(1000)}\r\n`);
  });
  expect((await askRaw(server)).code).toBe("ENDPOINT_FAILED");
});

Deno.test("an answer may have informational ones before it, but not without end", async () => {
  const hint = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
  const body = '{"version":1,"decisions":[[]]}';
  await using polite = serveBytes(() => [hint.repeat(3), `${HEAD}content-length: ${body.length}\r\n\r\n${body}`]);
  const client = new RemoteClient(await remoteTask(`http://127.0.0.1:${polite.port}/`));
  expect((await client.ask({ from: 0, first: 0, until: 1 })).decisions).toEqual([[]]);
  client.close();
  const { code, message } = await askRaw(serveBytes(() => forever(hint)));
  expect([code, message]).toEqual(["ENDPOINT_FAILED", expect.stringContaining("more than 16 informational answers")]);
  expect(message).not.toContain("times");
});

Deno.test("a body that stops half-way ends in STRATEGY_TIMED_OUT, and the message names a missing length", async () => {
  for (
    const [answer, end] of [
      [`${HEAD}content-length: 100\r\n\r\n{"version":1`, /began but did not end within \d+ ms$/],
      [`${HEAD}\r\n{"version":1,"decisions":[[],[],[]]}`, /did not end within \d+ ms: it has no Content-Length$/],
    ] as const
  ) {
    let failed: Failed;
    // On a busy machine the answer may begin too late.
    for (let timeoutMs = 150;; timeoutMs *= 2) {
      failed = await askRaw(serveBytes(() => [answer], { hang: true }), { timeoutMs });
      if (!failed.message.includes("did not answer") || timeoutMs > 60_000) break;
    }
    expect(failed).toEqual({ code: "STRATEGY_TIMED_OUT", message: expect.stringMatching(end) });
  }
});

Deno.test("an endless body is cut off at 1 MiB and 256 bytes for each candle", async () => {
  const server = serveBytes(function* () {
    yield `${HEAD}transfer-encoding: chunked\r\n\r\n`;
    yield* forever(`4000\r\n${" ".repeat(0x4000)}\r\n`);
  });
  const { code, message } = await askRaw(server);
  expect([code, message]).toEqual([
    "ENDPOINT_FAILED",
    expect.stringContaining(`longer than ${1024 * 1024 + 3 * 256} bytes`),
  ]);
});

Deno.test("a body of 1 GB is refused by its length", async () => {
  // The body never comes, so waiting for it would end in a timeout.
  const server = serveBytes(() => [`${HEAD}content-length: 1000000000\r\n\r\n`], { hang: true });
  const { code, message } = await askRaw(server);
  expect([code, message]).toEqual(["ENDPOINT_FAILED", expect.stringContaining("longer than")]);
});

Deno.test("a gzip bomb is not decompressed to its end", async () => {
  // Its end is cut off, which would be another error.
  const bomb = gzipSync(new Uint8Array(300e6).fill(32)).subarray(0, -100);
  expect(bomb.length).toBeLessThan(1024 * 1024);
  const head = `${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
  const { code, message } = await askRaw(serveBytes(() => [head, bomb]));
  expect([code, message]).toEqual(["ENDPOINT_FAILED", expect.stringContaining("decompressed answer is longer than")]);
});

Deno.test("a body that is not valid gzip, or has another encoding, fails", async () => {
  const plain = `{"version":1,"decisions":[[],[],[]]}`;
  for (const [encoding, reason] of [["gzip", "not valid gzip"], ["br", 'the encoding "br"']]) {
    const head = `${HEAD}content-encoding: ${encoding}\r\ncontent-length: ${plain.length}\r\n\r\n`;
    const { code, message } = await askRaw(serveBytes(() => [head, plain]));
    expect([code, message]).toEqual(["ENDPOINT_FAILED", expect.stringContaining(reason!)]);
  }
});

Deno.test("an endpoint that answers 500 is asked four times, and the error has its message", async () => {
  await using endpoint = serveJson(() => Response.json({ error: "no such\nmodel" }, { status: 500 }));
  const { code, message } = await askFailing(endpoint.url);
  expect(code).toBe("ENDPOINT_FAILED");
  expect(message).toMatch(/candle 0 .*: it answered HTTP 500: no such model \(asked 4 times\)$/);
  expect(endpoint.requests.length).toBe(4);
});

Deno.test("an endpoint that answers 404 is asked once", async () => {
  await using endpoint = serveJson(() => new Response("<html>", { status: 404 }));
  const { code, message } = await askFailing(endpoint.url);
  expect([code, message]).toEqual(["ENDPOINT_FAILED", expect.stringMatching(/it answered HTTP 404$/)]);
  expect(endpoint.requests.length).toBe(1);
});

Deno.test("a request that fails at first is retried, and its later answer counts", async () => {
  let answers = 0;
  await using endpoint = serveJson(() =>
    ++answers < 3 ? new Response(null, { status: 503 }) : { version: 1, decisions: [[], [{ side: "buy" }]] }
  );
  const client = new RemoteClient(await remoteTask(endpoint.url));
  const { decisions } = await client.ask({ from: 0, first: 0, until: 2 });
  client.close();
  expect(decisions.map((actions) => actions.length)).toEqual([0, 1]);
  expect(answers).toBe(3);
});

Deno.test("after eight failures in a row no request is retried", async () => {
  await using endpoint = serveJson(() => new Response(null, { status: 500 }));
  const client = new RemoteClient(await remoteTask(endpoint.url));
  const asked = [0, 1, 2, 3].map((first) => client.ask({ from: first, first, until: first + 1 }));
  const ends = await Promise.allSettled(asked);
  client.close();
  expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "rejected"]);
  // Sixteen tries without the breaker: it stops each request at its next failure once eight have been counted.
  expect(endpoint.requests.length).toBeLessThanOrEqual(11);
});

Deno.test("a connection that closes in the middle of an answer, or at once, is retried and then fails", async () => {
  const answers = [
    "",
    "HTTP/1.1 200 OK\r\ncontent-le",
    `${HEAD}content-length: 100\r\n\r\n{"version"`,
    `${HEAD}transfer-encoding: chunked\r\n\r\n5\r\n{"ver`,
  ];
  await Promise.all(answers.map(async (answer) => {
    const server = serveBytes(() => [answer]);
    const { code } = await askRaw(server);
    expect([answer, code, server.connections()]).toEqual([answer, "ENDPOINT_FAILED", 4]);
  }));
});

Deno.test("a port where nothing listens fails", async () => {
  const { code, message } = await askFailing(`http://127.0.0.1:${freePort()}/`);
  expect([code, message]).toEqual(["ENDPOINT_FAILED", expect.stringContaining("nothing listens there (ECONNREFUSED)")]);
});

Deno.test("an answer that is not HTTP fails", async () => {
  const { code, message } = await askRaw(serveBytes(() => ["SSH-2.0-OpenSSH_9.6\r\n\r\n"]));
  expect([code, message]).toEqual(["ENDPOINT_FAILED", expect.stringContaining("does not speak HTTP")]);
});

Deno.test("HTTP/1.0 is understood, with and without a length", async () => {
  const answer = `{"version":1,"decisions":[[],[],[]]}`;
  for (const length of ["", `Content-Length: ${answer.length}\r\n`]) {
    await using server = serveBytes(() => [`HTTP/1.0 200 OK\r\n${length}\r\n${answer}`]);
    const client = new RemoteClient(await remoteTask(`http://127.0.0.1:${server.port}/`));
    expect((await client.ask({ from: 0, first: 0, until: 3 })).decisions).toEqual([[], [], []]);
    client.close();
  }
});

Deno.test("a redirect is a failure, and is not followed", async () => {
  await using canary = serveRaw(async () => {});
  for (const status of [301, 302, 303, 307, 308]) {
    const target = `http://127.0.0.1:${canary.port}/`;
    await using endpoint = serveJson(() => new Response(null, { status, headers: { location: target } }));
    const { code, message } = await askFailing(endpoint.url);
    expect([code, message]).toEqual(["ENDPOINT_FAILED", expect.stringContaining(`redirect (HTTP ${status})`)]);
  }
  expect(canary.connections()).toBe(0);
});

Deno.test("requests are compressed once the endpoint has announced gzip, and answers may be", async () => {
  const encodings: (string | null)[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (http) => {
    encodings.push(http.headers.get("content-encoding"));
    const packed = http.headers.get("content-encoding") === "gzip";
    const body = packed ? http.body!.pipeThrough(new DecompressionStream("gzip")) : http.body;
    const { asked } = await new Response(body).json();
    const answer = Uint8Array.from(gzipSync(JSON.stringify({ version: 1, decisions: new Array(asked).fill([]) })));
    return new Response(answer, { headers: { "content-encoding": "gzip", "accept-encoding": "gzip" } });
  });
  const task = await remoteTask(`http://127.0.0.1:${server.addr.port}/`, { candles: wave(500) });
  const client = new RemoteClient(task);
  for (let i = 0; i < 2; i++) expect((await client.ask({ from: 0, first: 0, until: 500 })).decisions.length).toBe(500);
  client.close();
  await server.shutdown();
  expect(encodings).toEqual([null, "gzip"]);
});

Deno.test("connections stay open, at most four at a time", async () => {
  const ports = new Set<number>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (http, info) => {
    ports.add(info.remoteAddr.port);
    const { asked } = await http.json();
    return Response.json({ version: 1, decisions: new Array(asked).fill([]) });
  });
  const client = new RemoteClient(await remoteTask(`http://127.0.0.1:${server.addr.port}/`));
  for (let i = 0; i < 20; i++) await client.ask({ from: 0, first: 0, until: 3 });
  expect(ports.size).toBe(1);
  await Promise.all(Array.from({ length: 20 }, () => client.ask({ from: 0, first: 0, until: 3 })));
  expect(ports.size).toBeLessThanOrEqual(4);
  client.close();
  await server.shutdown();
});

Deno.test("a request names its run and nothing about its user", async () => {
  await using endpoint = serveDecisions(() => []);
  const client = new RemoteClient(
    await remoteTask(endpoint.url, { parameters: { fast: 3 }, firstIndex: 2, lookbackCandles: 1 }),
  );
  await client.ask({ from: 2, first: 3, until: 5 });
  client.close();
  // Prices of the wave at candles 2, 3 and 4: 100 + 10 sin(i / 9), to a tenth.
  const prices = [102.2, 103.3, 104.3];
  expect(endpoint.requests).toEqual([{
    version: 1,
    run_id: "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
    mode: "batch",
    timeframe_ms: 60_000,
    initial_balance: 10_000,
    parameters: { fast: 3 },
    lookback_candles: 1,
    first_asked: 1,
    asked: 2,
    candles: {
      time: [1704067320000, 1704067380000, 1704067440000],
      open: prices,
      high: prices,
      low: prices,
      close: prices,
      volume: [1, 1, 1],
    },
  }]);
});

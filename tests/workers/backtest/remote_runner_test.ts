import { expect } from "@std/expect";
import { RemoteRunner } from "../../../workers/backtest/remote_runner.ts";
import { remoteTask, serveDecisions, serveJson, serveRaw, wave } from "../sandbox/remote/endpoints.ts";

/** Runs an endpoint as a worker does: the name is looked up, and the run has a process of its own. */
async function run(
  url: string,
  { allow = new URL(url).host, count = 50, timeoutMs = 60_000, deadlineMs = 120_000 } = {},
) {
  const progress: number[] = [];
  const task = { ...await remoteTask("http://1.1.1.1/", { candles: wave(count), timeoutMs }), endpoint: url };
  const outcome = await new RemoteRunner({ allow: new Set([allow]) }).run(task, {
    deadlineMs,
    memoryBytesMax: 512 * 2 ** 20,
    onProgress: ({ candlesDone }) => progress.push(candlesDone),
    signal: new AbortController().signal,
  });
  return { outcome, progress };
}

Deno.test("a remote run's process may call its endpoint and nothing else", async () => {
  await using endpoint = serveDecisions((_, at) => at % 10 === 0 ? [{ side: "buy", when: "flat" }] : []);
  const { outcome } = await run(endpoint.url);
  if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
  expect(outcome.result.equity.length).toBe(50);
  expect(outcome.integrity.determinism.status).toBe("passed");
});

Deno.test("an endpoint that is not allowed is not called", async () => {
  await using canary = serveRaw(async () => {});
  await expect(run(`http://127.0.0.1:${canary.port}/`, { allow: "127.0.0.1:1" })).rejects.toMatchObject({
    code: "ENDPOINT_NOT_ALLOWED",
    message: `Cannot call the endpoint 127.0.0.1:${canary.port}: it is loopback`,
  });
  expect(canary.connections()).toBe(0);
});

Deno.test("a run fails with the code and message of its endpoint's failure", async () => {
  await using wrong = serveJson(() => ({ version: 1, decisions: [["buy"]] }));
  expect((await run(wrong.url, { count: 1 })).outcome).toEqual({
    type: "failed",
    code: "INVALID_SIGNAL",
    message: `Cannot use the answer of ${
      new URL(wrong.url).host
    } for candle 0 (2024-01-01T00:00:00.000Z): /decisions/0/0 must be an object, not "buy"`,
    log: [],
    plots: [],
  });
  await using absent = serveJson(() => new Response(null, { status: 404 }));
  expect((await run(absent.url)).outcome).toMatchObject({ type: "failed", code: "ENDPOINT_FAILED" });
  await using silent = serveRaw(async (connection) => {
    const bytes = new Uint8Array(65_536);
    while (await connection.read(bytes) !== null);
  });
  const url = `http://127.0.0.1:${silent.port}/`;
  expect((await run(url, { timeoutMs: 100 })).outcome).toMatchObject({
    type: "failed",
    code: "STRATEGY_TIMED_OUT",
    message: expect.stringContaining("candle 0"),
  });
});

Deno.test("the deadline ends a run whose endpoint is slow", async () => {
  await using silent = serveRaw(async (connection) => {
    const bytes = new Uint8Array(65_536);
    while (await connection.read(bytes) !== null);
  });
  const { outcome } = await run(`http://127.0.0.1:${silent.port}/`, { timeoutMs: 30_000, deadlineMs: 1500 });
  const message = "Cannot finish within 1.5 s: 0 candles were done";
  expect(outcome).toEqual({ type: "failed", code: "STRATEGY_TIMED_OUT", message });
});

Deno.test("only its owner learns where a forbidden endpoint is", async () => {
  const runner = new RemoteRunner({ allow: new Set() });
  const limits = {
    deadlineMs: 120_000,
    memoryBytesMax: 2 ** 29,
    onProgress: () => {},
    signal: new AbortController().signal,
  };
  const task = { ...await remoteTask("http://1.1.1.1/"), endpoint: "http://10.1.2.3/" };
  for (
    const [isForeign, message] of [
      [false, "Cannot call the endpoint 10.1.2.3:80: it is private"],
      [true, "Cannot call the strategy's endpoint: only its owner may read why"],
    ] as const
  ) {
    await expect(runner.run({ ...task, isForeign }, limits)).rejects.toMatchObject({
      code: "ENDPOINT_NOT_ALLOWED",
      message,
    });
  }
});

Deno.test("an endpoint on which runs keep failing is not called for a while, and another endpoint of its host is", async () => {
  const paths: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { asked } = await request.json();
    const { pathname } = new URL(request.url);
    paths.push(pathname);
    if (pathname !== "/honest") return new Response(null, { status: 404 });
    return Response.json({ version: 1, decisions: new Array(asked).fill([]) });
  });
  const host = `127.0.0.1:${server.addr.port}`;
  const runner = new RemoteRunner({ allow: new Set([host]) });
  const limits = {
    deadlineMs: 120_000,
    memoryBytesMax: 2 ** 29,
    onProgress: () => {},
    signal: new AbortController().signal,
  };
  const runOn = async (path: string) =>
    await runner.run({ ...await remoteTask("http://1.1.1.1/"), endpoint: `http://${host}${path}` }, limits);
  // Otherwise anybody who knows the host could make its owner's runs fail.
  const failed = await Promise.all(Array.from({ length: 5 }, () => runOn("/made-up")));
  expect(failed.map((outcome) => outcome.type === "failed" && outcome.code)).toEqual(Array(5).fill("ENDPOINT_FAILED"));
  await expect(runOn("/made-up")).rejects.toMatchObject({
    code: "ENDPOINT_FAILED",
    message: expect.stringMatching(/too many runs in a row failed on it; try again in \d+ s$/),
  });
  expect(paths).toEqual(Array(5).fill("/made-up"));
  expect((await runOn("/honest")).type).toBe("completed");
  await server.shutdown();
});

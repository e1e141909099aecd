/** A service's first and last seconds: a database that is not there yet, and all that can keep it from ending. */
import { expect } from "@std/expect";
import { BACKTEST, TestClient } from "./support/client.ts";
import { administer, createTestDatabase } from "./support/database.ts";
import { freePort } from "./support/free_port.ts";
import { startPostgres } from "./support/postgres.ts";
import { listDescendants, untilGone } from "./support/processes.ts";
import { runTask, startProcess } from "./support/process.ts";
import { DatabaseProxy } from "./support/proxy.ts";
import { readUntil, until } from "./support/until.ts";
import { compileWat, strategyWat } from "./workers/sandbox/wasm/modules.ts";

// A first start would say that it builds the interpreter of Python.
const SECRETS = {
  PYTHON: "off",
  BETTER_AUTH_SECRET: "a secret of at least 32 characters",
  INGESTION_ADMIN_SECRET: "a secret for ingestion tests",
};
// It means to be gone within five seconds; what keeps it from that keeps it for ever.
const END_MS_MAX = 60_000;

/** Computes for ever from its hundred thousandth candle on; the dry run of a registration has fewer. */
const ENDLESS = strategyWat({
  before: "(global $seen (mut i32) (i32.const 0))",
  onCandle: `(global.set $seen (i32.add (global.get $seen) (i32.const 1)))
    (if (i32.gt_u (global.get $seen) (i32.const 100000)) (then (loop $again (br $again))))
    (i32.const 0)`,
  // Room for a year of minutes.
}).replace('"memory") 32', '"memory") 1000');

async function submit(client: TestClient, runtime: object): Promise<string> {
  const year = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-01-01", end_date: "2025-01-01" };
  const parameters = { timeframe: "1m", runtime };
  const backtest = { ...year, strategy: "mine", initial_balance: 1000, parameters };
  const answer = await client.send("POST", "/api/backtests", { backtest });
  expect([answer.status, answer.at("/error")]).toEqual([202, undefined]);
  return String(answer.at("/backtest/id"));
}

/** Opens a backtest's stream of events and reads it until candles are done; the stream stays open. */
async function untilComputing(client: TestClient, id: string) {
  const url = `${client.url}/api/backtests/${id}/events`;
  const response = await fetch(url, { headers: { cookie: client.cookie } });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  await readUntil(reader, /"progress":0\.\d*[1-9]/);
  return reader;
}

/** An import of which the first line is sent and the rest never comes. */
function beginImport(url: string): Promise<string> {
  const lines = "timestamp,open,high,low,close,volume\n2024-01-01,1,1,1,1,1\n";
  const body = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(lines)) });
  const path = "/api/admin/ingestion/import?symbol=SLOW&exchange=TEST&assetClass=crypto&timeframe=1d";
  const headers = { "content-type": "text/csv", "x-ingestion-admin-secret": SECRETS.INGESTION_ADMIN_SECRET };
  return fetch(`${url}${path}`, { method: "POST", headers, body }).then((answer) => answer.text(), () => "cut off");
}

/** A service with an endless module, an endpoint that is silent, streams and an import under way; ended by SIGTERM. */
async function endBusyService(before: (proxy: DatabaseProxy) => Promise<void>): Promise<unknown[]> {
  const { url, drop } = await createTestDatabase("service");
  const proxy = new DatabaseProxy(url);
  proxy.open();
  const over = Promise.withResolvers<Response>();
  const asked = Promise.withResolvers<void>();
  const silent = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    asked.resolve();
    return over.promise;
  });
  const host = `127.0.0.1:${silent.addr.port}`;
  const environment = { ...SECRETS, DATABASE_URL: proxy.url, WORKERS: "2", REMOTE_ENDPOINT_ALLOW: host };
  const process = await startProcess("serve", environment);
  const client = process.client();
  await client.signUp();
  const content_base64 = compileWat(ENDLESS).toBase64();
  const artifact = { file_name: "endless.wasm", content_base64, content_type: "application/wasm" };
  const endless = await submit(client, { type: "wasm", artifact });
  await submit(client, { type: "remote", endpoint: `http://${host}/`, timeoutMs: 60_000 });
  const [stream] = await Promise.all([untilComputing(client, endless), asked.promise]);
  const importing = beginImport(process.url);
  const children = listDescendants(process.pid);
  expect(children.length).toBeGreaterThanOrEqual(2);

  await before(proxy);
  const begun = performance.now();
  const { code } = await process.end("SIGTERM");
  expect(performance.now() - begun).toBeLessThan(END_MS_MAX);
  expect(code).toBe(0);
  expect(await importing).toMatch(/^cut off$|"error"/);
  await stream.cancel().catch(() => {});
  await untilGone(children);
  const left = await administer(
    url,
    `select status, retry_count, state, retry_limit from backtests join pgboss.job using (id) order by id`,
  );
  await proxy.shut();
  over.resolve(new Response());
  await silent.shutdown();
  await drop();
  return left;
}

Deno.test("a busy service that is told to end is gone soon and has handed its runs back", async () => {
  const left = await endBusyService(() => Promise.resolve());
  // Another worker takes them at once, and their attempts are not counted: the limit has risen with them.
  const back = { status: "queued", state: "retry", retry_count: 0, retry_limit: 10 };
  expect(left).toEqual([back, back]);
});

Deno.test("a busy service whose database is away is gone soon; its runs are found by their heartbeats", async () => {
  const left = await endBusyService((proxy) => proxy.shut());
  const lost = { status: "running", state: "active", retry_count: 0, retry_limit: 9 };
  expect(left).toEqual([lost, lost]);
});

Deno.test("a service may be started before its database, and says what it waits for", async () => {
  const { url, drop } = await createTestDatabase("service");
  const proxy = new DatabaseProxy(url);
  const PORT = String(freePort());
  const environment = { ...SECRETS, DATABASE_URL: proxy.url, PORT, LOG_LEVEL: "info" };
  const starting = [startProcess("serve", environment), startProcess("worker", { ...environment, LOG_LEVEL: "error" })];
  const early = new TestClient(`http://127.0.0.1:${PORT}`);
  const answer = await until(() => early.get("/api/health").catch(() => null));
  expect([answer.status, answer.at("/error/code")]).toEqual([503, "UNAVAILABLE"]);
  expect(answer.headers.get("retry-after")).toBe("1");
  proxy.open();
  const [api, worker] = await Promise.all(starting);
  expect((await api!.client().get("/api/health")).at("/checks/database")).toBe("ok");
  const said = [await api!.end("SIGTERM"), await worker!.end("SIGTERM")];
  expect(said.map(({ code }) => code)).toEqual([0, 0]);
  expect(said[0]!.stderr).toMatch(
    /"message":"Waiting for the database: .*"reason":"connect ECONNREFUSED 127\.0\.0\.1:\d+"/,
  );
  await proxy.shut();
  await drop();
});

Deno.test("a database that refuses the service ends the start with one line", async () => {
  const { url, drop } = await createTestDatabase();
  const missing = new URL(url);
  missing.pathname = "/no_such_database";
  const { code, stderr } = await runTask("start", [], { ...SECRETS, DATABASE_URL: missing.href, PORT: "0" });
  expect([code, stderr]).toEqual([
    1,
    'Cannot start: DATABASE_URL is refused: database "no_such_database" does not exist\n',
  ]);
  await drop();
});

Deno.test("an address of the database that cannot be used ends the start with one line and no password", async () => {
  const form = "its form is postgres://user:password@host:port/database";
  const wrong = {
    "postgres://ada:hunter2@127.0.0.1:99999/db": `it cannot be read: ${form}`,
    "postgres://ada:hunter2/more@127.0.0.1/db": `it cannot be read: ${form}`,
    "postgres://ada:hunter2%w@127.0.0.1/db": "it cannot be read: it has a % that begins no character: write %25 for it",
    "postgres://ada:hunter2@127.0.0.1/db?sslmode=maybe": "Cannot connect to PostgreSQL with sslmode=maybe: use disable",
    "postgres://ada:hunter2@127.0.0.1/db?sslrootcert=ca.pem": "sslrootcert encrypts nothing by itself: add sslmode=",
  };
  for (const [DATABASE_URL, reason] of Object.entries(wrong)) {
    const { code, stderr } = await runTask("worker", [], { ...SECRETS, DATABASE_URL });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^[^\n]+\n$/)]);
    expect(stderr).toContain(`Cannot start: DATABASE_URL is refused: ${reason}`);
    expect(stderr).not.toContain("hunter2");
  }
});

Deno.test("a folder of wheels that is not there ends the start with one line", async () => {
  const settings = { ...SECRETS, DATABASE_URL: "postgres://127.0.0.1/db", PYTHON: "on", PYTHON_WHEELS: "/no/wheels" };
  const { code, stderr } = await runTask("worker", [], settings);
  const lines = stderr.split("\n").filter((line) => line.startsWith("Cannot start: "));
  expect([code, lines]).toEqual([1, [expect.stringMatching(/^Cannot start: PYTHON_WHEELS cannot be used: No such /)]]);
  expect(stderr).not.toMatch(/^ +at |Uncaught/m);
});

Deno.test("a service that is told to end twice, as a terminal and npx tell it, ends once", async () => {
  const { url, drop } = await createTestDatabase("service");
  const process = await startProcess("serve", { ...SECRETS, DATABASE_URL: url, LOG_LEVEL: "info" });
  Deno.kill(process.pid, "SIGINT");
  const { code, stderr } = await process.end("SIGTERM");
  expect([code, stderr.match(/Shutting down/g)]).toEqual([0, ["Shutting down"]]);
  await drop();
});

Deno.test("a service that is told to end serves on for the lame-duck time with a health of 503", async () => {
  const { url, drop } = await createTestDatabase("service");
  const process = await startProcess("serve", { ...SECRETS, DATABASE_URL: url, LAME_DUCK_SECONDS: "10" });
  const client = process.client();
  await client.signUp();
  expect((await client.get("/api/health")).status).toBe(200);
  const ended = process.end("SIGTERM");
  const health = await until(async () => {
    const answer = await client.get("/api/health");
    return answer.status === 503 && answer;
  });
  expect(health.at("/error")).toMatchObject({
    code: "UNAVAILABLE",
    message: "Cannot answer: the service is shutting down",
  });
  const submitted = await client.send("POST", "/api/backtests", { backtest: BACKTEST });
  expect([submitted.status, submitted.headers.get("connection")]).toEqual([202, "close"]);
  expect(await ended).toMatchObject({ code: 0, stderr: "" });
  await expect(client.get("/api/health")).rejects.toThrow();
  await drop();
});

/** A database of its own on a server, and a user who may do what `grants` say. */
async function makeUser(serverUrl: string, grants: readonly string[]): Promise<string> {
  await administer(serverUrl, "create role hindcast login password 'hindcast'");
  await administer(serverUrl, "create database own");
  const own = new URL(serverUrl);
  own.pathname = "/own";
  for (const grant of grants) await administer(own.href, grant);
  own.username = own.password = "hindcast";
  return own.href;
}

Deno.test("a service that starts while the database has too few connections left waits for more", async () => {
  const server = await startPostgres();
  const DATABASE_URL = await makeUser(server.url, [
    "alter database own owner to hindcast",
    "alter schema public owner to hindcast",
  ]);
  // Each number has the start fail at another place.
  for (const connections of [0, 2, 4]) {
    await administer(server.url, `alter role hindcast connection limit ${connections}`);
    const PORT = String(freePort());
    const starting = startProcess("serve", { ...SECRETS, DATABASE_URL, PORT, WORKERS: "1" });
    const early = new TestClient(`http://127.0.0.1:${PORT}`);
    const answer = await until(() => early.get("/api/health").catch(() => null));
    expect([connections, [200, 503]]).toEqual([connections, expect.arrayContaining([answer.status])]);
    await administer(server.url, "alter role hindcast connection limit -1");
    const ended = await (await starting).end("SIGTERM");
    expect([connections, ended.code]).toEqual([connections, 0]);
  }
  await server.stop();
});

Deno.test("a database in which the service may make no tables ends the start with one line", async () => {
  const server = await startPostgres();
  const DATABASE_URL = await makeUser(server.url, []);
  for (const task of ["start", "worker"] as const) {
    const { code, stderr } = await runTask(task, [], { ...SECRETS, DATABASE_URL, PORT: "0" });
    expect([code, stderr]).toEqual([1, "Cannot start: DATABASE_URL is refused: permission denied for database own\n"]);
  }
  await server.stop();
});

Deno.test("long readings that a service cuts off when it is told to end are no errors", async () => {
  const { url, drop } = await createTestDatabase("service");
  const process = await startProcess("serve", { ...SECRETS, DATABASE_URL: url });
  const client = process.client();
  await client.signUp();
  const minutes = { ...BACKTEST, end_date: "2025-01-01", parameters: { timeframe: "1m", fast: 1, slow: 2 } };
  const made = await client.send("POST", "/api/backtests", { backtest: minutes });
  expect([made.status, made.at("/error")]).toEqual([202, undefined]);
  const id = String(made.at("/backtest/id"));
  expect((await client.finish(id)).at("/backtest/status")).toBe("completed");
  // Far more than are read within the seconds in which requests may end; a curve, rows of a list, and pages are read in a thread.
  const paths = ["equity?points=500", "trades", "orders?limit=200", "returns?period=daily"];
  const reading = Array.from({ length: 60 }, async (_, i) => {
    try {
      return (await client.get(`/api/backtests/${id}/${paths[i % paths.length]}`)).status;
    } catch {
      return "cut off";
    }
  });
  await until(async () => (await client.get("/api/session")).status === 200);
  const { code, stderr } = await process.end("SIGTERM");
  const ends = new Set(await Promise.all(reading));
  expect([code, stderr]).toEqual([0, ""]);
  // 200 before, 503 while it ends; what had begun ends without its end.
  expect(ends.has("cut off") || ends.has(503)).toBe(true);
  expect(ends.difference(new Set([200, 503, "cut off"]))).toEqual(new Set());
  await drop();
});

/** Endpoints on loopback for the tests of remote strategies: honest ones that speak the protocol, and raw ones that do not. */
import type { Candles } from "../../../../engine/candles.ts";
import { resolveExecution } from "../../../../engine/execution.ts";
import { guardEndpoint } from "../../../../workers/egress/guard.ts";
import type { RemoteTask } from "../../../../workers/common/remote_task.ts";
import { blockIn } from "../../../support/pages.ts";

export const MINUTE_MS = 60_000;
const START = Date.UTC(2024, 0, 1);

/** A request as an endpoint's author reads it from REMOTE.md. */
export interface Request {
  readonly version: number;
  readonly run_id: string;
  readonly mode: string;
  readonly timeframe_ms: number;
  readonly initial_balance: number;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly lookback_candles: number;
  readonly first_asked: number;
  readonly asked: number;
  readonly candles: Readonly<Record<"time" | "open" | "high" | "low" | "close" | "volume", readonly number[]>>;
  readonly account?: Readonly<Record<"cash" | "equity" | "quantity", number>> & { readonly entry_price: number | null };
  readonly open_trades?: readonly { readonly trade: number; readonly quantity: number; readonly entry_price: number }[];
  readonly fills?: readonly object[];
  readonly working_orders?: readonly string[];
}

/** An endpoint, its URL, and the requests so far. */
export interface Endpoint {
  readonly url: string;
  readonly requests: Request[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** Minutes from 2024-01-01 whose prices rise and fall by a tenth around 100. */
export function wave(count: number): Candles {
  const close = Float64Array.from({ length: count }, (_, i) => Math.round(1000 + 100 * Math.sin(i / 9)) / 10);
  return {
    time: Float64Array.from({ length: count }, (_, i) => START + i * MINUTE_MS),
    open: close,
    high: close,
    low: close,
    close,
    volume: new Float64Array(count).fill(1),
  };
}

/** A run of an allowed endpoint, on a wave of candles by default. */
export async function remoteTask(url: string, given: Partial<RemoteTask> = {}): Promise<RemoteTask> {
  return {
    runId: "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
    endpoint: await guardEndpoint(url, { allow: new Set([new URL(url).host]) }),
    mode: "batch",
    timeoutMs: 60_000,
    lookbackCandles: 0,
    minCandles: 1,
    parameters: {},
    candles: wave(10),
    firstIndex: 0,
    initialBalance: 10_000,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: MINUTE_MS,
    assetClass: "crypto",
    seed: 7,
    ...given,
  };
}

/** An endpoint that answers with `decide` for each asked candle; `at` is the candle's place in the request. */
export function serveDecisions(decide: (request: Request, at: number) => unknown): Endpoint {
  return serveJson((request) => {
    const start = request.candles.time.length - request.asked;
    return { version: 1, decisions: Array.from({ length: request.asked }, (_, n) => decide(request, start + n)) };
  });
}

/** An endpoint that answers each request with a value as JSON, or with a response, or with a promise of either. */
export function serveJson(answer: (request: Request) => unknown): Endpoint {
  const requests: Request[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (http) => {
    const request: Request = await http.json();
    requests.push(request);
    const answered = await answer(request);
    return answered instanceof Response ? answered : Response.json(answered);
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/decide`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Starts the endpoint in a folder by its README's command, but on a free port. The first thing that it prints is its URL. */
export async function startEndpoint(folder: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const readme = await Deno.readTextFile(`${folder}/README.md`);
  // This test's runtime replaces the download of the same one.
  const command = blockIn(readme, "sh", "9000").replace("9000", "0")
    .replace(`npx -y deno@${Deno.version.deno}`, Deno.execPath());
  const args = ["-c", `exec ${command}`];
  // Python would write its cache beside the source.
  const env = { PYTHONDONTWRITEBYTECODE: "1" };
  const child = new Deno.Command("sh", { args, cwd: folder, env, stdout: "piped", stdin: "null" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  return {
    url: value.trim(),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      while (!(await reader.read()).done);
      await child.status;
    },
  };
}

/** A listener on loopback that counts its connections. A test handles each of them. */
export interface RawServer {
  readonly port: number;
  readonly connections: () => number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Serves connections until they end or the test does. */
export function serveRaw(talk: (connection: Deno.Conn) => Promise<void>, hostname = "127.0.0.1", port = 0): RawServer {
  const listener = Deno.listen({ hostname, port });
  const open = new Set<Deno.Conn>();
  const talks = new Set<Promise<void>>();
  let connections = 0;
  const serve = async (connection: Deno.Conn) => {
    open.add(connection);
    try {
      await talk(connection);
    } catch {
      // The other side closed the connection.
    }
    open.delete(connection);
    try {
      connection.close();
    } catch {
      // It was closed when the test ended.
    }
  };
  const accepting = (async () => {
    for await (const connection of listener) {
      connections++;
      const talk = serve(connection);
      talks.add(talk);
      talk.finally(() => talks.delete(talk));
    }
  })();
  return {
    port: listener.addr.transport === "tcp" ? listener.addr.port : 0,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of open) connection.close();
      await accepting;
      await Promise.all(talks);
    },
  };
}

/** A raw server that reads a request and writes bytes. With `hang` it keeps the connection open. */
export function serveBytes(parts: () => Iterable<string | Uint8Array>, { hang = false } = {}): RawServer {
  return serveRaw(async (connection) => {
    await connection.read(new Uint8Array(65_536));
    for (const part of parts()) await writeAll(connection, part);
    // Read until the other side closes the connection.
    const rest = new Uint8Array(65_536);
    while (hang && await connection.read(rest) !== null);
  });
}

async function writeAll(connection: Deno.Conn, part: string | Uint8Array): Promise<void> {
  let bytes = typeof part === "string" ? new TextEncoder().encode(part) : part;
  while (bytes.length > 0) bytes = bytes.subarray(await connection.write(bytes));
}

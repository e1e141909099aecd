import { z } from "zod";
import { TestClient } from "../support/client.ts";
import { INGESTION_SECRET } from "../support/service.ts";
import type { Seen } from "./answers.ts";
import { type Caller, CALLERS, type RawRequest } from "./requests.ts";
import { type Known, NOBODYS_ID } from "./values.ts";

/** Requests that take longer than this hang; `wait` may take 30 s. */
const ANSWER_MS_MAX = 60_000;

// The HTTP server refuses a request with a longer head than 64 KiB before the service sees it.
const TARGET_CHARACTERS_MAX = 40_000;

/** Serves the outside world: providers without candles, a strategy that never acts, a module. */
export interface Outside {
  readonly origin: string;
  /** The settings with which the service calls no other host. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const EXAMPLE = new URL("../../strategies/examples/c/sma_cross.wasm", import.meta.url);

/** Stands in for every host that the service would call. */
export function startOutside(): Outside {
  const module = Deno.readFileSync(EXAMPLE);
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/module.wasm") return new Response(module);
    if (pathname === "/strategy") return Response.json(await decide(request));
    if (pathname.startsWith("/api/v3/")) return Response.json([]);
    if (pathname.startsWith("/v2/aggs/")) return Response.json({ status: "OK", resultsCount: 0, results: [] });
    return new Response("", { status: 404 });
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const environment = {
    BINANCE_BASE_URL: origin,
    DUKASCOPY_BASE_URL: origin,
    MASSIVE_BASE_URL: origin,
    MASSIVE_API_KEY: "a key for fuzzing",
    MASSIVE_REQUESTS_PER_MINUTE: "60000",
    PROVIDER_A: "crypto=binance,forex=dukascopy,stock=massive",
    REMOTE_ENDPOINT_ALLOW: `127.0.0.1:${server.addr.port}`,
    INGESTION_ADMIN_SECRET: INGESTION_SECRET,
    // Some requests reach a quota, but most succeed.
    USER_BACKTESTS_MAX: "300",
    RUN_SECONDS_MAX: "5",
    ADDRESS_SIGN_INS_PER_MINUTE: "100000",
    ADDRESS_REQUESTS_PER_MINUTE: "1000000",
    USER_REQUESTS_PER_MINUTE: "1000000",
  };
  return { origin, environment, close: () => server.shutdown() };
}

async function decide(request: Request): Promise<unknown> {
  const asked = z.object({ asked: z.int() }).safeParse(await request.json().catch(() => null));
  const count = asked.success ? asked.data.asked : 0;
  return { version: 1, decisions: Array.from({ length: count }, () => []) };
}

/** A running service with its users, and the ids from its answers. */
export class World {
  readonly #url: string;
  readonly #outside: string;
  readonly #module = Deno.readFileSync(EXAMPLE);
  readonly #cookies = new Map<Caller, string>();
  readonly #ids = new Map<Caller, string[]>();
  readonly #slugs = new Map<Caller, string[]>();
  readonly #cursors: string[] = [];

  private constructor(url: string, outside: string) {
    this.#url = url;
    this.#outside = outside;
  }

  /** Signs the callers up; the ingestion secret makes one an admin. */
  static async open(url: string, outside: string): Promise<World> {
    const world = new World(url, outside);
    for (const caller of CALLERS) {
      world.#ids.set(caller, []);
      world.#slugs.set(caller, []);
      if (caller === "nobody") continue;
      const client = new TestClient(url);
      await client.signUp();
      world.#cookies.set(caller, client.cookie);
    }
    return world;
  }

  known(caller: Caller): Known {
    const others = CALLERS.filter((other) => other !== caller).flatMap((other) => this.#ids.get(other) ?? []);
    return {
      ids: this.#ids.get(caller) ?? [],
      otherIds: others.length === 0 ? [NOBODYS_ID] : others,
      slugs: this.#slugs.get(caller) ?? [],
      cursors: this.#cursors,
      outside: this.#outside,
      module: this.#module,
      mark: markOf(caller),
    };
  }

  /** The words that a caller must not read. */
  foreignMarks(caller: Caller): readonly string[] {
    return CALLERS.filter((other) => other !== caller).map(markOf);
  }

  /** Sends a request as a caller. @throws When there is no answer in time. */
  async send(caller: Caller, { method, path, query, headers, body }: RawRequest): Promise<Seen> {
    const all = new Headers();
    const cookie = this.#cookies.get(caller);
    if (cookie !== undefined) all.set("cookie", cookie);
    if (caller === "admin") all.set("x-ingestion-admin-secret", INGESTION_SECRET);
    // HTTP cannot carry these, so the service never sees them.
    for (const [name, value] of headers) {
      if (/^[\t\x20-\x7e]*$/.test(value)) all.set(name, value);
    }
    const hasBody = body !== null && method !== "GET" && method !== "HEAD";
    const target = `${path}${query.length === 0 ? "" : `?${query.join("&")}`}`;
    const response = await fetch(`${this.#url}${target.slice(0, TARGET_CHARACTERS_MAX)}`, {
      method,
      headers: all,
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      // Bytes, because text would add its own content type.
      ...(hasBody ? { body: typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body) } : {}),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Remembers ids for later requests. */
  learn(caller: Caller, { status, text }: Seen): void {
    if (status >= 300 || text.length > 1_000_000) return;
    const cursor = /"next_cursor":"([^"]+)"/.exec(text)?.[1];
    if (cursor !== undefined) keep(this.#cursors, cursor);
    const slug = /"strategy":\{"slug":"([^"]+)"/.exec(text)?.[1];
    if (slug !== undefined) keep(this.#slugs.get(caller) ?? [], slug);
    const id = /"(?:backtest|run|instrument)":\{"id":"([^"]+)"/.exec(text)?.[1];
    if (id !== undefined) keep(this.#ids.get(caller) ?? [], id);
  }
}

function markOf(caller: Caller): string {
  return `mark-of-${caller}`;
}

function keep(list: string[], value: string): void {
  if (list.includes(value)) return;
  list.push(value);
  if (list.length > 50) list.shift();
}

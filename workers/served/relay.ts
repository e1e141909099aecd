import type { Db } from "../../db/client.ts";
import {
  deleteRequest,
  DELIVERIES_MAX,
  type EndpointKey,
  insertRequest,
  readRequest,
  type ServedState,
} from "../../db/served_requests.ts";
import type { PinnedEndpoint } from "../common/remote_task.ts";
import type { Changes } from "../jobs/changes.ts";

const PROGRAM_WAIT_MS = 30_000;
// Between looks without a notification: a program that is lost says nothing.
const LOOK_MS = 1000;
// For what the database takes, beyond what a program may.
const MORE_MS = 10_000;
// Above what a request of the longest lookback has.
const REQUEST_BYTES_MAX = 16 * 1024 * 1024;

/** A run that programs of a user decide. */
interface ServedRun extends EndpointKey {
  /** Milliseconds that a program has for a request. */
  readonly timeoutMs: number;
}

/** An address that one run may call. */
interface OpenRelay {
  readonly endpoint: PinnedEndpoint;
  /** Milliseconds until a call is answered, at most. */
  readonly timeoutMs: number;
  close(): Promise<void>;
}

/**
 * Answers the calls of runs in place of endpoints that cannot be called: it stores a request, from where the author's program fetches
 * it, and waits for the answer. So a run's process speaks the protocol of strategies/REMOTE.md in either case.
 */
export class Relay {
  readonly #db: Db;
  readonly #changes: Changes;
  readonly #waitMs: number;

  /** @param options.waitMs How long a call waits for a program to ask for its request. */
  constructor(db: Db, changes: Changes, { waitMs = PROGRAM_WAIT_MS }: { readonly waitMs?: number } = {}) {
    this.#db = db;
    this.#changes = changes;
    this.#waitMs = waitMs;
  }

  /** Opens a local address for one run. Its path is a secret of that run's process. */
  open(run: ServedRun): OpenRelay {
    const path = `/${crypto.randomUUID()}`;
    const closing = new AbortController();
    const keptMs = DELIVERIES_MAX * (this.#waitMs + run.timeoutMs) + MORE_MS;
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname !== path || request.method !== "POST") return new Response(null, { status: 404 });
      if (Number(request.headers.get("content-length") ?? Infinity) > REQUEST_BYTES_MAX) {
        return refuse(`it would get more than ${REQUEST_BYTES_MAX} bytes`);
      }
      const body = await request.text();
      return await this.#relay({ ...run, body, keptMs }, AbortSignal.any([closing.signal, request.signal]));
    });
    const { hostname, port } = server.addr;
    const host = `the program that serves ${run.name}`;
    return {
      endpoint: {
        url: `http://${hostname}:${port}${path}`,
        host,
        hostname,
        address: hostname,
        port,
        secure: false,
        isServed: true,
      },
      timeoutMs: keptMs,
      close: async () => {
        closing.abort();
        await server.shutdown();
      },
    };
  }

  async #relay(
    request: ServedRun & { readonly body: string; readonly keptMs: number },
    signal: AbortSignal,
  ): Promise<Response> {
    const id = await insertRequest(this.#db, request);
    let changed = Promise.withResolvers<void>();
    const wake = () => changed.resolve();
    const unsubscribe = await this.#changes.subscribe(`answer ${id}`, wake);
    signal.addEventListener("abort", wake);
    try {
      await this.#offer(request);
      while (!signal.aborted) {
        changed = Promise.withResolvers();
        const state = await readRequest(this.#db, id);
        const outcome = state === null ? refuse("its user was removed") : judge(state, request.timeoutMs, this.#waitMs);
        if (outcome === "offer again") await this.#offer(request);
        else if (outcome !== "wait") return outcome;
        const timer = setTimeout(wake, LOOK_MS);
        await changed.promise;
        clearTimeout(timer);
      }
      return refuse("the run has ended");
    } finally {
      signal.removeEventListener("abort", wake);
      unsubscribe();
      await deleteRequest(this.#db, id);
    }
  }

  /** Wakes the programs that wait for a request. */
  async #offer({ ownerId, name }: EndpointKey): Promise<void> {
    await this.#changes.notify(this.#db, [`served ${ownerId} ${name}`]);
  }
}

function judge({ deliveries, waitedMs, takenMs, answer }: ServedState, timeoutMs: number, waitMs: number) {
  if (answer !== null) {
    return new Response(answer.json, {
      status: answer.isRefusal ? 422 : 200,
      headers: { "content-type": "application/json" },
    });
  }
  if (takenMs === null) {
    if (waitedMs < waitMs) return "wait";
    return refuse(
      `it has not asked for work within ${
        waitMs / 1000
      } s: start it with hindcast strategy serve, or hindcast.serve in Python`,
    );
  }
  if (takenMs < timeoutMs) return "wait";
  // The service may be what was lost: a program that has the answer still brings it, and another may come.
  if (takenMs < timeoutMs + waitMs) return deliveries < DELIVERIES_MAX ? "offer again" : "wait";
  const times = deliveries === 1 ? "once" : "twice";
  return refuse(
    `it was sent the candles ${times}, and answered neither within ${timeoutMs} ms nor ${waitMs / 1000} s later`,
  );
}

/** A refusal that a run's process does not repeat. */
function refuse(error: string): Response {
  return Response.json({ error }, { status: 422 });
}

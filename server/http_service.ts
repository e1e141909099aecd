import { getLogger } from "@logtape/logtape";
import type { Handler } from "./app.ts";
import { AppError, errorBody, errorStatus } from "../routers/common/errors.ts";
import { type Config, unusable } from "./config.ts";
import { type RestartingServer, serveWithRestarts } from "./restarting_server.ts";

const RETRY_AFTER_SECONDS = 1;

// Requests under way get this long to end by themselves.
const REQUESTS_MS = 2_500;
const SERVING_PATH = "/api/health/serving";
const LIVE_PATH = "/api/health/live";
/** Load balancers and those who watch ask these. */
const LEAVING_PATHS = ["/api/health", SERVING_PATH, "/api/health/ready"];

const log = getLogger(["hindcast", "http"]);

/** The service without its socket. */
export interface Service extends Handler {
  /** Stops the work beside the requests, so that other processes can take it over. */
  stopWork(): Promise<void>;
  close(): Promise<void>;
}

/** The service on its socket. */
export interface RunningService {
  readonly url: string;
  /**
   * Serves on for the lame-duck time so that load balancers turn away: the health is 503, and each answer ends its connection, so that
   * a proxy keeps none.
   */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** Facts that a service learns while it opens. */
export interface Opening {
  /** The port that was taken. */
  readonly port: number;
  /** Aborted when the service begins to close. */
  readonly closing: AbortSignal;
  /** From the first call on, all requests are answered 503 until the service is open, those that wait already included. */
  onWait(): void;
}

/**
 * Opens a service behind a socket. The port is taken before anything else is touched; early requests wait for the service.
 *
 * @throws ConfigError when it cannot listen on HOST and PORT, and the errors of `open`.
 */
export async function serveHttp(
  { host, port, lameDuckSeconds }: Pick<Config, "host" | "port" | "lameDuckSeconds">,
  open: (opening: Opening) => Promise<Service>,
): Promise<RunningService> {
  let service: Service | null = null;
  let isLeaving = false;
  const opened = Promise.withResolvers<Service>();
  const waiting = Promise.withResolvers<null>();
  const server = listen({ host, port }, async (request, info) => {
    const ready = service ?? await Promise.race([opened.promise, waiting.promise]);
    if (ready === null) return answerWaiting(request);
    return isLeaving ? await answerLeaving(request, ready, info) : await ready.fetch(request, info);
  });
  try {
    const closing = new AbortController();
    const onWait = () => waiting.resolve(null);
    const ready = await open({ port: server.addr.port, closing: closing.signal, onWait });
    service = ready;
    opened.resolve(ready);
    const leave = async () => {
      isLeaving = true;
      await new Promise((resume) => setTimeout(resume, lameDuckSeconds * 1000));
    };
    const close = async () => {
      // Event streams would keep the server from ending.
      closing.abort();
      // Side by side: slow requests must not delay the hand-over of runs.
      await Promise.all([endRequests(server), ready.stopWork()]);
      await ready.close();
    };
    return { url: `http://${urlHost(host)}:${server.addr.port}`, leave, close };
  } catch (error) {
    opened.promise.catch(() => {});
    opened.reject(error);
    await server.shutdown();
    throw error;
  }
}

/**
 * Opens a service with its first request, for `deno serve` and Deno Deploy, which have their own socket. A start that failed is tried
 * again by the next request.
 */
export function openOnFirstRequest(open: () => Promise<Handler>): (
  request: Request,
  info: Deno.ServeHandlerInfo,
) => Promise<Response> {
  let opened: Promise<Handler> | undefined;
  return async (request, info) => {
    opened ??= open().catch((error) => {
      opened = undefined;
      throw error;
    });
    return await (await opened).fetch(request, info);
  };
}

/** A proxy must not give up the processes whose answer is the reason. */
function answerWaiting(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (pathname === SERVING_PATH || pathname === LIVE_PATH) return Response.json({ status: "ok" });
  return unavailableResponse("the service is waiting for its database");
}

async function answerLeaving(request: Request, service: Service, info: Deno.ServeHandlerInfo): Promise<Response> {
  const { pathname } = new URL(request.url);
  const isHealth = LEAVING_PATHS.includes(pathname);
  const answer = isHealth ? unavailableResponse("the service is shutting down") : await service.fetch(request, info);
  const headers = new Headers(answer.headers);
  headers.set("connection", "close");
  return new Response(answer.body, { status: answer.status, headers });
}

function listen(
  { host, port }: { readonly host: string; readonly port: number },
  handler: Deno.ServeHandler<Deno.NetAddr>,
): RestartingServer {
  try {
    return serveWithRestarts({ hostname: host, port, onListen: () => {}, onError: logBrokenAnswer }, handler);
  } catch (error) {
    throw unusable(`HOST and PORT, ${urlHost(host)}:${port},`, error);
  }
}

function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

async function endRequests(server: RestartingServer): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    log.warn("Cutting off the requests that did not end within {ms} ms", { ms: REQUESTS_MS });
    late.resolve();
  }, REQUESTS_MS);
  await Promise.race([server.shutdown(), late.promise]);
  clearTimeout(timer);
}

// The client of an answer that has begun sees only a connection that ends.
function logBrokenAnswer(error: unknown): Response {
  log.warn("An answer broke off: {error}", { error });
  return new Response(null, { status: 500 });
}

/** The answer of a service that is not open, or about to close. */
function unavailableResponse(reason: string): Response {
  const error = new AppError("UNAVAILABLE", `Cannot answer: ${reason}`);
  return Response.json(errorBody(error, crypto.randomUUID()), {
    status: errorStatus(error),
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}

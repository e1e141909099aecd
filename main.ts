/**
 * The composition root: configuration, database, queue, workers, HTTP, and nothing else.
 *
 * `main.ts serve` listens on HOST and PORT, `main.ts worker` runs backtests for a service elsewhere; `deno serve main.ts` and Deno
 * Deploy use the default export.
 */
import { getLogger } from "@logtape/logtape";
import { type DatabaseHandle, openPglite, openPostgres } from "./db/client.ts";
import { type DataDirectory, DataDirectoryInUse, holdDataDirectory } from "./db/embedded/data_directory.ts";
import { isDatabaseRefusal } from "./db/faults.ts";
import { DiskFullError, explainFullDisk, guardDiskSpace } from "./db/embedded/disk_space.ts";
import { SchemaMismatch } from "./db/migrate.ts";
import { grantAdmin } from "./db/users.ts";
import { createFeeds } from "./market/feeds/registry.ts";
import { ReadThrough } from "./market/on_demand/read_through.ts";
import { archiveSample } from "./market/ingestion/archive_sample.ts";
import { createApp, type Handler } from "./server/app.ts";
import { createAuth } from "./server/auth.ts";
import { describeStart } from "./server/banner.ts";
import { readCommandLine } from "./server/command_line.ts";
import { type Config, ConfigError, readConfig } from "./server/config.ts";
import { serveControl } from "./server/control_socket.ts";
import { endWithin } from "./server/exit_guard.ts";
import { type LastingServer, serveLasting } from "./server/lasting_server.ts";
import { configureLog } from "./server/log.ts";
import { answerNotYet } from "./server/not_yet.ts";
import { hideWhatClientsSent } from "./server/middleware/trace_privacy.ts";
import { retryOnDatabaseFault } from "./workers/retry.ts";
import { openQueue, type QueueOptions } from "./workers/queue.ts";

// How long a shutdown may take before what is left is dropped, so that the process is gone within five seconds; a dropped run is
// repeated by another worker.
const SHUTDOWN_MS = 4_500;
// And how long the last export of traces and metrics after that.
const EXIT_MS = 300;
// How long requests that are under way may take to end by themselves.
const REQUESTS_MS = 2_500;

// Before everything is open, a signal ends the process at once.
const UNTIL_KILLED = new AbortController().signal;

const log = getLogger(["hindcast"]);

// Under `deno serve` the first request is there before anything else is done.
hideWhatClientsSent();

/** The service without the socket in front of it. */
interface Service extends Handler {
  /** Ends the work beside the requests. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

/** The service on a socket. */
export interface RunningService {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves on HOST and PORT. The port is taken before anything else is touched; requests wait until all is open.
 *
 * @throws ConfigError, DataDirectoryInUse or what the database says.
 */
export async function listen(config: Config): Promise<RunningService> {
  const opened = Promise.withResolvers<Service>();
  let isWaiting = false;
  const { host, port } = config;
  const server = await blame(`HOST and PORT, ${urlHost(host)}:${port},`, () =>
    serveLasting(
      { hostname: host, port, onListen: () => {}, onError: logBreak },
      async (request, info) => isWaiting ? answerNotYet() : (await opened.promise).fetch(request, info),
    ));
  try {
    const closing = new AbortController();
    const service = await openService(config, server.addr.port, closing, () => isWaiting = true);
    isWaiting = false;
    opened.resolve(service);
    const close = async () => {
      // Event streams would keep the server from ending.
      closing.abort();
      // Slow requests must not keep the runs from being handed back.
      await Promise.all([endRequests(server), service.rest()]);
      await service.close();
    };
    return { url: `http://${urlHost(host)}:${server.addr.port}`, close };
  } catch (error) {
    opened.promise.catch(() => {});
    opened.reject(error);
    await server.shutdown();
    throw error;
  }
}

/** A host as it stands in a URL. */
function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Makes an attempt that can only fail because of what is configured. @throws ConfigError naming it, with the system's reason. */
async function blame<T>(what: string, attempt: () => T | Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof DataDirectoryInUse) throw error;
    throw new ConfigError(`Cannot start: ${what} cannot be used: ${error.message}`, { cause: error });
  }
}

async function endRequests(server: LastingServer): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    log.warn("Requests are cut off that did not end within {ms} ms", { ms: REQUESTS_MS });
    late.resolve();
  }, REQUESTS_MS);
  await Promise.race([server.shutdown(), late.promise]);
  clearTimeout(timer);
}

// What fails when an answer has begun reaches its client as a connection that ends, and nobody else.
function logBreak(error: unknown): Response {
  log.warn("An answer has broken off: {error}", { error });
  return new Response(null, { status: 500 });
}

/** @param onWait Called while the database is away. */
async function openService(
  config: Config,
  port: number,
  closing = new AbortController(),
  onWait?: () => void,
): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const { handle, directory } = await openDatabase(config, opened, onWait);
  const readThrough = new ReadThrough(handle.db, createFeeds(config.feeds));
  opened.defer(() => readThrough.close());
  const queue = await retryOnDatabaseFault(UNTIL_KILLED, () => openQueue(queueOptions(config, handle, readThrough)));
  opened.defer(() => queue.close());
  if (config.workers > 0) await queue.work(config.workers);
  await archiveSample(handle.db);
  if (handle.connection.kind === "pglite") opened.defer(guardDiskSpace(handle.connection.pglite, config.dataDir));
  if (directory !== null) {
    const { controlSocketPath: path } = directory;
    const control = await blame("DATA_DIR", () => serveControl(path, (email) => grantAdmin(handle.db, email)));
    opened.defer(() => control.close());
  }
  const own = config.baseUrl === undefined
    ? [`http://127.0.0.1:${port}`, `http://localhost:${port}`]
    : [config.baseUrl];
  const origins = [...own, ...config.trustedOrigins];
  const secret = config.authSecret ?? directory?.authSecret;
  if (secret === undefined) throw new ConfigError("Cannot start: BETTER_AUTH_SECRET must be set");
  const baseUrl = own[0]!;
  const app = createApp({
    db: handle.db,
    queue,
    readThrough,
    closing: closing.signal,
    startedAt: performance.now(),
    auth: createAuth(handle.db, { secret, baseUrl, origins }),
    ingestionSecret: config.ingestionSecret,
    importBytesMax: config.importBytesMax,
    quotas: config.quotas,
    runCandlesMax: config.runCandlesMax,
    remoteAllow: new Set(config.remoteEndpointAllow),
    trustedProxies: config.trustedProxies,
    rateLimits: config.rateLimits,
    origins,
    secret,
    https: baseUrl.startsWith("https:"),
  });
  const parts = opened.move();
  return {
    fetch: (request, info) => app.fetch(request, info),
    rest: () => queue.rest(),
    close: () => parts.disposeAsync(),
  };
}

function queueOptions(
  config: Config,
  handle: DatabaseHandle,
  readThrough: ReadThrough,
): QueueOptions {
  const { workers, runSecondsMax, runCandlesMax, resultDaysMax, remoteEndpointAllow } = config;
  const limits = { runSecondsMax, runCandlesMax, resultDaysMax, resultBytesMax: config.quotas.resultBytesMax };
  return { handle, isWorker: workers > 0, ...limits, readThrough, remoteAllow: remoteEndpointAllow };
}

/** PostgreSQL where DATABASE_URL says so, else the embedded database in a data directory that is ours alone. */
async function openDatabase(
  { databaseUrl, dataDir }: Config,
  opened: AsyncDisposableStack,
  onWait?: () => void,
): Promise<{ handle: DatabaseHandle; directory: DataDirectory | null }> {
  if (databaseUrl !== undefined) {
    // Which of the two is started first does not matter.
    const handle = await retryOnDatabaseFault(UNTIL_KILLED, () => openPostgres(databaseUrl), onWait);
    opened.defer(() => handle.close());
    return { handle, directory: null };
  }
  const directory = await blame("DATA_DIR", () => holdDataDirectory(dataDir));
  opened.defer(() => directory.release());
  const handle = await explainFullDisk(directory.path, () => openPglite(directory.databasePath));
  opened.defer(() => handle.close());
  return { handle, directory };
}

/** Runs backtests, without HTTP, for services on the same PostgreSQL. */
export async function openWorker(config: Config): Promise<{ close(): Promise<void> }> {
  if (config.databaseUrl === undefined) {
    throw new ConfigError(
      "Cannot start: DATABASE_URL must be set for a worker: the embedded database serves one process",
    );
  }
  if (config.workers === 0) throw new ConfigError("Cannot start: WORKERS must be at least 1 for a worker, not 0");
  await using opened = new AsyncDisposableStack();
  const { handle } = await openDatabase(config, opened);
  const readThrough = new ReadThrough(handle.db, createFeeds(config.feeds));
  opened.defer(() => readThrough.close());
  const queue = await retryOnDatabaseFault(UNTIL_KILLED, () => openQueue(queueOptions(config, handle, readThrough)));
  opened.defer(() => queue.close());
  await queue.work(config.workers);
  const parts = opened.move();
  return { close: () => parts.disposeAsync() };
}

/** What `main.ts serve` and `main.ts worker` do: run until SIGTERM or SIGINT, then end within SHUTDOWN_MS. */
async function run(command: "serve" | "worker"): Promise<void> {
  const config = await configure();
  const starting = command === "serve" ? listen(config) : openWorker(config);
  let isOpen = false;
  const stop = async (signal: string) => {
    log.info("Shutting down on {signal}", { signal });
    endWithin(SHUTDOWN_MS + EXIT_MS);
    setTimeout(() => Deno.exit(0), SHUTDOWN_MS);
    if (isOpen) await (await starting).close();
    Deno.exit(0);
  };
  // A terminal tells us, and so may what started us: who comes second must not end what the first is still closing.
  let stopping: Promise<void> | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    Deno.addSignalListener(signal, () => void (stopping ??= stop(signal)));
  }
  const running = await starting;
  isOpen = true;
  const text = "url" in running
    ? describeStart(config, String(running.url))
    : "Hindcast runs backtests for DATABASE_URL.\n";
  await Deno.stdout.write(new TextEncoder().encode(text));
}

let hosted: Promise<Service> | undefined;
let configured: Promise<Config> | undefined;

/** For `deno serve` and Deno Deploy, which bring their own socket: the service opens with the first request for which it can. */
async function fetchHosted(request: Request, info: Deno.ServeHandlerInfo): Promise<Response> {
  hosted ??= openHosted().catch((error) => {
    hosted = undefined;
    throw error;
  });
  return await (await hosted).fetch(request, info);
}

const isCommand = import.meta.main && Deno.args.length > 0;

// As a command the module exports nothing, or the runtime would take it for one that was meant for `deno serve`.
export default isCommand ? {} : { fetch: fetchHosted };

async function openHosted(): Promise<Service> {
  configured ??= configure();
  const config = await configured;
  return await openService(config, config.port);
}

async function configure(): Promise<Config> {
  const config = readConfig();
  await configureLog(config.logLevel);
  return config;
}

async function end(code: number, text: string): Promise<never> {
  await (code === 0 ? Deno.stdout : Deno.stderr).write(new TextEncoder().encode(`${text}\n`));
  Deno.exit(code);
}

if (isCommand) {
  const asked = readCommandLine(Deno.args);
  try {
    await (typeof asked === "string" ? run(asked) : end(asked.code, asked.text));
  } catch (error) {
    const known = [ConfigError, DataDirectoryInUse, DiskFullError, SchemaMismatch].some((it) => error instanceof it);
    const text = isDatabaseRefusal(error)
      ? `Cannot start: DATABASE_URL is refused: ${error.message}`
      : error instanceof Error
      ? (known ? error.message : error.stack ?? error.message)
      : String(error);
    await end(1, text);
  }
}

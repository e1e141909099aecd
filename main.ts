/**
 * The composition root: configuration, database, queue, workers, HTTP, and nothing else.
 *
 * `main.ts serve` listens on HOST and PORT, `main.ts worker` runs backtests for services elsewhere. `deno serve main.ts` and Deno
 * Deploy use the default export.
 */
import manifest from "./deno.json" with { type: "json" };
import { type DatabaseHandle, openPglite, openPostgres } from "./db/client.ts";
import {
  type DataDirectory,
  DataDirectoryExposed,
  DataDirectoryInUse,
  holdDataDirectory,
} from "./db/embedded/data_directory.ts";
import { DiskFullError, explainFullDisk, guardDiskSpace } from "./db/embedded/disk_space.ts";
import { findDatabaseRefusal } from "./db/faults.ts";
import { openObjectStore, WrongBucket } from "./db/open_object_store.ts";
import { ownSchemaVersion, SchemaMismatch } from "./db/schema_version.ts";
import { insertInvitation } from "./db/invitations.ts";
import { moveBytes, placeSchema } from "./db/move_bytes.ts";
import { changeQuotasOf, grantAdmin } from "./db/users.ts";
import { createFeeds } from "./market/feeds/registry.ts";
import { archiveSample } from "./market/ingestion/archive_sample.ts";
import { ReadThrough } from "./market/on_demand/read_through.ts";
import { UserTurns } from "./routers/common/user_turns.ts";
import type { Handler } from "./server/app.ts";
import { describeStart } from "./server/banner.ts";
import { readCommandLine } from "./server/command_line.ts";
import { type Config, ConfigError, readConfig, unusable } from "./server/config.ts";
import { readBucket } from "./server/object_settings.ts";
import { readOpenIdClient } from "./server/setting_rules.ts";
import { serveControl } from "./server/control_socket.ts";
import {
  type Opening,
  openOnFirstRequest,
  type RunningService,
  serveHttp,
  type Service,
} from "./server/http_service.ts";
import { configureLog } from "./server/log.ts";
import { type MeasureRequest, openMailer, openMetrics, requireWheels } from "./server/optional_parts.ts";
import type { Mail, Mailer } from "./server/mail/mailer.ts";
import { requireRuntime } from "./server/runtime.ts";
import { findCrossSiteOrigins } from "./server/middleware/cross_site_cookies.ts";
import { closeOnSignal, runUntilSignal } from "./server/run_until_signal.ts";
import { redactSpans } from "./server/tracing.ts";
import { type OpenQueue, openQueue } from "./workers/queue.ts";
import { retryOnDatabaseFault } from "./workers/common/retry.ts";
import { RowsWorker } from "./workers/rows/rows_worker.ts";
import { fileURLToPath } from "node:url";

// Until the service is open, a signal ends the process at once.
const NEVER = new AbortController().signal;

// Under `deno serve` the first request may arrive before anything else is set up.
redactSpans();

/** Serves on HOST and PORT. @throws ConfigError, DataDirectoryInUse, DiskFullError, SchemaMismatch or the database's error. */
export async function listen(config: Config): Promise<RunningService> {
  return await serveHttp(config, (opening) => openService(config, opening));
}

/** Runs backtests, without HTTP, for services on the same PostgreSQL. @throws ConfigError or the database's error. */
export async function openWorker(config: Config): Promise<{ close(): Promise<void> }> {
  if (config.databaseUrl === undefined) {
    throw new ConfigError(
      "Cannot start: DATABASE_URL must be set for a worker: the embedded database serves one process",
    );
  }
  if (config.workers === 0) throw new ConfigError("Cannot start: WORKERS must be at least 1 for a worker, not 0");
  await using opened = new AsyncDisposableStack();
  await openMetrics(config, manifest.version, opened);
  const { handle } = await openDatabase(config, opened);
  await openWork(config, handle, opened);
  const parts = opened.move();
  return { close: () => parts.disposeAsync() };
}

async function openService(config: Config, { port, closing, onWait }: Opening): Promise<Service> {
  await using opened = new AsyncDisposableStack();
  const measureRequest = await openMetrics(config, manifest.version, opened);
  // Loading them takes as long as opening the database does, and goes on meanwhile.
  let modules: ReturnType<typeof loadApp> | undefined;
  const whileOpening = () => void (modules = loadApp()).catch(() => {});
  const { handle, directory } = await openDatabase(config, opened, { onWait, whileOpening });
  const { queue, readThrough } = await openWork(config, handle, opened, onWait);
  await retryOnDatabaseFault(NEVER, () => archiveSample(handle.db), onWait);
  if (handle.connection.kind === "pglite") opened.defer(guardDiskSpace(handle.connection.pool, config.dataDir));
  if (directory !== null) await openControlSocket(directory, handle, opened);
  const rowsWorker = new RowsWorker();
  opened.defer(() => rowsWorker.close());
  const app = composeApp(config, await (modules ?? loadApp()), {
    port,
    closing,
    handle,
    directory,
    queue,
    readThrough,
    rowsWorker,
    measureRequest,
    mailer: await openMailer(config, opened),
  });
  const parts = opened.move();
  return {
    fetch: (request, info) => app.fetch(request, info),
    stopWork: () => queue.rest(),
    close: () => parts.disposeAsync(),
  };
}

interface Parts {
  readonly port: number;
  readonly closing: AbortSignal;
  readonly handle: DatabaseHandle;
  readonly directory: DataDirectory | null;
  readonly queue: OpenQueue;
  readonly readThrough: ReadThrough;
  readonly rowsWorker: RowsWorker;
  readonly measureRequest: MeasureRequest | undefined;
  readonly mailer: Mailer | undefined;
}

/** A worker needs neither, and loading them takes a third of its start. */
async function loadApp() {
  const [{ createApp }, { createAuth }] = await Promise.all([
    import("./server/app.ts"),
    import("./server/requests/auth.ts"),
  ]);
  return { createApp, createAuth };
}

function composeApp(
  config: Config,
  { createApp, createAuth }: Awaited<ReturnType<typeof loadApp>>,
  { port, closing, handle, directory, queue, readThrough, rowsWorker, measureRequest, mailer }: Parts,
): Handler {
  const secret = config.authSecret ?? directory?.authSecret;
  if (secret === undefined) throw new ConfigError("Cannot start: BETTER_AUTH_SECRET must be set");
  const baseUrl = config.baseUrl ?? `http://127.0.0.1:${port}`;
  const own = config.baseUrl === undefined ? [baseUrl, `http://localhost:${port}`] : [baseUrl];
  const origins = [...own, ...config.trustedOrigins];
  const mustVerify = config.mailVerification === "on";
  const mails = mailer && { send: (mail: Mail) => mailer.send(mail), baseUrl, mustVerify };
  const openId = readOpenIdClient(config);
  return createApp({
    db: handle.db,
    queue,
    readThrough,
    closing,
    startedAt: performance.now(),
    auth: createAuth(handle.db, { secret, oldSecret: config.oldAuthSecret, baseUrl, origins, mails, openId }),
    ingestionSecret: config.ingestionSecret,
    importBytesMax: config.importBytesMax,
    quotaDefaults: config.quotas,
    runCandlesMax: config.runCandlesMax,
    remoteAllow: new Set(config.remoteEndpointAllow),
    signUp: config.signUp,
    sendMail: mailer === undefined ? null : (mail) => mailer.send(mail),
    openIdHost: openId === undefined ? null : new URL(openId.issuer).host,
    agentSignIn: { issuer: baseUrl, resources: own.map((origin) => `${origin}/mcp`), key: secret },
    userTurns: new UserTurns(),
    rowsWorker,
    trustedProxies: config.trustedProxies,
    rateLimits: config.rateLimits,
    stallMs: config.streamStallSeconds * 1000,
    origins,
    secret,
    oldSecret: config.oldAuthSecret,
    allowsImpersonation: config.impersonation === "on",
    https: baseUrl.startsWith("https:"),
    crossSiteOrigins: findCrossSiteOrigins(own, config.trustedOrigins),
    consoleFolder: fileURLToPath(new URL("web/dist", import.meta.url)),
    measureRequest,
  });
}

/** Opens PostgreSQL where DATABASE_URL is set, else the embedded database in a data directory that this process alone uses. */
async function openDatabase(
  { databaseUrl, databaseConnectionsMax, dataDir }: Config,
  opened: AsyncDisposableStack,
  { onWait, whileOpening }: { onWait?(): void; whileOpening?(): void } = {},
): Promise<{ handle: DatabaseHandle; directory: DataDirectory | null }> {
  if (databaseUrl !== undefined) {
    whileOpening?.();
    // The service may start before its database.
    const handle = await retryOnDatabaseFault(NEVER, () => openPostgres(databaseUrl, databaseConnectionsMax), onWait);
    opened.defer(() => handle.close());
    return { handle, directory: null };
  }
  const directory = await holdDataDirectory(dataDir).catch((error) => {
    throw error instanceof DataDirectoryInUse || error instanceof DataDirectoryExposed
      ? error
      : unusable("DATA_DIR", error);
  });
  opened.defer(() => directory.release());
  const handle = await explainFullDisk(directory.path, () => openPglite(directory.databasePath, whileOpening));
  opened.defer(() => handle.close());
  return { handle, directory };
}

async function openWork(config: Config, handle: DatabaseHandle, opened: AsyncDisposableStack, onWait?: () => void) {
  const { workers, archiveBytesMax, runSecondsMax, runCandlesMax, resultDaysMax, quotas: { resultBytesMax } } = config;
  await retryOnDatabaseFault(NEVER, () => openObjectStore(handle.db, readBucket(config.objects)), onWait);
  const readThrough = new ReadThrough(handle.db, createFeeds(config.feeds), { archiveBytesMax });
  opened.defer(() => readThrough.close());
  const queue = await retryOnDatabaseFault(NEVER, () =>
    openQueue({
      handle,
      isWorker: workers > 0,
      keepsSpares: true,
      runSecondsMax,
      runCandlesMax,
      resultDaysMax,
      resultBytesMax,
      readThrough,
      remoteAllow: config.remoteEndpointAllow,
      scripts: { typescript: config.scripts, python: config.python, wheels: config.pythonWheels },
    }), onWait);
  opened.defer(() => queue.close());
  if (workers > 0) await queue.work(workers, onWait);
  return { queue, readThrough };
}

async function openControlSocket(
  { controlSocketPath }: DataDirectory,
  handle: DatabaseHandle,
  opened: AsyncDisposableStack,
): Promise<void> {
  const control = await serveControl(controlSocketPath, {
    grantAdmin: (email) => grantAdmin(handle.db, email),
    changeQuotas: (email, changes) => changeQuotasOf(handle.db, email, changes),
    invite: async (email) => (await insertInvitation(handle.db, { email })).token,
    moveBytes: (after) => moveBytes(handle.db, placeSchema.parse(after)),
  }).catch((error) => {
    throw unusable("DATA_DIR", error);
  });
  opened.defer(() => control.close());
}

async function configure(): Promise<Config> {
  requireRuntime();
  const config = readConfig();
  await Promise.all([requireWheels(config), configureLog(config.logLevel)]);
  return config;
}

let configured: Promise<Config> | undefined;

async function openHosted(): Promise<Service> {
  const config = await (configured ??= configure());
  const closing = new AbortController();
  const service = await openService(config, { port: config.port, closing: closing.signal, onWait: () => {} });
  // The platform ends its processes without a signal.
  if (!config.isDeployed) {
    closeOnSignal({
      close: async () => {
        closing.abort();
        await service.stopWork();
        await service.close();
      },
    });
  }
  return service;
}

async function run(command: "serve" | "worker"): Promise<void> {
  const config = await configure();
  if (command === "serve") await runUntilSignal(listen(config), ({ url }) => describeStart(config, url));
  else await runUntilSignal(openWorker(config), () => "Hindcast runs backtests for DATABASE_URL.\n");
}

/** One line for what the user can correct; the stack for everything else. */
function describeFailure(error: unknown): string {
  const refusal = findDatabaseRefusal(error);
  if (refusal !== undefined) return `Cannot start: DATABASE_URL is refused: ${refusal.message}`;
  if (!(error instanceof Error)) return String(error);
  const known = [ConfigError, DataDirectoryExposed, DataDirectoryInUse, DiskFullError, SchemaMismatch, WrongBucket]
    .some((it) => error instanceof it);
  return known ? error.message : error.stack ?? error.message;
}

async function exit(code: number, text: string): Promise<never> {
  await (code === 0 ? Deno.stdout : Deno.stderr).write(new TextEncoder().encode(`${text}\n`));
  Deno.exit(code);
}

const isCommand = import.meta.main && Deno.args.length > 0;

// As a command the module exports no handler: the runtime would serve it as `deno serve` does.
export default isCommand ? {} : { fetch: openOnFirstRequest(openHosted) };

if (isCommand) {
  const command = readCommandLine(Deno.args, `hindcast ${manifest.version}, schema ${ownSchemaVersion()}`);
  try {
    if (typeof command === "string") await run(command);
    else await exit(command.code, command.text);
  } catch (error) {
    await exit(1, describeFailure(error));
  }
}

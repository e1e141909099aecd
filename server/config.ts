import { z } from "zod";
import { FEED_VARIABLES } from "../market/feeds/registry.ts";
import { DATA_DIR_DEFAULT } from "./data_dir.ts";
import { SIGN_UP } from "../routers/common/sign_up.ts";
import { LOG_LEVELS } from "./log.ts";
import {
  hostPort,
  issuerUrl,
  listenAddress,
  pathWithoutComma,
  proxyList,
  smtpUrl,
  splitList,
  webOrigin,
  wholeNumber,
} from "./setting_values.ts";
import { objectSettings } from "./object_settings.ts";
import { findFault } from "./setting_rules.ts";
import { listSettings, readSettings, setting, SettingError, type SettingRow } from "./settings.ts";

/** The settings that the feeds' own files declare, by variable. */
const feedSettings = Object.fromEntries(
  Object.entries(FEED_VARIABLES).map(([variable, { schema, description, ...more }]) => [
    variable,
    setting(variable, schema, description, more),
  ]),
);

/** Every setting of the service: `deno task generate` writes the list of variables and the table in docs/operating.md from them. */
const configSchema = z.object({
  host: setting("HOST", z.string().default("127.0.0.1"), "Address to listen on."),
  port: setting("PORT", wholeNumber(0, 65_535).default(8000), "Port to listen on; 0 takes a free one."),
  metricsAddress: setting(
    "METRICS_ADDRESS",
    listenAddress.optional(),
    "`host:port` on which this process serves its metrics for Prometheus, at `/metrics`, to whoever reaches it.",
  ),
  baseUrl: setting(
    "BASE_URL",
    webOrigin.optional(),
    "Where browsers reach the service; over https, cookies are Secure.",
    { unset: "`http://127.0.0.1:PORT`" },
  ),
  trustedOrigins: setting(
    "TRUSTED_ORIGINS",
    z.string().default("").transform(splitList).pipe(z.array(webOrigin)),
    "Comma-separated origins of frontends that may send cookies.",
  ),
  dataDir: setting(
    "DATA_DIR",
    pathWithoutComma.default(DATA_DIR_DEFAULT),
    "Folder of the embedded database, its lock and the generated secret; the path must have no comma.",
  ),
  databaseUrl: setting(
    "DATABASE_URL",
    z.string().regex(/^postgres(ql)?:\/\/[^/]/, {
      error: "must be of the form postgres://user:password@host:port/database",
    }).optional(),
    "`postgres://user:password@host:port/database` instead of the embedded database.",
    { isSecret: true },
  ),
  objects: objectSettings,
  authSecret: setting(
    "BETTER_AUTH_SECRET",
    z.string().min(32, { error: "must be at least 32 characters long" }).optional(),
    "Signs session cookies; required with `DATABASE_URL`.",
    { unset: "generated, kept in `DATA_DIR`", isSecret: true },
  ),
  oldAuthSecret: setting(
    "BETTER_AUTH_SECRET_OLD",
    z.string().min(32, { error: "must be at least 32 characters long" }).optional(),
    "The secret of before: sessions that it signed go on. Unset it after seven days.",
    { isSecret: true },
  ),
  signUp: setting(
    "SIGN_UP",
    z.enum(SIGN_UP, { error: `must be one of ${SIGN_UP.join(", ")}` }).default("open"),
    "`open`; `invite`: with an invitation of an admin's; or `closed`: only admins make accounts.",
  ),
  smtpUrl: setting(
    "SMTP_URL",
    smtpUrl.optional(),
    "`smtp://user:password@host:587`, or `smtps:` with TLS from the start: the server through which mails go.",
    { isSecret: true },
  ),
  mailFrom: setting(
    "MAIL_FROM",
    z.string().max(320).regex(/@/, { error: "must have an e-mail address" }).optional(),
    "Whom mails are from, as `Hindcast <hindcast@example.com>`; required with `SMTP_URL`, and only with it.",
  ),
  mailVerification: setting(
    "MAIL_VERIFICATION",
    z.enum(["on", "off"], { error: "must be on or off" }).default("off"),
    "`on` lets an account sign in only once its e-mail address is verified by a mail.",
  ),
  openIdIssuer: setting(
    "OIDC_ISSUER",
    issuerUrl.optional(),
    "Address of a provider of identities (OpenID Connect) that signs users in; whoever it lets in has an account.",
  ),
  openIdClientId: setting("OIDC_CLIENT_ID", z.string().optional(), "The service's name at the provider."),
  openIdClientSecret: setting("OIDC_CLIENT_SECRET", z.string().optional(), "The service's secret at the provider.", {
    isSecret: true,
  }),
  impersonation: setting(
    "IMPERSONATION",
    z.enum(["on", "off"], { error: "must be on or off" }).default("off"),
    "`on` lets admins act as other users (`/api/auth/admin/impersonate-user`); each time is a line of the audit.",
  ),
  ingestionSecret: setting(
    "INGESTION_ADMIN_SECRET",
    z.string().min(16, { error: "must be at least 16 characters long" }).optional(),
    "Lets `x-ingestion-admin-secret` act as an admin on `/api/admin/ingestion`.",
    { isSecret: true },
  ),
  importBytesMax: setting(
    "IMPORT_BYTES_MAX",
    wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1024 ** 3),
    "Largest file that an import accepts, packed and unpacked.",
  ),
  archiveBytesMax: setting(
    "ARCHIVE_BYTES_MAX",
    wholeNumber(1, Number.MAX_SAFE_INTEGER).default(10 * 1024 ** 3),
    "Bytes of the candles that requests fetched; above it the least used instruments go, unless an admin configured them.",
  ),
  runSecondsMax: setting("RUN_SECONDS_MAX", wholeNumber(1, 86_400).default(600), "Longest time of a backtest."),
  runCandlesMax: setting(
    "RUN_CANDLES_MAX",
    wholeNumber(1, 1e9).default(5_000_000),
    "Most candles in the range of a backtest, and most finer candles that it replays; more are answered 400.",
  ),
  resultDaysMax: setting(
    "RESULT_DAYS_MAX",
    wholeNumber(1, 36_500).optional(),
    "Days after which ended backtests and their results are deleted; unset, they are kept for ever.",
  ),
  workers: setting(
    "WORKERS",
    wholeNumber(0, 256).optional().transform((count) => count ?? navigator.hardwareConcurrency),
    "Backtests that run at once in this process; 0 runs none. A user's code gets 512 MiB, and 64 bytes a candle.",
    { unset: "the number of cores; 0 on Deno Deploy" },
  ),
  databaseConnectionsMax: setting(
    "DATABASE_CONNECTIONS_MAX",
    wholeNumber(1, 1000).default(5),
    "Connections to PostgreSQL for the records of this process, 3 by default on Deno Deploy; its jobs have up to 4 more.",
  ),
  trustedProxies: setting(
    "TRUSTED_PROXIES",
    proxyList,
    "Comma-separated addresses or networks of proxies whose `X-Forwarded-For` names the client.",
  ),
  rateLimits: z.object({
    addressRequestsMax: setting(
      "ADDRESS_REQUESTS_PER_MINUTE",
      wholeNumber(1, 1e9).default(120_000),
      "Requests from one address; more are answered 429. Each process counts for itself.",
    ),
    userRequestsMax: setting(
      "USER_REQUESTS_PER_MINUTE",
      wholeNumber(1, 1e9).default(60_000),
      "Requests of one signed-in user.",
    ),
    addressSignInsMax: setting(
      "ADDRESS_SIGN_INS_PER_MINUTE",
      wholeNumber(1, 1e9).default(300),
      "Attempts from one address to sign in, to sign up, or to use a password otherwise.",
    ),
    accountFailuresMax: setting(
      "ACCOUNT_FAILURES_PER_MINUTE",
      wholeNumber(1, 1e9).default(10),
      "Failed attempts to sign in to one account: of all strangers together, and of each known device or address.",
    ),
  }),
  streamStallSeconds: setting(
    "STREAM_STALL_SECONDS",
    wholeNumber(1, 3600).default(30),
    "Seconds after which a client is given up that reads nothing of a long answer, or sends no more of a body.",
  ),
  lameDuckSeconds: setting(
    "LAME_DUCK_SECONDS",
    wholeNumber(0, 60).default(1),
    "Seconds after SIGTERM in which `/api/health/serving` and `/api/health` are 503 and everything else is still served, so that load balancers turn away.",
  ),
  quotas: z.object({
    backtestsMax: setting(
      "USER_BACKTESTS_MAX",
      wholeNumber(1, 1_000_000).default(10_000),
      "Queued and running backtests of one user; more are answered 429.",
    ),
    optimizationsMax: setting(
      "USER_OPTIMIZATIONS_MAX",
      wholeNumber(1, 1_000_000).default(20),
      "Queued and running optimizations of one user; more are answered 429.",
    ),
    resultBytesMax: setting(
      "USER_RESULT_BYTES_MAX",
      wholeNumber(1, Number.MAX_SAFE_INTEGER).default(10 * 1024 ** 3),
      "Bytes of one user's backtests, optimizations, simulations and stress tests with their results; above it, none is accepted or started.",
    ),
    versionsMax: setting(
      "USER_VERSIONS_MAX",
      wholeNumber(1, 1_000_000).default(1000),
      "Versions of registered strategies that one user may keep.",
    ),
    registryBytesMax: setting(
      "USER_REGISTRY_BYTES_MAX",
      wholeNumber(1, Number.MAX_SAFE_INTEGER).default(256 * 1024 ** 2),
      "Bytes of one user's modules, those that backtests brought themselves included.",
    ),
  }),
  feeds: z.object(feedSettings),
  remoteEndpointAllow: setting(
    "REMOTE_ENDPOINT_ALLOW",
    z.string().default("").transform(splitList).pipe(z.array(hostPort)),
    "Comma-separated `host:port` pairs that remote strategies may call though they are not public, for development.",
  ),
  scripts: setting(
    "SCRIPTS",
    z.enum(["on", "nojit", "off"], { error: "must be on, nojit or off" }).default("on"),
    "`on`; `nojit` runs scripts without V8's compilers, many times slower; `off` refuses to register and to run them.",
  ),
  python: setting(
    "PYTHON",
    z.enum(["on", "off"], { error: "must be on or off" }).default("on"),
    "`on` builds the interpreter of Python scripts in the background (`deno task python:build`); `off` refuses to register and to run them.",
  ),
  pythonWheels: setting(
    "PYTHON_WHEELS",
    pathWithoutComma.default(""),
    "Folder of wheels of Python alone that Python scripts may import. A changed one is built in anew at a start.",
  ),
  logLevel: setting(
    "LOG_LEVEL",
    z.string().transform((level) => level === "warn" ? "warning" : level)
      .pipe(z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(", ")}` })).default("info"),
    "`trace`, `debug`, `info`, `warning` (or `warn`) or `error`; one JSON object a line on standard error.",
  ),
});

// Deno Deploy sets it; a user does not.
const DEPLOYMENT_VARIABLE = "DENO_DEPLOYMENT_ID";

/** The service's configuration, read from the environment and checked. */
export type Config = Settings & {
  /** The service runs on Deno Deploy. */
  readonly isDeployed: boolean;
};

type Settings = Readonly<z.output<typeof configSchema>>;

/** The rows of the table of settings. */
export const SETTINGS: readonly SettingRow[] = listSettings(configSchema);

/** Every environment variable that the service reads. */
export const VARIABLES: readonly string[] = [...SETTINGS.map(({ variable }) => variable), DEPLOYMENT_VARIABLE];

/** A wrong environment; the message is one line that names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** A failure that only a setting can cause, as a ConfigError that names the setting and the system's reason. */
export function unusable(setting: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return new ConfigError(`Cannot start: ${setting} cannot be used: ${error.message}`, { cause: error });
}

/**
 * Reads the service's configuration.
 *
 * @param environment Variables by name; an empty value counts as unset.
 * @throws ConfigError with the variable and its rule, and with its value unless that is a secret.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = readEnvironment()): Config {
  const isDeployed = Boolean(environment[DEPLOYMENT_VARIABLE]);
  const config = tryRead(isDeployed ? withHostedDefaults(environment) : environment);
  const fault = findFault(config, isDeployed);
  if (fault !== undefined) throw new ConfigError(`Cannot start: ${fault}`);
  return Object.freeze({ ...config, isDeployed });
}

/** Deno Deploy starts no processes, and may run many copies of the service at once. */
function withHostedDefaults(environment: Readonly<Record<string, string | undefined>>) {
  const { WORKERS: workers, DATABASE_CONNECTIONS_MAX: connections } = environment;
  return { ...environment, WORKERS: workers || "0", DATABASE_CONNECTIONS_MAX: connections || "3" };
}

function tryRead(environment: Readonly<Record<string, string | undefined>>): Settings {
  try {
    return readSettings(configSchema, environment);
  } catch (error) {
    throw error instanceof SettingError ? new ConfigError(`Cannot start: ${error.message}`) : error;
  }
}

function readEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(VARIABLES.map((name) => [name, Deno.env.get(name)]));
}

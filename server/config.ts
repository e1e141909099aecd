import { parseTrustedProxies } from "./client_address.ts";
import { LOG_LEVELS } from "./log.ts";
import type { RateLimits } from "./middleware/rate_limit.ts";
import { z } from "zod";

const wholeNumber = (least: number, most: number) =>
  z.string().regex(/^\d{1,15}$/, { error: `must be a whole number` }).transform(Number)
    .pipe(
      z.number().int().min(least, { error: `must be at least ${least}` }).max(most, {
        error: `must be at most ${most}`,
      }),
    );

const webOrigin = z.string().refine((text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text.replace(/\/$/, "");
}, { error: "must be an origin such as https://app.example.com, without a path" }).transform((text) =>
  text.replace(/\/$/, "")
);

const list = (text: string) => text.split(",").map((part) => part.trim()).filter((part) => part !== "");

const webAddress = z.string().refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ""), {
  error: "must be an address such as https://data.example.com/path",
}).transform((text) => text.replace(/\/+$/, ""));

const ASSET_CLASS_FEEDS = z.partialRecord(
  z.enum(["crypto", "forex", "stock"]),
  z.enum(["binance", "dukascopy", "massive"]),
);

const feedBinding = (standard: string) =>
  z.string().default(standard).transform((text, context) => {
    const binding = ASSET_CLASS_FEEDS.safeParse(Object.fromEntries(list(text).map((pair) => pair.split("="))));
    if (binding.success) return binding.data;
    context.addIssue("must be of the form crypto=binance,forex=dukascopy,stock=massive");
    return z.NEVER;
  });

// Every variable, its default and its bounds. The table in README.md is held to this object by a test.
export const environmentSchema = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: wholeNumber(0, 65_535).default(8000),
  BASE_URL: webOrigin.optional(),
  TRUSTED_ORIGINS: z.string().default("").transform(list).pipe(z.array(webOrigin)),
  // The runtime's permissions are lists with commas between, and nothing else can stand there for one.
  DATA_DIR: z.string().regex(/^[^,]*$/, { error: "must be a path without a comma" }).default(".data"),
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\/[^/]/, {
    error: "must be of the form postgres://user:password@host:port/database",
  }).optional(),
  BETTER_AUTH_SECRET: z.string().min(32, { error: "must be at least 32 characters long" }).optional(),
  INGESTION_ADMIN_SECRET: z.string().min(16, { error: "must be at least 16 characters long" }).optional(),
  IMPORT_BYTES_MAX: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1024 ** 3),
  RUN_SECONDS_MAX: wholeNumber(1, 86_400).default(600),
  RUN_CANDLES_MAX: wholeNumber(1, 1e9).default(5_000_000),
  RESULT_DAYS_MAX: wholeNumber(1, 36_500).optional(),
  WORKERS: wholeNumber(0, 256).optional(),
  TRUSTED_PROXIES: z.string().default("").transform(list).superRefine((entries, context) => {
    try {
      parseTrustedProxies(entries);
    } catch {
      context.addIssue("must be addresses or networks such as 10.0.0.0/8, comma-separated");
    }
  }),
  ADDRESS_REQUESTS_PER_MINUTE: wholeNumber(1, 1e9).default(120_000),
  USER_REQUESTS_PER_MINUTE: wholeNumber(1, 1e9).default(60_000),
  ADDRESS_SIGN_INS_PER_MINUTE: wholeNumber(1, 1e9).default(300),
  ACCOUNT_FAILURES_PER_MINUTE: wholeNumber(1, 1e9).default(10),
  USER_BACKTESTS_MAX: wholeNumber(1, 1_000_000).default(10_000),
  USER_RESULT_BYTES_MAX: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(10 * 1024 ** 3),
  USER_VERSIONS_MAX: wholeNumber(1, 1_000_000).default(1000),
  USER_REGISTRY_BYTES_MAX: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(256 * 1024 ** 2),
  PROVIDER_A: feedBinding("crypto=binance,forex=dukascopy"),
  PROVIDER_B: feedBinding("crypto=massive,forex=massive,stock=massive"),
  MASSIVE_API_KEY: z.string().optional(),
  MASSIVE_REQUESTS_PER_MINUTE: wholeNumber(1, 60_000).default(5),
  BINANCE_BASE_URL: webAddress.optional(),
  DUKASCOPY_BASE_URL: webAddress.optional(),
  MASSIVE_BASE_URL: webAddress.optional(),
  REMOTE_ENDPOINT_ALLOW: z.string().default("").transform(list).pipe(
    z.array(
      z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^\s:/]+):\d{1,5}$/, { error: "must be host:port pairs, comma-separated" })
        .toLowerCase(),
    ),
  ),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(", ")}` }).default("info"),
});

type FeedBinding = z.infer<typeof ASSET_CLASS_FEEDS>;

/** Which feeds the providers' labels stand for, and how they are reached. */
export interface ProvidersSettings {
  readonly providerA: FeedBinding;
  readonly providerB: FeedBinding;
  readonly massiveApiKey: string | undefined;
  readonly massiveRequestsPerMinute: number;
  readonly binanceBaseUrl: string | undefined;
  readonly dukascopyBaseUrl: string | undefined;
  readonly massiveBaseUrl: string | undefined;
}

/** What the environment says, checked. */
export interface Config {
  readonly host: string;
  /** 0 lets the system choose a free one. */
  readonly port: number;
  readonly baseUrl: string | undefined;
  readonly trustedOrigins: readonly string[];
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  readonly authSecret: string | undefined;
  readonly ingestionSecret: string | undefined;
  readonly importBytesMax: number;
  readonly runSecondsMax: number;
  readonly runCandlesMax: number;
  /** Undefined: for ever. */
  readonly resultDaysMax: number | undefined;
  readonly providers: ProvidersSettings;
  /** Addresses and networks of the proxies in front of the service. */
  readonly trustedProxies: readonly string[];
  readonly rateLimits: RateLimits;
  /** What one user may have at a time. */
  readonly quotas: Readonly<Record<"backtestsMax" | "resultBytesMax" | "versionsMax" | "registryBytesMax", number>>;
  /** How many backtests run at once in this process; 0 is none. */
  readonly workers: number;
  /** `host:port` pairs that remote strategies and modules may have though they are not public. */
  readonly remoteEndpointAllow: readonly string[];
  readonly logLevel: (typeof LOG_LEVELS)[number];
}

/** A wrong environment; the message is one line that names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the service's configuration.
 *
 * @param environment Variables by name; an empty value counts as unset.
 * @throws ConfigError naming the variable and what it should be, never a secret's value.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = readEnvironment()): Config {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = environmentSchema.safeParse(present);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = String(issue?.path[0]);
    const secret = /SECRET|DATABASE_URL/.test(name);
    throw new ConfigError(
      `Cannot start: ${name} ${issue?.message}${secret ? "" : `, not ${JSON.stringify(present[name])}`}`,
    );
  }
  const env = parsed.data;
  if (env.DATABASE_URL !== undefined && env.BETTER_AUTH_SECRET === undefined) {
    throw new ConfigError("Cannot start: BETTER_AUTH_SECRET must be set with DATABASE_URL, the same for every process");
  }
  if (environment.DENO_DEPLOYMENT_ID !== undefined && env.DATABASE_URL === undefined) {
    throw new ConfigError("Cannot start: DATABASE_URL must be set on Deno Deploy, which keeps no files");
  }
  return Object.freeze({
    host: env.HOST,
    port: env.PORT,
    baseUrl: env.BASE_URL,
    trustedOrigins: env.TRUSTED_ORIGINS,
    dataDir: env.DATA_DIR,
    databaseUrl: env.DATABASE_URL,
    authSecret: env.BETTER_AUTH_SECRET,
    ingestionSecret: env.INGESTION_ADMIN_SECRET,
    importBytesMax: env.IMPORT_BYTES_MAX,
    runSecondsMax: env.RUN_SECONDS_MAX,
    runCandlesMax: env.RUN_CANDLES_MAX,
    resultDaysMax: env.RESULT_DAYS_MAX,
    providers: {
      providerA: env.PROVIDER_A,
      providerB: env.PROVIDER_B,
      massiveApiKey: env.MASSIVE_API_KEY,
      massiveRequestsPerMinute: env.MASSIVE_REQUESTS_PER_MINUTE,
      binanceBaseUrl: env.BINANCE_BASE_URL,
      dukascopyBaseUrl: env.DUKASCOPY_BASE_URL,
      massiveBaseUrl: env.MASSIVE_BASE_URL,
    },
    trustedProxies: env.TRUSTED_PROXIES,
    rateLimits: {
      addressRequestsMax: env.ADDRESS_REQUESTS_PER_MINUTE,
      userRequestsMax: env.USER_REQUESTS_PER_MINUTE,
      addressSignInsMax: env.ADDRESS_SIGN_INS_PER_MINUTE,
      accountFailuresMax: env.ACCOUNT_FAILURES_PER_MINUTE,
    },
    quotas: {
      backtestsMax: env.USER_BACKTESTS_MAX,
      resultBytesMax: env.USER_RESULT_BYTES_MAX,
      versionsMax: env.USER_VERSIONS_MAX,
      registryBytesMax: env.USER_REGISTRY_BYTES_MAX,
    },
    workers: env.WORKERS ?? navigator.hardwareConcurrency,
    remoteEndpointAllow: env.REMOTE_ENDPOINT_ALLOW,
    logLevel: env.LOG_LEVEL,
  });
}

function readEnvironment(): Record<string, string | undefined> {
  const names = [...Object.keys(environmentSchema.shape), "DENO_DEPLOYMENT_ID"];
  return Object.fromEntries(names.map((name) => [name, Deno.env.get(name)]));
}

import { LOG_LEVELS } from "./log.ts";
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

// Every variable, its default and its bounds. README's table is held to the keys of this object by a test.
export const environmentSchema = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: wholeNumber(0, 65_535).default(8000),
  BASE_URL: webOrigin.optional(),
  TRUSTED_ORIGINS: z.string().default("").transform(list).pipe(z.array(webOrigin)),
  DATA_DIR: z.string().default(".data"),
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\/[^/]/, {
    error: "must be of the form postgres://user:password@host:port/database",
  }).optional(),
  BETTER_AUTH_SECRET: z.string().min(32, { error: "must be at least 32 characters long" }).optional(),
  INGESTION_ADMIN_SECRET: z.string().min(16, { error: "must be at least 16 characters long" }).optional(),
  IMPORT_BYTES_MAX: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1024 ** 3),
  RUN_SECONDS_MAX: wholeNumber(1, 86_400).default(600),
  WORKERS: wholeNumber(0, 256).optional(),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(", ")}` }).default("info"),
});

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
  /** How many backtests run at once in this process; 0 is none. */
  readonly workers: number;
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
    workers: env.WORKERS ?? navigator.hardwareConcurrency,
    logLevel: env.LOG_LEVEL,
  });
}

function readEnvironment(): Record<string, string | undefined> {
  const names = [...Object.keys(environmentSchema.shape), "DENO_DEPLOYMENT_ID"];
  return Object.fromEntries(names.map((name) => [name, Deno.env.get(name)]));
}

/**
 * The commands that users start, each with its permissions: a list limits one, `all` does not. Paths are from the project's folder.
 *
 * It imports nothing, so that launch.ts starts at once.
 */
interface Permissions {
  readonly net?: All | readonly string[];
  readonly sys?: readonly string[];
  readonly read: All | readonly string[];
  readonly write?: All | readonly string[];
  readonly env?: readonly string[];
  readonly run?: All | readonly string[];
}

export interface Command extends Permissions {
  readonly script: readonly string[];
  /** True if Deno keeps its own lines to itself: it looks for packages at each start, and says so. */
  readonly isQuiet?: true;
  /** Tasks that are begun with it, one after the other: it uses what they build once it is there. */
  readonly builds?: readonly string[];
}

type All = "all";

export type CommandName = keyof typeof COMMANDS;

/** Stand for the data directory, the files that settings name, and the variables of all settings. */
const DATA = "$DATA";
const NAMED = "$NAMED";
const SETTINGS = "$SETTINGS";
const CODE = ["db/migrations", "db/codec", "engine", "research", "strategies", "workers", NAMED];

/** A user's own tool: it reads and writes the user's files, and runs the user's strategies in a sandbox. */
const TERMINAL = {
  isQuiet: true,
  net: "all",
  sys: ["networkInterfaces", "hostname"],
  read: "all",
  write: "all",
  env: [
    "PATH",
    "INIT_CWD",
    "HOME",
    "USERPROFILE",
    "XDG_CONFIG_HOME",
    "HINDCAST_URL",
    "HINDCAST_TOKEN",
    "INGESTION_ADMIN_SECRET",
  ],
  run: ["deno"],
} as const;

export const COMMANDS = {
  start: {
    script: ["main.ts", "serve"],
    builds: ["web:build", "python:build"],
    net: "all",
    sys: ["statfs", "networkInterfaces"],
    read: [...CODE, "web/dist", DATA],
    write: [DATA],
    env: ["PATH", SETTINGS],
    run: ["deno"],
  },
  worker: {
    script: ["main.ts", "worker"],
    builds: ["python:build"],
    net: "all",
    sys: ["networkInterfaces"],
    read: CODE,
    env: ["PATH", SETTINGS],
    run: ["deno"],
  },
  admin: {
    script: ["cli/admin.ts"],
    net: "all",
    read: ["db/migrations", DATA, NAMED],
    write: [DATA],
    env: [SETTINGS],
  },
  demo: {
    script: ["cli/demo.ts"],
    net: ["127.0.0.1"],
    read: "all",
    write: "all",
    run: "all",
  },
  strategy: { ...TERMINAL, script: ["cli/hindcast/main.ts", "strategy"] },
  hindcast: { ...TERMINAL, script: ["cli/hindcast/main.ts"] },
} as const satisfies Record<string, Command>;

/** Packages come from the cache, at the versions of the service's lock; a variable that is not allowed looks unset. */
const FLAGS = ["--node-modules-dir=none", "--lock=service.lock", "--frozen", "--no-prompt", "--ignore-env"];
const KINDS = ["net", "sys", "read", "write", "env", "run"] as const;

/**
 * The arguments of `deno` that run a command with its permissions and no others.
 *
 * @param dataDir The data directory.
 * @param named What listNamedFiles() lists.
 * @throws Deno.errors.NotFound where the list of settings is not beside the code.
 */
export function denoArguments(name: CommandName, dataDir: string, named: readonly string[] = []): string[] {
  const command: Command = COMMANDS[name];
  const stands: Readonly<Record<string, () => readonly string[]>> = {
    [DATA]: () => [dataDir],
    [NAMED]: () => named,
    [SETTINGS]: listSettings,
  };
  const given = (part: string) => stands[part]?.() ?? [part];
  const permissions = KINDS.flatMap((kind) => {
    const allowed = command[kind];
    if (allowed === undefined) return [];
    return allowed === "all" ? [`--allow-${kind}`] : [`--allow-${kind}=${allowed.flatMap(given).join(",")}`];
  });
  const quiet = command.isQuiet === true ? ["--quiet"] : [];
  return ["run", ...quiet, ...FLAGS, ...permissions, ...command.script];
}

/** The files and folders that settings name for reading: Python's wheels, and the certificates of the database's address. */
export function listNamedFiles(variables: Readonly<Record<string, string>>): string[] {
  const parameters = URL.parse(variables.DATABASE_URL ?? "")?.searchParams;
  const certificates = ["sslrootcert", "sslcert", "sslkey"].map((name) => parameters?.get(name));
  // A permission cannot hold a comma.
  return [variables.PYTHON_WHEELS, ...certificates].flatMap((path) => path?.split(",")[0] || []);
}

/** True where a command reads the settings. */
export function readsSettings(name: CommandName): boolean {
  const { env = [] }: Command = COMMANDS[name];
  return env.includes(SETTINGS);
}

/** The variables of all settings, as `deno task generate` lists them: server/config.ts itself needs libraries. */
export function listSettings(): string[] {
  return Deno.readTextFileSync(new URL("../server/variables.txt", import.meta.url)).trim().split(",");
}

/**
 * Starts a command of commands.ts as a process with its permissions, passes signals on, and ends with its exit code.
 *
 * The tasks of deno.json run it. It may read all variables and start programs, and uses no library, so that it starts at once.
 */
import { findNearest } from "../market/nearest_name.ts";
import { DATA_DIR_DEFAULT } from "../server/data_dir.ts";
import {
  type Command,
  type CommandName,
  COMMANDS,
  denoArguments,
  listNamedFiles,
  listSettings,
  readsSettings,
} from "./commands.ts";

/** A build runs the code of packages, which has no use for the other settings and the secrets among them. */
const SETTINGS_OF_BUILDS = ["PYTHON", "PYTHON_WHEELS"];
// Of a build: it leaves the processors to the service that starts beside it, and gets on where they are busy.
const BUILD_NICE = "10";
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** @returns The command's exit code; 128 and the signal's number where a signal ended it. */
async function launch(name: CommandName, args: readonly string[]): Promise<number> {
  const variables = Deno.env.toObject();
  if (readsSettings(name)) {
    const lines = describeMistypedSettings(Object.keys(variables), listSettings());
    Deno.stderr.writeSync(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
  }
  // A permission cannot hold a comma; the service refuses such a path in words.
  const dataDir = variables.DATA_DIR?.split(",")[0] || DATA_DIR_DEFAULT;
  const processes = new Processes();
  for (const signal of SIGNALS) Deno.addSignalListener(signal, () => processes.pass(signal));
  const { builds = [] }: Command = COMMANDS[name];
  // With `--help` and `--version`, and words that it refuses, a command starts nothing.
  const building = build(args.length === 0 ? builds : [], forBuilds(variables), processes);
  const code = await processes.run([...denoArguments(name, dataDir, listNamedFiles(variables)), ...args]);
  processes.stop();
  await building;
  return code;
}

/** Runs tasks one after the other. One that fails says so itself, and the command goes without what it builds. */
async function build(tasks: readonly string[], env: Record<string, string>, processes: Processes): Promise<void> {
  for (const task of tasks) await processes.run(["task", "--quiet", task], { env, clearEnv: true, isNice: true });
}

interface ProcessOptions extends Deno.CommandOptions {
  /** True for a lower priority than that of other processes. */
  readonly isNice?: boolean;
}

function spawn(args: readonly string[], { isNice = false, ...options }: ProcessOptions): Deno.ChildProcess {
  try {
    const before = ["-n", BUILD_NICE, Deno.execPath()];
    if (isNice) return new Deno.Command("nice", { args: [...before, ...args], ...options }).spawn();
  } catch (error) {
    // Windows has no such program, and small images leave it out.
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return new Deno.Command(Deno.execPath(), { args: [...args], ...options }).spawn();
}

/** The processes that run now. Each gets every signal. */
class Processes {
  #running = new Set<Deno.ChildProcess>();
  #isStopped = false;

  /** Runs `deno` until it ends, unless all were stopped. By its path: under npx, the name is a script's, which passes no signal on. */
  async run(args: readonly string[], options: ProcessOptions = {}): Promise<number> {
    if (this.#isStopped) return 0;
    const process = spawn(args, options);
    this.#running.add(process);
    const { code } = await process.status;
    this.#running.delete(process);
    return code;
  }

  pass(signal: Deno.Signal): void {
    for (const process of this.#running) {
      try {
        process.kill(signal);
      } catch {
        // It has just ended.
      }
    }
  }

  /** Ends those that still run, and starts no more. */
  stop(): void {
    this.#isStopped = true;
    this.pass("SIGTERM");
  }
}

function forBuilds(variables: Readonly<Record<string, string>>): Record<string, string> {
  const withheld = listSettings().filter((name) => !SETTINGS_OF_BUILDS.includes(name));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !withheld.includes(name)));
}

/** @returns A line for each name that is nearly a setting's, and none for settings and for names of other programs. */
export function describeMistypedSettings(names: readonly string[], settings: readonly string[]): string[] {
  return names.filter((name) => !settings.includes(name)).toSorted().flatMap((name) => {
    const nearest = isOfOthers(name) ? undefined : findNearest(name, settings);
    return nearest === undefined ? [] : [`${name} is no setting of Hindcast: did you mean ${nearest}?`];
  });
}

/** Short names are near to everything; HOSTNAME and the like are every system's. */
function isOfOthers(name: string): boolean {
  return name.length < 5 || name !== name.toUpperCase();
}

/** `hindcast serve` and the like start processes with permissions of their own. */
const PROCESSES: Readonly<Record<string, CommandName>> = {
  serve: "start",
  worker: "worker",
  admin: "admin",
  demo: "demo",
};

/** The command that a command line names, and its arguments. */
function resolveCommand([name = "", ...args]: readonly string[]): readonly [name: string, ...args: string[]] {
  const process = name === "hindcast" && Object.hasOwn(PROCESSES, args[0] ?? "") ? PROCESSES[args[0]!] : undefined;
  return process === undefined ? [name, ...args] : [process, ...args.slice(1)];
}

if (import.meta.main) {
  const [name, ...args] = resolveCommand(Deno.args);
  if (!isCommand(name)) {
    throw new Error(`Cannot start ${JSON.stringify(name)}: name one of ${Object.keys(COMMANDS).join(", ")}`);
  }
  Deno.exit(await launch(name, args));
}

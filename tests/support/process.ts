import { type CommandName, denoArguments, listNamedFiles } from "../../cli/commands.ts";
import { TestClient } from "./client.ts";
import { closedAfterTest } from "./left_open.ts";
import { installPackages, isPrepared, prepare } from "./prepare.ts";

/** The things that tasks build where they are missing. */
const BUILT: Readonly<Record<string, readonly ("console" | "interpreter")[]>> = {
  start: ["console", "interpreter"],
  worker: ["interpreter"],
};
const ROOT = new URL("../..", import.meta.url).pathname;

/** How a command ended and what it said. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs one of deno.json's tasks to its end, with the permissions that a user's would have.
 *
 * @param environment Instead of the test's own database and port settings.
 */
export async function runTask(
  task: string,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  // Starts that found no build would each make one, and say so.
  if (isPrepared()) await Promise.all((BUILT[task] ?? []).map(prepare));
  return await run(["task", "--quiet", task, ...args], environment);
}

/** Like runTask(), without the task runner, which takes longer than most commands. */
export function runTaskCommand(
  task: CommandName,
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return run([...denoArguments(task, environment.DATA_DIR ?? ".data"), ...args], environment);
}

async function run(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<Ended> {
  await installPackages();
  const process = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", DATABASE_URL: "", ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await process.output();
  const decoder = new TextDecoder();
  // On a machine with an empty cache, Deno itself still fetches records of packages and reports each.
  const said = decoder.decode(stderr).replaceAll(/^Download .*\n/gm, "");
  return { code, stdout: decoder.decode(stdout), stderr: said };
}

/**
 * Runs a script under a task's own permissions.
 *
 * @param write The script's text, for a data directory.
 * @returns What it wrote.
 */
export async function runScriptAs(
  task: CommandName,
  write: (data: string) => string,
): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const data = `${folder}/data`;
  await Deno.writeTextFile(`${folder}/script.ts`, write(data));
  const args = denoArguments(task, data).map((part) =>
    /^(main|cli\/.*)\.ts$/.test(part) ? `${folder}/script.ts` : part
  );
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", `${ROOT}deno.json`, ...args.slice(1)],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  await Deno.remove(folder, { recursive: true });
  return new TextDecoder().decode(stdout) || new TextDecoder().decode(stderr);
}

/** A process of main.ts that has printed its first line. */
export interface RunningProcess {
  /** Where it listens; empty for a worker. */
  readonly url: string;
  readonly pid: number;
  readonly output: string;
  readonly hasEnded: boolean;
  client(): TestClient;
  /** Sends the signal and waits for the end. */
  end(signal: Deno.Signal): Promise<Ended>;
}

/**
 * Starts main.ts as a process of its own, with the permissions that deno.json gives it.
 *
 * @param within A command that becomes the one that follows it, in surroundings of its making.
 * @param root The folder of the build.
 * @throws Error with what it said when it ends before it has printed a line.
 */
export async function startProcess(
  command: "serve" | "worker",
  environment: Readonly<Record<string, string>>,
  within: readonly string[] = [],
  root = ROOT,
): Promise<RunningProcess> {
  await installPackages();
  const task = denoArguments(
    command === "serve" ? "start" : command,
    environment.DATA_DIR ?? ".data",
    listNamedFiles(environment),
  );
  const [program = "", ...args] = [...within, Deno.execPath(), ...task];
  const process = new Deno.Command(program, {
    args,
    cwd: root,
    env: { PORT: "0", DATABASE_URL: "", LOG_LEVEL: "error", WORKERS: "1", LAME_DUCK_SECONDS: "0", ...environment },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let hasEnded = false;
  void process.status.then(() => hasEnded = true);
  const stderr = new Response(process.stderr).text();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader.read();
  const output = first.value ?? "";
  const rest = (async () => {
    let text = output;
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    return text;
  })();
  const end = async (signal: Deno.Signal) => {
    try {
      process.kill(signal);
    } catch {
      // It has ended by itself.
    }
    const { code } = await process.status;
    return { code, stdout: await rest, stderr: await stderr };
  };
  if (first.done) throw new Error(`${command} ended: ${(await end("SIGKILL")).stderr}`);
  const kill = closedAfterTest(() => end("SIGKILL"));
  void process.status.then(kill);
  const url = /http:\/\/\S+/.exec(output)?.[0] ?? "";
  const client = () => new TestClient(url);
  return {
    url,
    pid: process.pid,
    output,
    client,
    end,
    get hasEnded() {
      return hasEnded;
    },
  };
}

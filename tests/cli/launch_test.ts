/** The launcher of deno.json's tasks: the permissions it gives, the signals it passes on, its exit codes. */
import { expect } from "@std/expect";
import { getPriority } from "node:os";
import { fileURLToPath } from "node:url";
import manifest from "../../deno.json" with { type: "json" };
import { COMMANDS } from "../../cli/commands.ts";
import { describeMistypedSettings } from "../../cli/launch.ts";
import { VARIABLES } from "../../server/config.ts";
import { prepare } from "../support/prepare.ts";
import { runTask } from "../support/process.ts";
import { listDescendants, untilGone } from "../support/processes.ts";
import { readUntil } from "../support/until.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Starts the launcher in a folder of the test's: a service that says its PID, and builds of which the first runs until it is ended. */
async function launchIn(
  folder: string,
  env: Record<string, string>,
  given: readonly string[] = [],
): Promise<Deno.ChildProcess> {
  const say = `const say = (text) => Deno.stdout.writeSync(new TextEncoder().encode(text + "\\n"));`;
  const show = `say("build " + JSON.stringify(Deno.env.toObject()));`;
  const files = {
    "service.lock": '{ "version": "5" }',
    "main.ts": `${say} say("service " + Deno.pid); await new Promise((end) => setTimeout(end, 600_000));`,
    "wait.ts":
      `import { getPriority } from "node:os"; ${say} say("priority " + getPriority()); Deno.addSignalListener("SIGTERM", () => { say("ended"); Deno.exit(1); }); ${show}
      setTimeout(() => {}, 600_000);`,
    "deno.json": JSON.stringify({ tasks: { "web:build": "deno run -A wait.ts", "python:build": "echo second" } }),
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  const args = manifest.tasks.start.command.replace("=server/", `=${ROOT}server/`).replace("cli/", `${ROOT}cli/`);
  return new Deno.Command(Deno.execPath(), {
    args: [...args.split(" ").slice(1), ...given],
    cwd: folder,
    env,
    stdout: "piped",
  })
    .spawn();
}

Deno.test("each task of a command is the launcher with its name, and the launcher's permissions are one list", () => {
  const line =
    "deno run --no-config --no-prompt --allow-env --allow-read=server/variables.txt --allow-run cli/launch.ts";
  for (const name of Object.keys(COMMANDS)) {
    expect(manifest.tasks).toMatchObject({ [name]: { command: `${line} ${name}` } });
  }
});

Deno.test("SIGTERM or SIGINT to the task alone ends the service in order, and the task with its code", async () => {
  await prepare("console");
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    // A permission for a path with a space is one argument.
    const folder = await Deno.makeTempDir({ prefix: "hindcast test " });
    const task = new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", "start"],
      cwd: ROOT,
      // The first build of Python's interpreter would tell of itself.
      env: {
        ...{ NO_COLOR: "1", DATA_DIR: `${folder}/data`, DATABASE_URL: "", PORT: "0", WORKERS: "0", LOG_LEVEL: "error" },
        PYTHON: "off",
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const errors = new Response(task.stderr).text();
    const output = task.stdout.pipeThrough(new TextDecoderStream()).getReader();
    await readUntil(output, /^Hindcast listens on .*\n/);
    const started = listDescendants(task.pid);
    task.kill(signal);
    expect([signal, (await task.status).code, await errors]).toEqual([signal, 0, ""]);
    await untilGone(started);
    await output.cancel();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a build gets no setting of others; a service that is killed ends it, and the launcher with a shell's code", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const launcher = await launchIn(folder, Object.fromEntries([...VARIABLES, "OTHER"].map((name) => [name, "a value"])));
  const output = launcher.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const said = await readUntil(output, /(?=.*^service \d+\n)(?=.*^build .*\n)/ms);
  const given = Object.keys(JSON.parse(/^build (.*)$/m.exec(said)?.[1] ?? ""));
  expect(given.filter((name) => [...VARIABLES, "OTHER"].includes(name)).toSorted())
    .toEqual(["OTHER", "PYTHON", "PYTHON_WHEELS"]);
  // The service that starts beside it goes first.
  expect(said).toContain(`priority ${Math.min(19, getPriority() + 10)}\n`);
  Deno.kill(Number(/^service (\d+)$/m.exec(said)?.[1]), "SIGKILL");
  expect((await launcher.status).code).toBe(137);
  const rest = await readUntil(output, /ended/);
  // No other build begins after the end.
  expect(rest + (await output.read()).value).not.toContain("second");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("nothing is built for --help or --version", async () => {
  for (const argument of ["--help", "--version"]) {
    const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
    const launcher = await launchIn(folder, {}, [argument]);
    const output = launcher.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const said = await readUntil(output, /^service \d+\n/m);
    launcher.kill("SIGTERM");
    await launcher.status;
    let rest = "";
    for (let part = await output.read(); !part.done; part = await output.read()) rest += part.value;
    expect(said + rest).not.toMatch(/build|second/);
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a mistyped setting is named with the nearest right one", () => {
  const names = ["DATABASE_URI", "WORKER", "TRUSTED_PROXY", "BETTER_AUTH_SECRETS", ...VARIABLES];
  expect(describeMistypedSettings(names, VARIABLES)).toEqual([
    "BETTER_AUTH_SECRETS is no setting of Hindcast: did you mean BETTER_AUTH_SECRET?",
    "DATABASE_URI is no setting of Hindcast: did you mean DATABASE_URL?",
    "WORKER is no setting of Hindcast: did you mean WORKERS?",
  ]);
});

Deno.test("the variables of other programs are nobody's mistake", () => {
  const others = [
    "HOME",
    "HOSTNAME",
    "PATH",
    "PWD",
    "USER",
    "TERM",
    "LANG",
    "SHLVL",
    "HOSTTYPE",
    "LOGNAME",
    "COLORTERM",
  ];
  const more = ["NODE_ENV", "NO_COLOR", "DENO_DIR", "INIT_CWD", "KUBERNETES_PORT", "POSTGRES_URL", "port", "data_dir"];
  expect(describeMistypedSettings([...others, ...more], VARIABLES)).toEqual([]);
});

Deno.test("each task that reads the settings says so on standard error, and never a value", async () => {
  for (const task of ["start", "worker", "admin"] as const) {
    // The argument is refused, so that nothing starts.
    const environment = { DATABASE_URI: "postgres://user:word@db/own", DATABASE_URL: "" };
    const { stderr } = await runTask(task, ["--no-such-argument"], environment);
    expect([task, stderr]).toEqual([
      task,
      expect.stringContaining("DATABASE_URI is no setting of Hindcast: did you mean DATABASE_URL?\n"),
    ]);
    expect(stderr).not.toContain("word");
  }
});

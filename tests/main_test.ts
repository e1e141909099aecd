import { expect } from "@std/expect";
import { join } from "node:path";
import { BACKTEST } from "./support/client.ts";
import { administer, createTestDatabase, testServerUrl } from "./support/database.ts";
import { prepare } from "./support/prepare.ts";
import { runTask, runTaskCommand, startProcess } from "./support/process.ts";
import { readUntil, until } from "./support/until.ts";

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The paths below a folder that others than their owner may read, write or enter. */
async function openToOthers(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (((await Deno.lstat(path)).mode ?? 0) & 0o077) found.push(path);
    if (isDirectory) found.push(...await openToOthers(path));
  }
  return found;
}

Deno.test("an embedded service keeps its users and results from one start to the next", () =>
  inFolder(async (DATA_DIR) => {
    // As an operator's mkdir leaves it; the service closes it.
    await Deno.chmod(DATA_DIR, 0o755);
    const first = await startProcess("serve", { DATA_DIR });
    expect(((await Deno.stat(DATA_DIR)).mode ?? 0) & 0o777).toBe(0o700);
    expect(first.output).toMatch(/^Hindcast listens on http:\/\/127\.0\.0\.1:\d+\n/);
    expect(first.output).toMatch(/INGESTION_ADMIN_SECRET/);
    const user = first.client();
    const email = await user.signUp();
    const submitted = await user.send("POST", "/api/backtests", { backtest: BACKTEST });
    const done = await user.finish(submitted.at("/backtest/id"));
    expect(done.at("/backtest/status")).toBe("completed");

    // A second process on the same folder would destroy the first one's writes.
    const second = await runTask("start", [], { DATA_DIR, PORT: "0" });
    expect([second.code, second.stdout]).toEqual([1, ""]);
    expect(second.stderr).toMatch(new RegExp(`^Cannot use ${DATA_DIR}: the process with PID \\d+ already does\\n$`));

    // The command asks the running service, since it must not open the database itself.
    const unknown = await runTaskCommand("admin", ["nobody@example.com"], { DATA_DIR });
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      "Cannot make nobody@example.com an admin: nobody has signed up with this e-mail.\n",
    ]);
    const granted = await runTask("admin", [email], { DATA_DIR });
    expect([granted.code, granted.stdout]).toEqual([0, `${email} is an admin now.\n`]);
    expect((await user.get("/api/admin/ingestion/events")).status).toBe(200);

    const invited = await runTaskCommand("admin", ["invite"], { DATA_DIR, SIGN_UP: "invite" });
    expect([invited.code, invited.stdout]).toEqual([0, expect.stringMatching(/\/sign-up#hci_[\w-]{43}\n$/)]);

    const socket = await Deno.stat(join(DATA_DIR, "control.sock"));
    expect((socket.mode ?? 0) & 0o777).toBe(0o600);
    expect(await openToOthers(DATA_DIR)).toEqual([]);

    // Killed without a word: the lock of a dead process is no lock, and what was acknowledged is there.
    await first.end("SIGKILL");
    const third = await startProcess("serve", { DATA_DIR });
    const again = third.client();
    again.cookie = user.cookie;
    expect((await again.get(`/api/backtests/${done.at("/backtest/id")}`)).text).toBe(done.text);
    const ended = await third.end("SIGTERM");
    expect([ended.code, ended.stderr]).toEqual([0, ""]);

    // Nobody runs now: the command opens the files itself.
    expect((await runTaskCommand("admin", [email], { DATA_DIR })).code).toBe(0);
  }));

Deno.test("a wrong start is one line on standard error", () =>
  inFolder(async (DATA_DIR) => {
    const port = await runTask("start", [], { DATA_DIR, PORT: "http" });
    expect([port.code, port.stderr]).toEqual([1, 'Cannot start: PORT must be a whole number, not "http"\n']);
    const worker = await runTask("worker", [], { DATA_DIR });
    expect([worker.code, worker.stderr]).toEqual([
      1,
      "Cannot start: DATABASE_URL must be set for a worker: the embedded database serves one process\n",
    ]);
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const taken = await runTaskCommand("start", [], { DATA_DIR, PORT: String(listener.addr.port) });
    listener.close();
    const named =
      `Cannot start: HOST and PORT, 127.0.0.1:${listener.addr.port}, cannot be used: Address already in use`;
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringMatching(`^${named}.*\\n$`)]);
    const host = await runTaskCommand("start", [], { DATA_DIR, PORT: "0", HOST: "nowhere.invalid" });
    expect(host.stderr).toMatch(/^Cannot start: HOST and PORT, nowhere\.invalid:0, cannot be used: .*\n$/);
    // A comma separates what a permission is for: neither part is what was meant, and nothing is made there.
    for (const path of [`${DATA_DIR}/a,b`, `${DATA_DIR}/a,`, `${DATA_DIR}/a,,b`]) {
      const { code, stderr } = await runTask("start", [], { DATA_DIR: path, PORT: "0" });
      const refused = `Cannot start: DATA_DIR must be a path without a comma, not ${JSON.stringify(path)}\n`;
      expect([code, stderr]).toEqual([1, refused]);
    }
    expect([...Deno.readDirSync(DATA_DIR)]).toEqual([]);
    await Deno.writeTextFile(`${DATA_DIR}/file`, "");
    const file = await runTaskCommand("start", [], { DATA_DIR: `${DATA_DIR}/file`, PORT: "0" });
    expect([file.code, file.stderr]).toEqual([
      1,
      expect.stringMatching(/^Cannot start: DATA_DIR cannot be used: File exists .*\n$/),
    ]);
    const help = await runTask("admin", ["--help"], { DATA_DIR });
    expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("deno task admin EMAIL")]);
    expect((await runTaskCommand("admin", [], { DATA_DIR })).code).toBe(1);
    const nowhere = join(DATA_DIR, "nowhere");
    const missed = await runTaskCommand("admin", ["ada@example.com"], { DATA_DIR: nowhere });
    expect([missed.code, missed.stderr]).toEqual([
      1,
      expect.stringContaining(`there is no DATA_DIR ${nowhere}: start the service once`),
    ]);
    // Nor is there one then.
    await expect(Deno.stat(nowhere)).rejects.toThrow(Deno.errors.NotFound);
  }));

Deno.test("a start with an argument that it does not know is refused, and --help starts nothing", () =>
  inFolder(async (DATA_DIR) => {
    const usage = /^Runs Hindcast [^]*deno task start [^]*deno task worker /m;
    for (const task of ["start", "worker"] as const) {
      const helped = await runTask(task, ["--help"], { DATA_DIR, PORT: "no port" });
      expect([helped.code, helped.stdout, helped.stderr]).toEqual([0, expect.stringMatching(usage), ""]);
      const refused = await runTaskCommand(task, ["--port", "3"], { DATA_DIR, PORT: "no port" });
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([2, "", expect.stringMatching(usage)]);
      expect(refused.stderr).toMatch(
        /^Cannot use the argument "--port": settings are environment variables, as in PORT=\.{3}\n/,
      );
    }
    expect(Array.from(Deno.readDirSync(DATA_DIR))).toEqual([]);
  }));

Deno.test("on one PostgreSQL, an API process without workers has its backtests run by a worker process", () =>
  inFolder(async (DATA_DIR) => {
    const { url: DATABASE_URL, drop } = await createTestDatabase("service");
    const environment = { DATA_DIR, DATABASE_URL, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
    const api = await startProcess("serve", { ...environment, WORKERS: "0" });
    const user = api.client();
    const email = await user.signUp();
    const submitted = await user.send("POST", "/api/backtests", { backtest: BACKTEST });
    expect(submitted.status).toBe(202);
    expect((await user.get(`/api/backtests/${submitted.at("/backtest/id")}`)).at("/backtest/status")).toBe("queued");
    const workers = async () => (await user.get("/api/health")).at("/workers");
    expect(await workers()).toBe("none");
    const worker = await startProcess("worker", environment);
    expect(await workers()).toBe("alive");
    const done = await user.finish(submitted.at("/backtest/id"));
    expect(done.at("/backtest/status")).toBe("completed");
    expect((await runTaskCommand("admin", [email], environment)).code).toBe(0);
    expect((await user.get("/api/admin/ingestion/events")).status).toBe(200);
    const ended = [await worker.end("SIGTERM")];
    // The server notices the end of a session on its own time.
    await until(async () => await workers() === "none");
    ended.push(await api.end("SIGTERM"));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([[0, ""], [0, ""]]);
    await drop();
  }));

Deno.test("under deno serve a start that failed is tried again by the next request, and SIGTERM ends it in order", async () => {
  const server = await testServerUrl();
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["serve", "--allow-all", "--host", "127.0.0.1", "--port", "0", "main.ts"],
    cwd: new URL("..", import.meta.url),
    env: {
      NO_COLOR: "1",
      DATABASE_URL: new URL(`/${name}`, server).href,
      BETTER_AUTH_SECRET: "a secret of at least 32 characters",
      WORKERS: "0",
      LOG_LEVEL: "error",
    },
    stderr: "piped",
  }).spawn();
  const errors = process.stderr.pipeThrough(new TextDecoderStream()).getReader();
  const said = await readUntil(errors, /http:\S+:\d+/);
  const health = async () => {
    const response = await fetch(new URL("/api/health", /http:\S+:\d+/.exec(said)?.[0]));
    await response.body?.cancel();
    return response.status;
  };
  // There is no such database yet.
  expect(await health()).toBe(500);
  await administer(server, `create database ${name} template ${await prepare("database/service")}`);
  expect(await health()).toBe(200);
  process.kill("SIGTERM");
  expect(await process.status).toMatchObject({ code: 0, signal: null });
  await errors.cancel();
  await administer(server, `drop database ${name} with (force)`);
});

/** The examples of docs/command_line.md, as a user types them, in a folder of their own. */
import { expect } from "@std/expect";
import { denoArguments } from "../../cli/commands.ts";
import { blockIn, readPage, ROOT, rowsOf, runLines } from "../support/pages.ts";
import { readUntil } from "../support/until.ts";
import { INGESTION_SECRET, startTestService, type TestService } from "../support/service.ts";

const PAGE = await readPage("docs/command_line.md");
const PASSWORD = "correct horse battery";

/** A folder with `hindcast` on its path. */
async function makeHome(service: TestService, scope: string) {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const args = denoArguments("hindcast", ".data").map((part) => `'${part}'`).join(" ");
  const script = `#!/bin/sh\nexport INIT_CWD="$PWD"\ncd '${ROOT}' && exec '${Deno.execPath()}' ${args} "$@"\n`;
  await Deno.writeTextFile(`${folder}/hindcast`, script, { mode: 0o755 });
  const user = await service.user();
  const answer = await user.send("POST", "/api/tokens", { token: { name: "test", scope } });
  const env = {
    PATH: `${folder}:${Deno.env.get("PATH")}`,
    XDG_CONFIG_HOME: `${folder}/config`,
    HINDCAST_URL: service.url,
    HINDCAST_TOKEN: String(answer.at("/secret")),
    NO_COLOR: "1",
  };
  const run = async (lines: string, more: Readonly<Record<string, string>> = {}) => {
    const { code, stdout, stderr } = await runLines(lines, { cwd: folder, env: { ...env, ...more } });
    expect([lines, code, stderr]).toEqual([lines, 0, ""]);
    return stdout;
  };
  return { folder, env, run, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

Deno.test("the page's commands run, compare, export and keep a strategy", async () => {
  const service = await startTestService();
  {
    await using home = await makeHome(service, "run");
    const first = await home.run(blockIn(PAGE, "sh", "hindcast optimize"));
    expect(first).toContain("DEMO@SAMPLE");
    expect(first).toMatch(/Net return.*Max drawdown/s);
    expect(first).toMatch(/How much of it is luck: /);
    const own = await home.run(blockIn(PAGE, "sh", "hindcast strategy push"));
    expect(own).toContain("Registered my-cross, version 1.0.0");
    const { backtests } = JSON.parse(await home.run("hindcast list --json"));
    expect(backtests).toHaveLength(2);
    const [{ id }, { id: other }] = backtests;
    const lines = blockIn(PAGE, "sh", "hindcast export").replace("compare ID ID", `compare ${id} ${other}`)
      .replaceAll(" ID ", ` ${id} `);
    expect(await home.run(lines)).toContain("/parameters/fast");
    expect(await Deno.readTextFile(`${home.folder}/trades.csv`)).toMatch(/^number,side,/);
    expect(await Deno.readTextFile(`${home.folder}/report.html`)).toContain("<html");
    expect((await Deno.stat(`${home.folder}/equity.arrow`)).size).toBeGreaterThan(1_000);
    const kinds = blockIn(PAGE, "sh", "hindcast list --kind").replaceAll(/ ID(?= |$)/gm, ` ${id}`);
    expect(await home.run(kinds)).toMatch(/Trials[^]*How much of it is luck[^]*Monte Carlo, trades[^]*Lose/);
    expect(await Deno.readTextFile(`${home.folder}/trials.csv`)).toMatch(/^number,/);
  }
  await service.close();
});

Deno.test("the page's program decides for a run without being reachable", async () => {
  const service = await startTestService();
  {
    await using home = await makeHome(service, "run");
    const endpoint = new Deno.Command("python3", {
      args: [`${ROOT}strategies/examples/python/momentum.py`, "--port", "0"],
      stdout: "piped",
    }).spawn();
    const said = endpoint.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const [url = ""] = /http:\S+/.exec(await readUntil(said, /\n/)) ?? [];
    const block = blockIn(PAGE, "sh", "hindcast strategy serve");
    expect(blockIn(await readPage("strategies/REMOTE.md"), "sh", "hindcast strategy serve")).toBe(block);
    const [serve = "", run = ""] = block.replace("http://127.0.0.1:9000/", url).trim().split("\n");
    const program = new Deno.Command("sh", {
      args: ["-c", `exec ${serve}`],
      env: home.env,
      stdout: "piped",
    }).spawn();
    const output = program.stdout.pipeThrough(new TextDecoderStream()).getReader();
    await readUntil(output, /Serving mine for .*: hindcast run serve:mine/);
    expect(await home.run(`${run} --json`)).toContain('"endpoint": "serve:mine"');
    const [{ metrics }] = JSON.parse(await home.run("hindcast list --json")).backtests;
    expect(metrics.trades).toBeGreaterThan(5);
    for (const [child, reader] of [[program, output], [endpoint, said]] as const) {
      child.kill("SIGTERM");
      await child.status;
      await reader.cancel();
    }
  }
  await service.close();
});

Deno.test("the page's import takes a file with the ingestion secret", async () => {
  const service = await startTestService();
  {
    await using home = await makeHome(service, "read");
    const days = Array.from({ length: 30 }, (_, day) => `2024-01-${String(day + 1).padStart(2, "0")},1,2,1,2,10`);
    await Deno.writeTextFile(`${home.folder}/AAPL.csv`, `date,open,high,low,close,volume\n${days.join("\n")}\n`);
    const said = await home.run(blockIn(PAGE, "sh", "hindcast import").replace("=...", `="${INGESTION_SECRET}"`));
    expect(said).toContain("AAPL@NASDAQ: 30 candles, 0 lines rejected");
    expect(await home.run("hindcast markets AAPL")).toContain("AAPL@NASDAQ");
  }
  await service.close();
});

Deno.test("the page's login goes on when its code is confirmed", async () => {
  const service = await startTestService();
  {
    await using home = await makeHome(service, "run");
    const user = await service.user();
    const line = blockIn(PAGE, "sh", "hindcast login").replace("http://127.0.0.1:8000", service.url).trim();
    const env = { ...home.env, HINDCAST_TOKEN: "" };
    const login = new Deno.Command("sh", {
      args: ["-c", line],
      env: home.env,
      cwd: home.folder,
      stdout: "piped",
      stderr: "piped",
    })
      .spawn();
    const asked = login.stderr.pipeThrough(new TextDecoderStream()).getReader();
    const [, userCode = ""] = /confirm the code (\w+)/.exec(await readUntil(asked, /\n/)) ?? [];
    await user.get(`/api/auth/device?user_code=${userCode}`);
    await user.send("POST", "/api/auth/device/approve", { userCode });
    const signedIn = await new Response(login.stdout).text();
    expect(signedIn).toContain(`Signed in to ${service.url} as `);
    expect(signedIn).toContain("Unset HINDCAST_TOKEN: it counts before the saved login.");
    expect([(await login.status).code, await asked.read()]).toEqual([0, { value: undefined, done: true }]);
    const refused = new Deno.Command("sh", {
      args: ["-c", line],
      env,
      cwd: home.folder,
      stdout: "null",
      stderr: "piped",
    })
      .spawn();
    const said = refused.stderr.pipeThrough(new TextDecoderStream()).getReader();
    const [, second = ""] = /confirm the code (\w+)/.exec(await readUntil(said, /\n/)) ?? [];
    await user.get(`/api/auth/device?user_code=${second}`);
    await user.send("POST", "/api/auth/device/deny", { userCode: second });
    expect(await readUntil(said, /\n/)).toBe("Cannot sign in: it was denied in the browser\n");
    expect((await refused.status).code).toBe(4);
    await said.cancel();
  }
  await service.close();
});

Deno.test("the page's login makes a token with a password that the terminal does not show", async () => {
  const service = await startTestService();
  {
    await using home = await makeHome(service, "run");
    const signUp = { name: "Ada", email: "ada@example.com", password: PASSWORD };
    expect((await service.client().send("POST", "/api/auth/sign-up/email", signUp)).status).toBe(200);
    const line = blockIn(PAGE, "sh", "hindcast login").replace("http://127.0.0.1:8000", service.url).trim() +
      " --email ada@example.com";
    // A terminal of its own: the password is typed once it is asked for.
    const typed = `import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp("sh", ["sh", "-c", sys.argv[1]])
seen = b""
while b"Password" not in seen: seen += os.read(terminal, 1024)
os.write(terminal, b"${PASSWORD}\\r")
try:
    while True:
        part = os.read(terminal, 1024)
        if not part: break
        seen += part
except OSError: pass
print(seen.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
    await Deno.writeTextFile(`${home.folder}/type.py`, typed);
    const said = await home.run(`python3 type.py '${line}'`, { HINDCAST_TOKEN: "" });
    expect(said).toContain("as ada@example.com");
    expect(said).not.toContain(PASSWORD);
    const saved = `${home.folder}/config/hindcast/login.json`;
    expect(((await Deno.stat(saved)).mode ?? 0) & 0o777).toBe(0o600);
    const who = await home.run("hindcast whoami --json", { HINDCAST_TOKEN: "", HINDCAST_URL: "" });
    expect(JSON.parse(who)).toMatchObject({ url: service.url, user: { email: "ada@example.com" } });
    // Revoked or not, it is gone from here.
    expect(await home.run("hindcast logout")).toContain("Signed out");
  }
  await service.close();
});

Deno.test("the page names every command, and each help has examples that its command can read", async () => {
  const { makeProgram } = await import("../../cli/hindcast/main.ts");
  const { EXAMPLES } = await import("../../cli/hindcast/examples.ts");
  const named = rowsOf(PAGE).map(([command = ""]) => command).join(" ");
  const program = makeProgram();
  for (const command of program.commands) expect(named).toContain(`\`${command.name()}`);
  for (const [path, lines] of Object.entries(EXAMPLES)) {
    const command = path.split(" ").reduce(
      (parent, name) => parent.commands.find((each) => each.name() === name)!,
      program,
    );
    for (const line of lines) {
      expect([line, line.startsWith(`hindcast ${path}`)]).toEqual([line, true]);
      const [typed = ""] = line.slice(`hindcast ${path}`.length).split(" < token");
      const { operands, unknown } = command.parseOptions(typed.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? []);
      const { registeredArguments: known } = command;
      const isEnough = operands.length >= known.filter(({ required }) => required).length;
      expect([line, unknown, isEnough]).toEqual([line, [], true]);
      expect([line, operands.length <= known.length || known.at(-1)?.variadic]).toEqual([line, true]);
    }
  }
});

/** `hindcast` against a real service: what each command prints, how it ends, and what it does with wrong words. */
import { expect } from "@std/expect";
import { administer } from "../support/database.ts";
import { freePort } from "../support/free_port.ts";
import { runTask, runTaskCommand } from "../support/process.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const RUN = ["run", "sma-cross", "DEMO@SAMPLE", "2024-01-01", "2024-03-01", "-t", "1h"];
const NOBODYS = "00000000-0000-7000-8000-000000000000";

/** Calls the command as a user who is signed in by the environment. */
async function openTerminal(scope: string, settings: Readonly<Record<string, string>> = {}) {
  const service = await startTestService("PostgreSQL", settings);
  const config = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const user = await service.user();
  const made = await user.send("POST", "/api/tokens", { token: { name: "test", scope } });
  const env = { HINDCAST_URL: service.url, HINDCAST_TOKEN: String(made.at("/secret")), XDG_CONFIG_HOME: config };
  const call = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runTaskCommand("hindcast", args, { ...env, ...more });
  const json = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await call([...args, "--json"]);
    expect([args, code, stderr]).toEqual([args, 0, ""]);
    return JSON.parse(stdout);
  };
  const close = async () => {
    await service.close();
    await Deno.remove(config, { recursive: true });
  };
  return { service, env, call, json, config, close };
}

Deno.test("runs are made, followed, found, cancelled and compared", async () => {
  const { call, json, env, close } = await openTerminal("run");
  const { backtest } = await json([
    ...RUN,
    "-p",
    "fast=12",
    "-p",
    "slow=48",
    "--commission",
    "0.001",
    "--name",
    "mine",
  ]);
  expect(backtest).toMatchObject({
    name: "mine",
    status: "completed",
    parameters: { fast: 12, slow: 48, timeframe: "1h", execution: { commission: { rate: 0.001 } } },
  });
  const later = await json([...RUN, "--no-wait"]);
  expect((await json(["watch", later.backtest.id])).backtest.status).toBe("completed");
  // Without an id, the newest.
  expect((await json(["show"])).backtest.id).toBe(later.backtest.id);
  expect(await call(["export", "trades"])).toEqual(await call(["export", later.backtest.id, "trades"]));
  const shown = await call(["show", backtest.id]);
  expect(shown.stdout).toMatch(/mine {2}DEMO@SAMPLE 1h, 2024-01-01 to 2024-03-01[^]*Net return[^]*Equity[^]*Profit/);
  expect((await json(["list", "--search", "mine"])).backtests.map(({ id }: { id: string }) => id)).toEqual([
    backtest.id,
  ]);
  const compared = await call(["compare", backtest.id, later.backtest.id]);
  expect(compared.stdout).toMatch(/\/parameters\/slow +│ +48[^]*Sharpe/);
  const stressed = await call(["stress", backtest.id]);
  expect([stressed.code, stressed.stdout]).toEqual([
    0,
    expect.stringMatching(/Change +│ Net return[^]*Days[^]*commission/),
  ]);
  const scan = ["ALDER@SAMPLE,OAK@SAMPLE", "2024-01-01", "2025-01-01", "-t", "1d"];
  const scanned = await call(["optimize", "sma-cross", ...scan, "-s", "fast=4,8", "-s", "slow=24,48"]);
  expect([scanned.stderr, scanned.stdout]).toEqual([
    "",
    expect.stringMatching(/2 markets[^]*Trial[^]*Market[^]*median[^]*2 markets[^]*Earned in[^]*ALDER@SAMPLE/),
  ]);
  const { optimization } = await json([
    ...[
      "optimize",
      ...RUN.slice(1),
      "-s",
      "fast=4:12:4",
      "-s",
      "slow=24,48",
      "--constraint",
      "fast < slow",
      "--no-wait",
    ],
  ]);
  const watched = await json(["watch", optimization.id]);
  expect(watched.optimization).toMatchObject({ status: "completed", trials: { done: 6 } });
  // Two runs and six trials; the scan is of other markets.
  const { stdout } = await call(["show", optimization.id]);
  expect(stdout).toMatch(/6 trials[^]*fast across[^]*How much of it is luck[^]*One of 8 tries/);
  const list = (await showOn(80, "list", env)).trimEnd().split("\r\n");
  expect(list.every((line) => line.length <= 80)).toBe(true);
  expect(list.slice(1, 4).join("\n")).toMatch(/Run +│ +Return │ Sharpe │\n.+\n.* DEMO@SAMPLE 1h/);
  await close();
});

/** Calls a command on a terminal of so many columns. @returns The screen. */
async function showOn(columns: number, command: string, env: Readonly<Record<string, string>>): Promise<string> {
  const line = `stty cols ${columns}; '${Deno.execPath()}' task --quiet hindcast ${command}`;
  const { stdout } = await new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", line, "/dev/null"],
    cwd: new URL("../..", import.meta.url),
    env: { ...env, TERM: "xterm", NO_COLOR: "1" },
  }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test("Ctrl+C leaves a run to the service, which cancels it when it is asked to", async () => {
  // Nobody works, so that the runs wait.
  const { env, json, close } = await openTerminal("run", { WORKERS: "0" });
  const { code, screen } = await pressCtrlC(["task", "--quiet", "hindcast", ...RUN], env, "queued");
  expect([code, screen]).toEqual([130, expect.stringMatching(/The run goes on: hindcast watch [0-9a-f-]{36}/)]);
  const id = screen.match(/watch ([0-9a-f-]{36})/)![1]!;
  const other = (await json([...RUN, "--no-wait"])).backtest.id;
  expect((await json(["show", id])).backtest.status).toBe("queued");
  const { cancelled } = await json(["cancel", id, other]);
  expect(cancelled).toMatchObject([id, other].map((each) => ({ backtest: { id: each, status: "cancelled" } })));
  await close();
});

/** Runs a command in a terminal, and presses Ctrl+C once the terminal shows a text. */
async function pressCtrlC(args: readonly string[], env: Readonly<Record<string, string>>, shown: string) {
  const line = [Deno.execPath(), ...args].map((each) => `'${each}'`).join(" ");
  const process = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", line, "/dev/null"],
    cwd: new URL("../..", import.meta.url),
    env: { ...env, TERM: "xterm" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const keyboard = process.stdin.getWriter();
  let screen = "";
  let isPressed = false;
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    screen += text;
    if (isPressed || !screen.includes(shown)) continue;
    isPressed = true;
    await keyboard.write(Uint8Array.of(3));
  }
  const { code } = await process.status;
  await keyboard.close().catch(() => {});
  return { code, screen };
}

Deno.test("a universe is pushed twice, read and run, and a run over two markets shares one account", async () => {
  const { call, json, close } = await openTerminal("run");
  expect((await call(["universes", "push", "pair", "DEMO@SAMPLE,STOCK@SAMPLE"])).stdout).toBe("Made pair.\n");
  expect((await json(["universes", "push", "pair", "DEMO@SAMPLE"])).version.version).toBe(2);
  expect((await json(["universes", "show", "pair", "1"])).members).toHaveLength(2);
  expect((await json(["universes", "list", "pair"])).universes).toMatchObject([{ slug: "pair", latest_version: 2 }]);
  const range = ["2024-02-01", "2024-04-01", "-t", "1d"];
  const both = await json(["run", "equal-weight", "DEMO@SAMPLE,STOCK@SAMPLE", ...range]);
  expect(both.backtest.result.portfolio.contributions).toHaveLength(2);
  const one = await json(["run", "equal-weight", "DEMO@SAMPLE", ...range, "--universe", "pair"]);
  expect(one.backtest.parameters.universe).toBe("pair@2");
  expect((await call(["universes", "delete", "pair"])).code).toBe(0);
  await close();
});

Deno.test("files of candles are imported with the admin's secret, and two of them answer with one document", async () => {
  const { call, json, config, close } = await openTerminal("read");
  const files = ["ASH", "ELM"].map((symbol) => `${config}/${symbol}.csv`);
  const lines = ["date,open,high,low,close,volume", "2024-01-01,1,2,1,2,10", "2024-01-02,2,1,3,2,10"].join("\n");
  for (const file of files) await Deno.writeTextFile(file, lines);
  const secret = { INGESTION_ADMIN_SECRET: INGESTION_SECRET };
  const { code, stdout } = await call(["import", ...files, "--json", "-t", "1d"], secret);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).imports).toMatchObject(
    files.map((file, i) => ({ file, symbol: ["ASH", "ELM"][i], exchange: "IMPORT", imported: 1, rejected_count: 1 })),
  );
  // The candle is held by now.
  expect((await call(["import", files[0]!, "-t", "1d"], secret)).stdout).toMatch(
    /^ASH@IMPORT: 0 candles, 1 line rejected, .*\n {2}line 3: high 1 is below low 3\n$/,
  );
  expect((await json(["markets", "ASH"])).instruments).toMatchObject([{ symbol: "ASH", candles: 1 }]);
  await close();
});

Deno.test("each way to end has its exit code, and a refusal is JSON where JSON was asked for", async () => {
  const { service, call, config, close } = await openTerminal("read");
  await Deno.writeTextFile(`${config}/candles.csv`, "date,open,high,low,close,volume\n2024-01-01,1,2,1,2,10\n");
  const nowhere = `http://127.0.0.1:${freePort()}`;
  const cases: readonly (readonly [code: number, args: readonly string[], said: string])[] = [
    [0, ["--version"], ""],
    [0, ["run", "--help"], ""],
    [1, ["show", NOBODYS], "Cannot find a backtest or an optimization"],
    [2, ["rnu"], "Did you mean run?"],
    [2, ["run", "a"], "missing required argument 'markets'\nRead hindcast run --help"],
    [2, [...RUN, "--timefram", "1h"], "Did you mean --timeframe?"],
    [2, ["run", "sma-cross", "DEMO", "2024-01-01", "2024-02-01"], "as in DEMO@SAMPLE"],
    [2, [...RUN, "-p", "fast"], "as in fast=24"],
    [2, [...RUN, "--commission", "much"], "it must be a number"],
    [2, ["run", "missing.ts", ...RUN.slice(2)], "there is no such file"],
    [2, ["optimize", ...RUN.slice(1), "-s", "fast=1:2:3:4"], "fast=5:50:5"],
    [2, ["optimize", ...RUN.slice(1), "-s", "fast"], "as in fast=5:50:5"],
    [2, ["optimize", ...RUN.slice(1), "-s", "fast=4-24"], "or values with commas between"],
    [1, ["import", "missing.csv"], "there is no such file"],
    [2, ["export", NOBODYS, "trads"], "trades"],
    [2, ["export", NOBODYS], `Cannot export ${NOBODYS}: choose one of trades`],
    [2, ["export", "trials"], "name their optimization"],
    [3, ["list", "--url", nowhere], "Is the service running there?"],
    [3, ["export", NOBODYS, "trades", "--url", nowhere], "Is the service running there?"],
    // The token of this service is for no other; that of the environment is the user's own word.
    [4, RUN, "scope"],
    [4, ["import", `${config}/candles.csv`, "-t", "1d"], "Cannot"],
  ];
  for (const [code, args, said] of cases) {
    const ended = await call(args);
    expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringContaining(said)]);
  }
  const refused = await call([...RUN, "--json"]);
  expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "FORBIDDEN", message: expect.any(String) } });
  // Nobody is signed in, and the address does not stand in the file.
  const stranger = await call(["list"], { HINDCAST_TOKEN: "" });
  expect([stranger.code, stranger.stderr]).toEqual([4, expect.stringContaining("hindcast login")]);
  const exported = await call(["export", NOBODYS, "trades"], { HINDCAST_TOKEN: "" });
  expect([exported.code, exported.stderr]).toEqual([4, expect.stringContaining("hindcast login")]);
  await Deno.mkdir(`${config}/hindcast`);
  await Deno.writeTextFile(`${config}/hindcast/login.json`, JSON.stringify({ url: nowhere, token: "hc_secret" }));
  const elsewhere = await call(["list"], { HINDCAST_TOKEN: "", HINDCAST_URL: service.url });
  expect(elsewhere.code).toBe(4);
  // Others' words that an older version took set no title, clear no screen and turn no text around.
  const strategy = {
    ...{ slug: "hostile", name: "Free", is_public: true, runtime_type: "remote", language: "typescript" },
    initial_version: { version: "1.0", runtime_config: { type: "remote", endpoint: "serve:hostile" } },
  };
  const registered = await (await service.user()).send("POST", "/api/strategies", { strategy });
  expect([registered.status, registered.text]).toEqual([201, expect.any(String)]);
  const words = String.raw`name = E'\u001b]0;owned\u0007Free', description = E'\u001b[2J\u202eclean'`;
  await administer(service.databaseUrl, `update strategies set ${words} where slug = 'hostile'`);
  const shown = await call(["strategies", "show", "hostile"]);
  expect(shown.stdout).toContain("\ufffd]0;owned\ufffdFree");
  expect(/(?!\n)[\p{Cc}\u202e]/u.test(shown.stdout)).toBe(false);
  await close();
});

Deno.test("doctor has the service's own reasons", async () => {
  const { service, call, close } = await openTerminal("run");
  await administer(
    service.databaseUrl,
    "delete from drizzle.__drizzle_migrations where id = (select max(id) from drizzle.__drizzle_migrations)",
  );
  const found = await call(["doctor"]);
  expect([found.code, found.stdout]).toEqual([
    1,
    expect.stringMatching(/ok +service[^]*failed +ready +the database lacks migrations of this version/),
  ]);
  const proxy = startPoorProxy(service.url);
  expect((await call(["doctor", "--url", proxy.url])).stdout).toMatch(/failed +ready +a proxy puts 502 in place of/);
  await proxy.close();
  await close();
});

/** A proxy that puts a page of its own in place of refusals, holds events back, and is slow where the database is asked. */
function startPoorProxy(service: string): { readonly url: string; close(): Promise<void> } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    if (pathname === "/api/health/ready") await new Promise((resume) => setTimeout(resume, 400));
    const { method, headers } = request;
    const body = method === "POST" ? await request.text() : null;
    const answer = await fetch(`${service}${pathname}${search}`, { method, headers, body });
    if (pathname === "/api/health/events") return new Response(await answer.text(), answer);
    if (answer.status !== 401 && answer.status !== 503) return answer;
    await answer.body?.cancel();
    return new Response("<h1>Bad gateway</h1>", { status: 502 });
  });
  return { url: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() };
}

Deno.test("doctor says what is set up and what would fail, and completion knows commands, options and their values", async () => {
  const { service, call, close } = await openTerminal("run");
  const well = await call(["doctor"]);
  expect([well.code, well.stdout]).toEqual([
    0,
    expect.stringMatching(
      /ok +service[^]*ok +ready[^]*ok +browser[^]*ok +refusals[^]*ok +events[^]*(ok|warning) +database[^]*ok +login[^]*ok +data/,
    ),
  ]);
  const proxy = startPoorProxy(service.url);
  const behind = await call(["doctor", "--url", proxy.url]);
  expect([behind.code, behind.stdout]).toEqual([
    1,
    expect.stringMatching(
      /failed +browser +no browser can sign in at [^]*failed +refusals [^]*put[^]*502[^]*failed +events +a proxy/,
    ),
  ]);
  expect(behind.stdout).toMatch(/warning +database +takes [\d.]+ ms to write/);
  await proxy.close();
  const ill = await call(["doctor", "--url", `http://127.0.0.1:${freePort()}`]);
  expect([ill.code, ill.stdout]).toEqual([1, expect.stringMatching(/failed +service/)]);
  expect((await call(["complete", "--", "ru"])).stdout).toMatch(/^run\t/);
  expect((await call(["complete", "--", "universes", "p"])).stdout).toMatch(/^push\t/);
  expect((await call(["complete", "--", "run", "--tim"])).stdout).toMatch(/^--timeframe\t/);
  for (const shell of ["bash", "zsh", "fish"]) {
    expect([shell, (await call(["complete", shell])).stdout]).toEqual([shell, expect.stringContaining("hindcast")]);
  }
  expect((await runTask("hindcast", ["serve", "now"])).stderr).toContain("Cannot use the argument");
  await close();
});

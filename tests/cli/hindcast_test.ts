/** `hindcast` against a real service: what each command prints, how it ends, and what it does with wrong words. */
import { expect } from "@std/expect";
import { administer } from "../support/database.ts";
import { freePort } from "../support/free_port.ts";
import { runTask } from "../support/process.ts";
import { INGESTION_SECRET } from "../support/service.ts";
import { openTerminal, RUN } from "./command_terminal.ts";

const NOBODYS = "00000000-0000-7000-8000-000000000000";

Deno.test("a universe is pushed twice, read and run, and a run over two markets shares one account", async () => {
  const terminal = await openTerminal("run");
  const { call, json, close } = terminal;
  expect((await call(["universes", "push", "pair", "DEMO@SAMPLE,STOCK@SAMPLE"])).stdout).toBe("Made pair.\n");
  expect((await json(["universes", "push", "pair", "DEMO@SAMPLE"])).version.version).toBe(2);
  expect((await json(["universes", "show", "pair", "1"])).members).toHaveLength(2);
  expect((await json(["universes", "list", "pair"])).universes).toMatchObject([{ slug: "pair", latest_version: 2 }]);
  const range = ["2024-02-01", "2024-04-01", "-t", "1d"];
  const both = await json(["run", "equal-weight", "DEMO@SAMPLE,STOCK@SAMPLE", ...range]);
  expect(both.backtest.result.portfolio.contributions).toHaveLength(2);
  const one = await json(["run", "equal-weight", "DEMO@SAMPLE", ...range, "--universe", "pair"]);
  expect(one.backtest.parameters.universe).toBe("pair@2");
  await rotate(terminal);
  expect((await call(["universes", "delete", "pair"])).code).toBe(0);
  await close();
});

/** A strategy that decides on many markets: each way to name them makes one account, and each refusal names a line that works. */
async function rotate({ call, json, config }: Awaited<ReturnType<typeof openTerminal>>) {
  const file = `${config}/turn/strategy.ts`;
  const made = await call(["strategy", "new", `${config}/turn`, "--lang", "typescript", "--portfolio"]);
  expect([made.code, made.stderr]).toEqual([0, ""]);
  const alone = await call(["strategy", "run", file]);
  expect([alone.code, alone.stdout]).toEqual([1, expect.stringMatching(/it decides on many. Instead: hindcast run/)]);
  const { stdout: pushed } = await call(["strategy", "push", file]);
  expect(pushed).toMatch(/^Registered turn, version 1.0.0. Run it: hindcast run turn /);
  for (const said of [alone.stdout, pushed]) {
    const [line = ""] = /(?<=hindcast )run .*/.exec(said) ?? [];
    expect((await json(line.split(" "))).backtest).toMatchObject({ status: "completed", exchange: "SAMPLE" });
  }
  const range = ["2024-02-01", "2024-06-01", "-t", "1d", "-s", "lookback=5,10"];
  const listed = { symbol: "ALDER", parameters: { instruments: [{ symbol: "ALDER" }, { symbol: "OAK" }] } };
  const pair = JSON.stringify([{ symbol: "ALDER", exchange: "SAMPLE" }, { symbol: "OAK", exchange: "SAMPLE" }]);
  const named: readonly (readonly [args: readonly string[], shown: object])[] = [
    [[file, "ALDER@SAMPLE,OAK@SAMPLE", ...range, "--parameters", '{"portfolio":{"missing":"skip"}}'], listed],
    [["momentum-rotation", "ALDER@SAMPLE", ...range, "--parameters", `{"instruments":${pair}}`], listed],
    [["turn", "DEMO@SAMPLE", ...range, "--universe", "pair"], { parameters: { universe: "pair@2" } }],
  ];
  for (const [args, shown] of named) {
    const { optimization } = await json(["optimize", ...args]);
    expect(optimization).toMatchObject({ ...shown, status: "completed", markets: null, trials: { done: 2 } });
  }
}

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
    [1, ["show", NOBODYS], "hindcast list shows backtests, and --kind optimizations, "],
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
    [1, ["export", "trials"], "You have no optimization yet: hindcast optimize makes one"],
    [1, ["show", "01a22031"], "which is not a whole id"],
    [2, ["list", "--kind", "optimization"], "optimizations, monte-carlo, stress-tests"],
    [
      2,
      ["list", "--kind", "optimizations", "--tag", "a"],
      "Cannot use --tag with --kind optimizations, which takes --status",
    ],
    [2, ["--url", nowhere, "list"], "Write --url after the command, as in hindcast list --url"],
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
    expect.stringMatching(/ok +service[^]*failed +ready +the database lacks migrations of this version[^]*ok +login/),
  ]);
  const proxy = startPoorProxy(service.url);
  expect((await call(["doctor", "--url", proxy.url])).stdout).toMatch(/failed +ready +a proxy puts 502 in place of/);
  await proxy.close();
  const database = new URL(service.databaseUrl).pathname.slice(1);
  const elsewhere = new URL("/postgres", service.databaseUrl).href;
  await administer(elsewhere, `alter database "${database}" with allow_connections false`);
  await administer(elsewhere, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
  const away = await call(["doctor"]);
  await administer(elsewhere, `alter database "${database}" with allow_connections true`);
  expect([away.code, away.stdout]).toEqual([
    1,
    // The look at the database a moment ago may still be held.
    expect.stringMatching(
      /failed +service +http\S+ says failed after \d+ ms\n[^]*failed +ready +the (database|queue) /,
    ),
  ]);
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
  const wrong = { HINDCAST_TOKEN: "hc_wrong", INGESTION_ADMIN_SECRET: "wrong" };
  const mistaken = await call(["doctor"], wrong);
  expect([mistaken.code, mistaken.stdout]).toEqual([
    1,
    expect.stringMatching(
      /failed +login +.*unset HINDCAST_TOKEN.*\nfailed +import +INGESTION_ADMIN_SECRET is not .*\nok +data/,
    ),
  ]);
  expect((await call(["doctor"], { INGESTION_ADMIN_SECRET: INGESTION_SECRET })).stdout).toMatch(/ok +import/);
  // No other address than this machine's own is told the secret.
  const unasked = await call(["doctor", "--url", service.url.replace("127.0.0.1", "0.0.0.0")], wrong);
  expect(unasked.stdout).toMatch(/ok +service[^]*ok +data/);
  expect(unasked.stdout).not.toMatch(/INGESTION_ADMIN_SECRET/);
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
  expect((await call(["complete", "--", "list", "--kind", "mo"])).stdout).toMatch(/^monte-carlo/);
  for (const shell of ["bash", "zsh", "fish"]) {
    expect([shell, (await call(["complete", shell])).stdout]).toEqual([shell, expect.stringContaining("hindcast")]);
  }
  expect((await runTask("hindcast", ["serve", "now"])).stderr).toContain("Cannot use the argument");
  await close();
});

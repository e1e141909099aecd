/** The author's commands: accepted and refused strategies, and templates that work unchanged. */
import { expect } from "@std/expect";
import { compileAssemblyScript, compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";
import { serveDecisions, serveJson, startEndpoint } from "../workers/sandbox/remote/endpoints.ts";
import { freePort } from "../support/free_port.ts";
import { blockIn } from "../support/pages.ts";
import { runTask, runTaskCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { DRY_RUN, PARAMETERS, runCommand, writeTemplate } from "./strategy_support.ts";

const EXAMPLES = new URL("../../strategies/examples/", import.meta.url).pathname;
const check = (...args: readonly string[]) => runTaskCommand("strategy", ["check", ...args]);

Deno.test("check accepts a valid module, with a report", async () => {
  const module = `${EXAMPLES}c/sma_cross.wasm`;
  const ended = await runTask("strategy", ["check", module, "--parameters", '{"fast":5,"slow":20}']);
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  expect(ended.stdout).toContain("first decision with 21 candles visible");
  expect(ended.stdout).toMatch(/512 candles, \d+ orders\n {2}orders +passed: The simulator refused none of \d+ orders/);
  expect(ended.stdout).toMatch(/[\d,]+ nanoseconds? a candle/);
  expect(ended.stdout).toContain("Accepted");
});

Deno.test("check accepts a module whose orders are refused, and reports them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  // As a module does that writes a number with its bytes in reverse order.
  const onCandle = `(i32.store (local.get $order) (i32.const 1))
    (i32.store offset=4 (local.get $order) (i32.const 1))
    (i32.store offset=12 (local.get $order) (i32.const 1))
    (f64.store offset=16 (local.get $order) (f64.const 1e-300))
    (i32.const 1)`;
  await Deno.writeFile(`${folder}/turned.wasm`, compileWat(strategyWat({ onCandle })));
  const { code, stdout } = await check(`${folder}/turned.wasm`);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /orders +passed: The simulator refused \d+ of 512 orders: .*smaller than one lot/,
  );
  await Deno.remove(folder, { recursive: true });
});

Deno.test("check has candles for a long warm-up, and says of a strategy that never ordered that no order was tried", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const warm = strategyWat({ init: "(i32.store offset=16 (local.get $frame) (i32.const 600)) (i32.const 0)" });
  await Deno.writeFile(`${folder}/warm.wasm`, compileWat(warm));
  await Deno.writeTextFile(`${folder}/idle.ts`, "strategy(() => ({ decide() {} }));");
  const late = await check(`${folder}/warm.wasm`);
  expect([late.code, late.stdout]).toEqual([
    0,
    expect.stringMatching(/note +The strategy placed no order at any of its 257 decisions[^]*Accepted, but no order/),
  ]);
  await Deno.writeTextFile(`${folder}/late.ts`, "strategy(() => ({ warmup: 600, decide() { null.x; } }));");
  const faulty = await check(`${folder}/late.ts`);
  expect([faulty.code, faulty.stderr]).toEqual([1, expect.stringMatching(/candle 599 .*properties of null/)]);
  const idle = await check(`${folder}/idle.ts`);
  expect([idle.code, idle.stdout]).toEqual([
    0,
    expect.stringMatching(/note +The strategy placed no order at any of its 512 decisions[^]*Accepted, but no order/),
  ]);
  await using endpoint = serveDecisions(() => []);
  const silent = await check(endpoint.url, "--mode", "batch");
  expect([silent.code, silent.stdout]).toEqual([0, expect.stringMatching(/placed no order[^]*Accepted, but no order/)]);
  const patient = await check(endpoint.url, "--mode", "batch", "--lookback", "600");
  expect([patient.code, patient.stdout]).toEqual([0, expect.stringContaining("any of its 856 decisions")]);
  const ran = await runTaskCommand("strategy", ["run", `${folder}/idle.ts`]);
  expect([ran.code, ran.stdout]).toEqual([
    0,
    expect.stringContaining("The strategy placed no order at any of its 512"),
  ]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("check refuses an invalid module with the registration's message", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const trap = compileWat(strategyWat({ onCandle: "unreachable" }));
  const files: readonly (readonly [name: string, content: Uint8Array, said: RegExp])[] = [
    ["text.wasm", new TextEncoder().encode("no module"), /INVALID_MODULE: .*does not begin with/],
    ["trap.wasm", trap, /INVALID_MODULE: Cannot use the module: in its dry run: .*candle 0/],
    ["large.wasm", new Uint8Array(4 * 2 ** 20 + 1), /has 4194305 bytes: at most 4194304 are allowed/],
  ];
  for (const [name, content, said] of files) {
    await Deno.writeFile(`${folder}/${name}`, content);
    const ended = await check(`${folder}/${name}`);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([1, "", expect.stringMatching(said)]);
  }
  const missing = await check(`${folder}/none.wasm`);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("the file does not exist")]);
  const contrary = await check(`${EXAMPLES}c/sma_cross.wasm`, "--parameters", '{"fast":9,"slow":2}');
  expect([contrary.code, contrary.stderr]).toEqual([1, expect.stringContaining("fast must be less than slow")]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("check tries an endpoint on the author's own machine in both modes", async () => {
  await using endpoint = serveDecisions(({ candles: { close } }, i) =>
    i > 0 && close[i]! > close[i - 1]! ? [{ side: "buy", when: "flat" }] : []
  );
  const ended = await check(endpoint.url, "--lookback", "1");
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  for (const part of ["mode batch", "mode step", "lookahead   passed", "warm_up     passed", "microseconds a candle"]) {
    expect(ended.stdout).toContain(part);
  }
  expect(ended.stdout).toContain(`REMOTE_ENDPOINT_ALLOW=${new URL(endpoint.url).host}`);
  const modes = new Set(endpoint.requests.map(({ mode }) => mode));
  expect([...modes]).toEqual(["batch", "step"]);
});

/** The part of a request that a test's endpoint for all markets reads. */
interface AllMarkets {
  readonly version: number;
  readonly markets: readonly {
    readonly id: string;
    readonly candles: { readonly close: readonly number[] };
    readonly inputs: Readonly<Record<string, { readonly candles: { readonly close: readonly number[] } }>>;
  }[];
}

Deno.test("check tries an endpoint for all markets at once, with the inputs that it reads", async () => {
  const seen: AllMarkets[] = [];
  const answer = (request: unknown) => {
    const asked: AllMarkets = JSON.parse(JSON.stringify(request));
    seen.push(asked);
    const rising = asked.markets.filter(({ candles: { close }, inputs: { slow } }) =>
      close.length > 0 && slow!.candles.close.length > 0 && close.at(-1)! > slow!.candles.close.at(-1)!
    );
    return { version: 2, targets: Object.fromEntries(rising.map(({ id }) => [id, 0.9 / rising.length])) };
  };
  await using endpoint = serveJson(answer);
  const ended = await check(endpoint.url, "--mode", "portfolio", "--lookback", "3", "--input", "slow");
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  for (const part of ["mode portfolio", "determinism passed", "Accepted: it follows the protocol"]) {
    expect(ended.stdout).toContain(part);
  }
  expect(seen.length).toBeGreaterThan(500);
  expect([seen[0]!.version, seen.at(-1)!.markets.length]).toEqual([2, 3]);
  await using old = serveJson(() => ({ version: 1, decisions: [] }));
  const refused = await check(old.url, "--mode", "portfolio");
  expect(refused.code).toBe(1);
  expect(refused.stdout).toContain("INVALID_SIGNAL");
});

Deno.test("check refuses an endpoint that breaks the protocol, with the reason", async () => {
  await using wrong = serveJson(() => ({ version: 1, decisions: "none" }));
  const nonsense = await check(wrong.url, "--mode", "batch");
  expect([nonsense.code, nonsense.stdout]).toEqual([1, expect.stringMatching(/INVALID_SIGNAL: .*\/decisions/)]);

  // Decides by the close after the one to decide on: it looks ahead.
  await using prophet = serveDecisions(({ candles: { close } }, i) =>
    close[i + 1] !== undefined && close[i + 1]! > close[i]! ? [{ side: "buy" }] : [{ action: "close" }]
  );
  const peeked = await check(prophet.url, "--mode", "batch", "--lookback", "0");
  expect([peeked.code, peeked.stdout]).toEqual([1, expect.stringMatching(/lookahead +failed: .*candle \d+/)]);

  const absent = await check(`http://127.0.0.1:${freePort()}/`, "--mode", "batch");
  expect([absent.code, absent.stdout]).toEqual([1, expect.stringContaining("nothing listens there")]);
});

Deno.test("wrong arguments end with exit code 2, and --help prints the usage", async () => {
  const wrong: readonly (readonly [args: readonly string[], said: string])[] = [
    [[], "Usage: hindcast strategy"],
    [["build"], "unknown command 'build'"],
    [["chekc"], "Did you mean check?"],
    [["check"], "missing required argument 'strategy'"],
    [["check", "x.wasm", "--parameter", "{}"], "Did you mean --parameters?"],
    [["check", "x.wasm", "--parameters", "[1]"], "one JSON object"],
    [["run", "x.ts", "--parameters", '{"inputs":{}}'], 'only a service has inputs, and resample(candles, "1d")'],
    [["check", "x.wasm", "--parameters", "{"], "Cannot use --parameters {: it must be one JSON object"],
    [["check", "http://127.0.0.1:9/", "--mode", "both"], "batch or step"],
    [["run", "x.ts", "--symbol", "DEMO"], "without --from and --to"],
    [["run", "x.ts", "--from", "2024-01-01"], "without --symbol"],
    [["run", "x.ts", "--symbol", "DEMO", "--data", "x.csv"], "choose one"],
    [["run", "x.ts", "--mode", "both"], "batch or step"],
    [["run", "http://127.0.0.1:9/", "--watch"], "Cannot watch an endpoint"],
    [["new", "my-strategy"], "--lang"],
    [
      ["new", "my-strategy", "--lang", "cobol"],
      "typescript, rust, assemblyscript, c, python, python-endpoint, typescript-endpoint",
    ],
    [["new", "My_Strategy", "--lang", "c"], "lower-case"],
    [["new", "my-strategy", "--lang", "rust", "--portfolio"], "must be typescript or python"],
  ];
  const range = ["--from", "2024-01-01", "--to", "2024-02-01"];
  const failing: typeof wrong = [
    [["run", "x.ts", "--symbol", "D", ...range, "--timeframe", "7m"], "one of 1m"],
    [
      ["run", "x.ts", "--symbol", "D", ...range, "--service", "nowhere"],
      "it is no address such as http://127.0.0.1:8000",
    ],
    [["new", "/no/such/folder/my-strategy", "--lang", "c"], "the folder above does not exist"],
  ];
  for (const [code, lines] of [[2, wrong], [1, failing]] as const) {
    for (const [args, said] of lines) {
      const ended = await runTaskCommand("strategy", args);
      expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringContaining(said)]);
    }
  }
  for (const args of [["--help"], ["check", "--help"], ["new", "--help"], ["run", "--help"]]) {
    const ended = await runTaskCommand("strategy", args);
    expect([ended.code, ended.stderr, ended.stdout]).toEqual([0, "", expect.stringContaining("hindcast strategy")]);
  }
});

Deno.test("new overwrites nothing", async () => {
  await using template = await writeTemplate("c");
  const again = await runTask("strategy", ["new", template.folder, "--lang", "python"]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("nothing is overwritten")]);
  const names = [...Deno.readDirSync(template.folder)].map(({ name }) => name).sort();
  expect(names).toEqual(["AGENTS.md", "README.md", "hindcast.h", "strategy.c", "strategy.test.json"]);
});

Deno.test("the AssemblyScript template is accepted, and its README's commands register and run it", async () => {
  await using template = await writeTemplate("assemblyscript");
  const { folder, readme } = template;
  expect(blockIn(readme, "sh", "asc ")).toContain("asc strategy.ts --outFile strategy.wasm -O3 --runtime stub");
  const read = (name: string) => Deno.readTextFile(`${folder}/${name}`);
  const module = await compileAssemblyScript(await read("strategy.ts"), { "hindcast.ts": await read("hindcast.ts") });
  await Deno.writeFile(`${folder}/strategy.wasm`, module);
  const checking = blockIn(readme, "sh", "strategy check");
  expect(checking).toContain(PARAMETERS);
  // This test's runtime replaces the download of the same one.
  const command = checking.replace(`npx -y deno@${Deno.version.deno}`, Deno.execPath());
  expect(await runCommand(command, folder)).toContain(DRY_RUN);

  const service = await startTestService();
  const user = await service.user();
  const here = (command: string) =>
    command.replaceAll("http://127.0.0.1:8000", service.url).replace("-b jar", `-b '${user.cookie}'`);
  const registered = JSON.parse(await runCommand(here(blockIn(readme, "sh", "/api/strategies")), folder));
  expect(registered).toMatchObject({ strategy: { slug: "my-assemblyscript", runtime_type: "wasm", is_owner: true } });
  const { backtest } = JSON.parse(await runCommand(here(blockIn(readme, "sh", "/api/backtests")), folder));
  expect((await user.finish(backtest.id)).at("/backtest/status")).toBe("completed");

  // The candles that the backtest had, by a run without a registration.
  const run = (to: string, market = "DEMO@SAMPLE") => {
    const range = ["--symbol", market, "--from", "2024-02-01", "--to", to, "--timeframe", "1d"];
    return runTaskCommand("strategy", ["run", `${folder}/strategy.wasm`, ...range, "--service", service.url]);
  };
  const ran = await run("2024-07-01");
  expect([ran.code, ran.stderr]).toEqual([0, ""]);
  expect(ran.stdout).toContain(`DEMO: 151 candles of 1d from ${service.url}`);
  expect(ran.stdout).toMatch(/lookahead +passed/);
  const mistyped = await run("2024-07-01", "DEMOO@SAMPLE");
  expect([mistyped.code, mistyped.stderr]).toEqual([1, expect.stringContaining("DEMOO on SAMPLE: did you mean DEMO?")]);
  const refused = await run("2024-01-01");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(
      /Cannot get candles of DEMO from http:\/\/127\.0\.0\.1:\d+: Cannot use the range: .* must be before/,
    ),
  ]);
  await service.close();
});

Deno.test("run runs an endpoint over candles, and ends with 1 when it fails", async () => {
  await using endpoint = serveDecisions(({ candles: { close } }, i) =>
    i > 0 && close[i]! > close[i - 1]! ? [{ side: "buy", when: "flat" }] : [{ action: "close", when: "long" }]
  );
  for (const mode of ["batch", "step"]) {
    const ended = await runTaskCommand("strategy", ["run", endpoint.url, "--lookback", "1", "--mode", mode]);
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    expect(ended.stdout).toContain(`${endpoint.url}: 512 candles`);
    expect(ended.stdout).toMatch(/The last 8 of \d+ trades/);
    expect(ended.stdout).toMatch(/determinism +passed/);
  }
  expect(new Set(endpoint.requests.map(({ mode }) => mode))).toEqual(new Set(["batch", "step"]));
  await using peeking = serveDecisions(({ candles: { close } }, i) =>
    close.at(-1)! > close[i]! ? [{ side: "buy", when: "flat" }] : [{ action: "close", when: "long" }]
  );
  const peeked = await runTaskCommand("strategy", ["run", peeking.url, "--lookback", "1", "--strict"]);
  expect([peeked.code, peeked.stdout]).toEqual([1, expect.stringMatching(/lookahead +failed/)]);
  await using wrong = serveJson(() => ({ version: 1, decisions: "none" }));
  const failed = await runTaskCommand("strategy", ["run", wrong.url]);
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringMatching(/INVALID_SIGNAL: .*\/decisions/)]);
});

for (const lang of ["python-endpoint", "typescript-endpoint"]) {
  Deno.test(`the ${lang} template is accepted, and its README's commands run and register it`, async () => {
    await using template = await writeTemplate(lang);
    await using endpoint = await startEndpoint(template.folder);
    const ended = await check(endpoint.url, "--lookback", "20", "--parameters", PARAMETERS);
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    expect(ended.stdout.split(DRY_RUN).length).toBe(3);

    // The README asks for this setting while the endpoint is on the author's own machine.
    const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: "127.0.0.1:9000" });
    const user = await service.user();
    const command = blockIn(template.readme, "sh", "/api/strategies").replaceAll("http://127.0.0.1:8000", service.url);
    const said = await runCommand(command.replace("-b jar", `-b '${user.cookie}'`), template.folder);
    expect(JSON.parse(said)).toMatchObject({ strategy: { slug: `my-${lang}`, runtime_type: "remote" } });
    await service.close();
  });
}

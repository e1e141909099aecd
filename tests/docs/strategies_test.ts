/** docs/strategies.md agrees with the catalogue, and its commands work. */
import { expect } from "@std/expect";
import { BUILTINS } from "../../strategies/builtin/catalogue.ts";
import { blockIn, readPage, ROOT, rowsOf, runLines } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";

const PAGE = await readPage("docs/strategies.md");

Deno.test("the table has every built-in strategy with its parameters and their defaults, and no other", () => {
  const rows = rowsOf(PAGE).filter((row) => row.length === 4)
    .map(([slug = "", name, , parameters]) => [slug.slice(1, -1), name, parameters]);
  const expected = BUILTINS.map(({ slug, name, parameter_schema: { properties } }) => {
    const parameters = Object.entries(properties).map(([key, property]) => `\`${key}\` ${property.default}`);
    return [slug, name, parameters.join(", ") || "none"];
  });
  expect(rows).toEqual(expected);
});

Deno.test("the commands of the pages write a strategy and check one", async () => {
  const cwd = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const run = (line: string) =>
    runLines(line.replace(/npx -y deno@\S+ task/, `deno task --config ${ROOT}deno.json -q`), {
      cwd,
      env: { INIT_CWD: cwd },
    });
  const written = await run(blockIn(PAGE, "sh", "--lang rust"));
  expect([written.code, written.stderr]).toEqual([0, ""]);
  expect([...Deno.readDirSync(`${cwd}/my-strategy`)].map(({ name }) => name).toSorted())
    .toEqual(["AGENTS.md", "README.md", "hindcast.rs", "strategy.rs", "strategy.test.json"]);
  // Built elsewhere: not every machine has the compiler.
  await Deno.copyFile(`${ROOT}strategies/examples/rust/sma_cross.wasm`, `${cwd}/my-strategy/strategy.wasm`);
  const checked = await run(blockIn(PAGE, "sh", "strategy check"));
  expect([checked.code, checked.stderr, checked.stdout]).toEqual([0, "", expect.stringContaining("Accepted")]);
  await Deno.remove(`${cwd}/my-strategy`, { recursive: true });
  const python = await run(blockIn(await readPage("README.md"), "sh", "--lang python"));
  expect([python.code, python.stderr]).toEqual([0, ""]);
  await Deno.remove(cwd, { recursive: true });
});

Deno.test("the lines that register a strategy do so", async () => {
  const service = await startTestService();
  const user = await service.user();
  const script = blockIn(PAGE, "sh", "-b jar").replace("http://127.0.0.1:8000", service.url)
    .replaceAll("-b jar", `-b '${user.cookie}'`);
  const { code, stdout, stderr } = await runLines(script);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain('"slug":"my-strategy"');
  expect(stdout).toContain('"versions":[{"version":"1.0.0"');

  const [, body, version, schema] = [...PAGE.matchAll(/^```json\n(.*?)^```/gms)].map(([, text = ""]) =>
    JSON.parse(text)
  );
  const registered = await user.send("POST", "/api/strategies", body);
  expect([registered.status, registered.at("/strategy/slug")]).toEqual([201, "rising"]);
  const added = await user.send("POST", "/api/strategies/rising/versions", version);
  expect([added.status, added.at("/version/version")]).toEqual([201, "1.1.0"]);
  const bare = { symbol: "DEMO", exchange: "SAMPLE", strategy: "Rising", initial_balance: 1000 };
  const backtest = { ...bare, start_date: "2024-01-01", end_date: "2024-02-01", parameters: {} };
  const ended = await user.finish((await user.send("POST", "/api/backtests", { backtest })).at("/backtest/id"));
  expect([ended.at("/backtest/status"), ended.at("/backtest/parameters/timeframe")]).toEqual(["completed", "1h"]);
  const refused = await user.send("POST", "/api/strategies", {
    strategy: { ...body.strategy, slug: "labelled", default_config: {}, parameter_schema: schema },
  });
  expect([refused.status, refused.at("/error/code"), refused.at("/error/message")])
    .toEqual([400, "VALIDATION_FAILED", expect.stringContaining("pattern")]);
  await service.close();
});

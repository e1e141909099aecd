/** Checks every page: its commands, its links, and that a test runs each of its examples. */
import { expect } from "@std/expect";
import { dirname, join } from "node:path";
import manifest from "../../deno.json" with { type: "json" };
import { listFiles, readPage, ROOT } from "../support/pages.ts";

const README_BYTES_MAX = 10_240;
const FILES = await listFiles();
const PAGES = new Map(
  await Promise.all(
    FILES.filter((path) => path.endsWith(".md")).map(async (path) => [path, await readPage(path)] as const),
  ),
);

/** Each example of README.md and docs/: a text that it holds, and the test that runs it by this text. */
const EXAMPLES: readonly (readonly [page: string, holds: string, test: string])[] = [
  ["docs/operating.md", "[Service]", "tests/docs/systemd.ts"],
  ["docs/operating.md", "listen 80;", "tests/support/proxies.ts"],
  ["docs/operating.md", "reverse_proxy", "tests/support/proxies.ts"],
  ["docs/operating.md", "zone hindcast", "tests/support/proxies.ts"],
  ["docs/api.md", "trades?format=csv", "tests/docs/api_test.ts"],
  ["docs/api.md", "pandas.read_csv", "tests/docs/pandas.ts"],
  ["README.md", "task demo", "tests/cli/demo_test.ts"],
  ["README.md", "task test", ".ci/run"],
  ["README.md", "-c jar", "tests/docs/readme_test.ts"],
  ["README.md", "strategy(({ fast = 10", "tests/docs/readme_test.ts"],
  ["README.md", "class Cross(Strategy)", "tests/docs/readme_test.ts"],
  ["README.md", "createTRPCClient", "tests/docs/client_test.ts"],
  ["README.md", "client:build", "tests/client/package_test.ts"],
  ["docs/api.md", "operationId", "tests/client/package_test.ts"],
  ["docs/api.md", '"universe":', "tests/server/universes_test.ts"],
  ["docs/research.md", '"markets":', "tests/server/scans_test.ts"],
  ["docs/portfolios.md", '"instruments":', "tests/server/portfolios_test.ts"],
  ["docs/portfolios.md", "--portfolio", "tests/cli/demo_test.ts"],
  ["docs/agents.md", "mcpServers", "tests/support/agent.ts"],
  ["docs/command_line.md", "hindcast login", "tests/docs/command_line_test.ts"],
  ["docs/command_line.md", "hindcast optimize", "tests/docs/command_line_test.ts"],
  ["docs/command_line.md", "hindcast strategy push", "tests/docs/command_line_test.ts"],
  ["docs/command_line.md", "hindcast strategy serve", "tests/docs/command_line_test.ts"],
  ["docs/command_line.md", "hindcast export", "tests/docs/command_line_test.ts"],
  ["docs/command_line.md", "hindcast import", "tests/docs/command_line_test.ts"],
  ["docs/command_line.md", "hindcast:build", "tests/cli/package_test.ts"],
  ["docs/python.md", "venv", "tests/client/python_test.ts"],
  ["docs/python.md", "commission=0.0005", "tests/client/python_test.ts"],
  ["docs/python.md", "save_universe", "tests/client/python_markets_test.ts"],
  ["docs/python.md", "save_strategy", "tests/client/python_strategies_test.ts"],
  ["docs/python.md", "monte_carlo", "tests/client/python_test.ts"],
  ["docs/python.md", "hindcast.serve(decide", "tests/client/python_test.ts"],
  ["docs/python.md", "serve:breakout", "tests/client/python_test.ts"],
  ["docs/python.md", "groupby", "tests/client/python_frames.ts"],
  ["docs/research.md", "def resample", "tests/docs/research_in_python.ts"],
  ["docs/research.md", "The account out of sample", "tests/docs/research_in_python.ts"],
  ["docs/research.md", "Without the best trades", "tests/docs/research_in_python.ts"],
  ["README.md", "--lang python", "tests/docs/strategies_test.ts"],
  ["docs/api.md", "Authorization: Bearer", "tests/docs/api_test.ts"],
  ["docs/api.md", '"ticks":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"initial_balance":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"constraints": [', "tests/docs/api_test.ts"],
  ["docs/api.md", '"constrained":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"backtest_id":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"ruin_drawdown":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"initial_version":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"members":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"is_owner":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"uptime_seconds":', "tests/docs/api_test.ts"],
  ["docs/api.md", '"request_id":', "tests/docs/api_test.ts"],
  ["docs/api.md", "httpSubscriptionLink", "tests/docs/client_test.ts"],
  ["docs/operating.md", "create-user", "tests/docs/operating_test.ts"],
  ["docs/operating.md", "remove-user", "tests/docs/operating_test.ts"],
  ["docs/operating.md", "AAPL.csv", "tests/docs/operating_test.ts"],
  ["docs/operating.md", "run-once", "tests/docs/operating_test.ts"],
  ["docs/operating.md", "export DATABASE_URL=", "tests/docs/operating_test.ts"],
  ["docs/operating.md", "kill -TERM", "tests/docs/operating_test.ts"],
  ["docs/operating.md", "OTEL_DENO=", "tests/docs/operating_test.ts"],
  ["docs/strategies.md", '"daily": { "timeframe": "1d" }', "tests/server/inputs_test.ts"],
  ["docs/strategies.md", '"closes"', "tests/cli/test_command_test.ts"],
  ["docs/strategies.md", "--lang rust", "tests/docs/strategies_test.ts"],
  ["docs/strategies.md", "strategy check", "tests/docs/strategies_test.ts"],
  ["docs/strategies.md", "-b jar", "tests/docs/strategies_test.ts"],
  ["docs/strategies.md", "rising", "tests/docs/strategies_test.ts"],
  ["docs/strategies.md", "1.1.0", "tests/docs/strategies_test.ts"],
  ["docs/strategies.md", "pattern", "tests/docs/strategies_test.ts"],
];

Deno.test("every command that a page names is a task, run with the pinned runtime", () => {
  const commands = [...PAGES].flatMap(([path, text]) =>
    [...text.matchAll(/(?:npx -y (deno@\S+)|deno) task ([\w:]+)/g)].map(([, version, task]) => ({
      path,
      version,
      task,
    }))
  );
  expect(commands.length).toBeGreaterThan(10);
  for (const { path, version, task = "" } of commands) {
    expect([path, Object.keys(manifest.tasks)]).toEqual([path, expect.arrayContaining([task])]);
    expect([path, version ?? `deno@${Deno.version.deno}`]).toEqual([path, `deno@${Deno.version.deno}`]);
  }
});

Deno.test("every link from a page leads to a file, and to a heading that it has", () => {
  const anchors = (text: string) =>
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-")
    );
  const broken = [...PAGES].flatMap(([path, text]) =>
    [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].filter(([, target = "", anchor]) => {
      const file = target === "" ? path : join(dirname(path), target);
      const isThere = FILES.includes(file) || FILES.some((other) => other.startsWith(`${file}/`));
      return !isThere || (anchor !== undefined && !anchors(PAGES.get(file) ?? "").includes(anchor));
    }).map(([link]) => `${path}: ${link}`)
  );
  expect(broken).toEqual([]);
});

Deno.test("a test runs every example of README.md and docs/", async () => {
  const blocks = [...PAGES].filter(([path]) => path === "README.md" || path.startsWith("docs/"))
    .flatMap(([path, text]) =>
      [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", code = ""]) => ({ path, language, code }))
    ).filter(({ language }) => language !== "text");
  const unknown = blocks.filter(({ path, code }) =>
    !EXAMPLES.some(([page, holds]) => page === path && code.includes(holds))
  );
  expect(unknown).toEqual([]);
  for (const [page, holds, test] of EXAMPLES) {
    expect([page, holds, blocks.some(({ path, code }) => path === page && code.includes(holds))])
      .toEqual([page, holds, true]);
    const source = await Deno.readTextFile(`${ROOT}${test}`);
    const word = test.startsWith("tests/docs/") ? holds : holds.split(" ")[1] ?? holds;
    expect([test, holds, source.includes(word)]).toEqual([test, holds, true]);
  }
});

Deno.test("the README can be read at one sitting", () => {
  expect(new TextEncoder().encode(PAGES.get("README.md")).length).toBeLessThanOrEqual(README_BYTES_MAX);
});

Deno.test("the newest release of the changelog is the version that runs, and has its date", async () => {
  const page = await Deno.readTextFile(`${ROOT}CHANGELOG.md`);
  const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings[0]).toBe("Unreleased");
  expect(headings[1]).toMatch(new RegExp(`^${RegExp.escape(manifest.version)}, \\d{4}-\\d{2}-\\d{2}$`));
});

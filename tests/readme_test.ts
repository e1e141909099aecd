/** What the README says is done here, as it says it. */
import { expect } from "@std/expect";
import manifest from "../deno.json" with { type: "json" };
import {
  BOTH_TOUCHED,
  CLOSES_AT_END,
  EXCLUSIVES,
  FILLS,
  FRACTIONS_OF,
  LIMIT_FILLS,
  PROFILE_DEFAULTS,
  PROFILES,
  SIZING_FEES,
  SIZING_MARKS,
  SIZING_PRICES,
  SIZING_TYPES,
  SPREADS_ON,
  STOP_GAPS,
} from "../engine/execution.ts";
import { METRIC_DEFINITIONS } from "../engine/metrics/definitions.ts";
import { environmentSchema } from "../server/config.ts";
import { startTestService } from "./support/service.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const README = await Deno.readTextFile(`${ROOT}/README.md`);

/** The code blocks of a language that hold a text. */
function block(language: string, holding: string): string {
  const blocks = [...README.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  const found = blocks.find(([, name, text]) => name === language && text?.includes(holding));
  if (found?.[2] === undefined) throw new Error(`Cannot find a ${language} block with ${holding} in the README`);
  return found[2];
}

/** The assumptions that are one of several names. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  profile: PROFILES,
  fill: FILLS,
  sizing: SIZING_TYPES,
  fractionOf: FRACTIONS_OF,
  sizingPrice: SIZING_PRICES,
  sizingMark: SIZING_MARKS,
  sizingFee: SIZING_FEES,
  spreadOn: SPREADS_ON,
  limitFill: LIMIT_FILLS,
  stopGap: STOP_GAPS,
  bothTouched: BOTH_TOUCHED,
  entryCandleExit: ["true", "false", "same_direction"],
  exclusive: EXCLUSIVES,
  closeAtEnd: CLOSES_AT_END,
};

Deno.test("every command that the README names is a task, run with the pinned runtime", () => {
  const commands = [...README.matchAll(/(?:npx -y (deno@\S+)|deno) task ([\w:]+)/g)];
  expect(commands.length).toBeGreaterThan(3);
  for (const [, version, task] of commands) {
    expect(Object.keys(manifest.tasks)).toContain(task);
    if (version !== undefined) expect(version).toBe(`deno@${Deno.version.deno}`);
  }
});

Deno.test("the README's lines of curl go from sign-up to trades", async () => {
  const service = await startTestService("PGlite");
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const script = block("sh", "curl -sf -c jar").replace("http://127.0.0.1:8000", service.url);
  expect(script).toContain(service.url);
  const shell = new Deno.Command("sh", { args: ["-euc", script], cwd: folder, stdout: "piped", stderr: "piped" });
  const { code, stdout, stderr } = await shell.output();
  expect([code, new TextDecoder().decode(stderr)]).toEqual([0, ""]);
  const { trades } = JSON.parse(new TextDecoder().decode(stdout));
  expect(trades.length).toBeGreaterThan(5);
  expect(trades[0]).toMatchObject({ number: 1, side: expect.stringMatching(/^(long|short)$/) });
  await Deno.remove(folder, { recursive: true });
  await service.close();
});

Deno.test("the README's typed client type-checks and runs", async () => {
  const service = await startTestService();
  const user = await service.user();
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const client = block("ts", "createTRPCClient")
    .replace("./routers/app.ts", `${ROOT}routers/app.ts`)
    .replace("http://127.0.0.1:8000", service.url);
  await Deno.writeTextFile(`${folder}/client.ts`, client);
  await Deno.writeTextFile(
    `${folder}/main.ts`,
    `import { strategies } from "./client.ts";\nconst names: string[] = strategies.map((s) => s.name);\nconsole.log(names.join());`,
  );
  const deno = new Deno.Command(Deno.execPath(), {
    args: ["run", "--check", "--config", `${ROOT}deno.json`, "-A", `${folder}/main.ts`],
    env: { HINDCAST_COOKIE: user.cookie, NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await deno.output();
  expect([code, code === 0 ? "" : new TextDecoder().decode(stderr)]).toEqual([0, ""]);
  expect(new TextDecoder().decode(stdout)).toMatch(/SMA Cross/);
  await Deno.remove(folder, { recursive: true });
  await service.close();
});

Deno.test("the README's table of configuration has every variable and no other", () => {
  const rows = [...README.matchAll(/^\| `([A-Z][A-Z_]+)` +\|/gm)].map(([, name]) => name);
  expect(rows.toSorted()).toEqual(Object.keys(environmentSchema.shape).toSorted());
});

Deno.test("the README's list of permissions is what the commands run with", () => {
  const commands = ["start", "worker", "admin", "demo", "strategy"] as const;
  const given = commands.flatMap((command) => {
    const [, run = ""] = manifest.tasks[command].split(/(?:^|&& )deno run /);
    return run.replaceAll('"', "").split(" ").filter((part) => part.startsWith("--"))
      .map((flag) => `${command} ${flag}`);
  });
  const variables = [...Object.keys(environmentSchema.shape), "DENO_DEPLOYMENT_ID"].join();
  const code = "db/migrations,engine,node_modules,strategies/builtin,workers,/proc";
  const rows = [...README.matchAll(/^\| `(--[a-z]+-[^`]+)` +\| ([a-z, ]+?) +\|/gm)];
  const listed = rows.flatMap(([, flag = "", names = ""]) =>
    names.split(", ").map((command) => {
      // Only those that start sandboxes look for a program.
      const own = command === "admin" ? variables : `PATH,${variables}`;
      return `${command} ${flag.replace("CODE", code).replace("VARIABLES", own)}`;
    })
  );
  expect(listed.toSorted()).toEqual(given.toSorted());
});

Deno.test("the README's list of metrics has every one of ours and no other", async () => {
  const sources = await Promise.all(
    ["workers/telemetry.ts", "market/fetch_series.ts", "market/feeds/provider_client.ts"].map((path) =>
      Deno.readTextFile(`${ROOT}${path}`)
    ),
  );
  const made = sources.flatMap((text) =>
    [...text.matchAll(/\.create\w+\("([a-z.]+)", \{[^}]*?unit: "([^"]+)"/g)].map(([, name, unit]) => [name, unit])
  );
  const rows = [...README.matchAll(/^\| `(hindcast\.[a-z.]+)` +\| `([^`]+)`/gm)].map(([, name, unit]) => [name, unit]);
  expect(rows.toSorted()).toEqual(made.toSorted());
});

/** The cells of every row of a table that begins with code. */
const ROWS = README.split("\n").filter((line) => line.startsWith("| `"))
  .map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll("\\|", "|")));

Deno.test("the README defines every metric as the engine does", () => {
  const metrics = Object.entries(METRIC_DEFINITIONS)
    .map(([name, { definition, unit, sample }]) => [`\`${name}\``, unit, definition, sample]);
  expect(ROWS.filter((row) => row.length === 4)).toEqual(metrics);
});

Deno.test("the README names every assumption with its default and all that it may be", () => {
  const codes = (cell = "") => cell.matchAll(/`([^`]+)`/g).map(([, code = ""]) => code).toArray();
  const named = ROWS.filter((row) => row.length === 3 && /^`[a-z]\w*`/.test(row[0]!))
    .flatMap(([keys, defaults, text]) =>
      codes(keys).map((key, k) => ({ key, value: codes(defaults)[k], row: `${defaults} ${text}` }))
    );
  const { commission: _rates, periodsPerYear: _byClass, ...plain } = PROFILE_DEFAULTS.hindcast;
  const defaults = Object.entries(plain).map(([key, value]) =>
    [key, typeof value === "string" ? value : JSON.stringify(value)] as const
  );
  const expected = new Map<string, string | undefined>([...defaults, ["commission", "0"], [
    "periodsPerYear",
    undefined,
  ]]);
  expect(named.map(({ key, value }) => [key, value]).toSorted()).toEqual([...expected].toSorted());
  for (const [key, values] of Object.entries(VALUES)) {
    const { row = "" } = named.find((one) => one.key === key) ?? {};
    for (const value of values) expect([key, row]).toEqual([key, expect.stringContaining(value)]);
  }
});

Deno.test("the README's tree has every folder of the repository and no other", async () => {
  const git = await new Deno.Command("git", { args: ["ls-files"], cwd: ROOT }).output();
  const files = new TextDecoder().decode(git.stdout).split("\n");
  const folders = new Set(files.filter((path) => /^[a-z]+\//.test(path)).map((path) => path.split("/")[0]));
  const named = [...README.matchAll(/^([a-z]+)\/ {2,}\S/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual([...folders].toSorted());
});

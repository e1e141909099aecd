/** What the README says is done here, as it says it; and what holds for every page. */
import { expect } from "@std/expect";
import { dirname, join } from "node:path";
import manifest from "../../deno.json" with { type: "json" };
import { blockIn, readPage, ROOT, runLines } from "../support/pages.ts";
import { withProvider } from "../support/provider.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const README = await readPage("README.md");
const FILES = await listFiles();
const INTERVALS: Readonly<Record<string, number>> = { "1h": 3_600_000, "1d": 86_400_000 };
const PAGES = new Map(
  await Promise.all(
    FILES.filter((path) => path.endsWith(".md")).map(async (path) => [path, await readPage(path)] as const),
  ),
);

/** Every file of the repository. */
async function listFiles(): Promise<readonly string[]> {
  const git = await new Deno.Command("git", { args: ["ls-files", "-co", "--exclude-standard"], cwd: ROOT }).output();
  return new TextDecoder().decode(git.stdout).split("\n").filter((path) => path !== "");
}

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

Deno.test("the README's lines of curl go from sign-up to trades", async () => {
  const service = await startTestService("PGlite");
  const cwd = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const script = blockIn(README, "sh", "-c jar").replace("http://127.0.0.1:8000", service.url);
  expect(script).toContain(service.url);
  // The second time, the user is known.
  for (const lines of [script, script.replace("sign-up", "sign-in")]) {
    const { code, stdout, stderr } = await runLines(lines, { cwd });
    expect([code, stderr]).toEqual([0, ""]);
    const { trades } = JSON.parse(stdout);
    expect(trades.length).toBeGreaterThan(5);
    expect(trades[0]).toMatchObject({ number: 1, side: expect.stringMatching(/^(long|short)$/) });
  }
  await Deno.remove(cwd, { recursive: true });
  await service.close();
});

Deno.test("the README's line imports candles, for who has the secret", async () => {
  const service = await startTestService("PGlite");
  const cwd = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.writeTextFile(`${cwd}/AAPL.csv`, "Volume,Close,Low,High,Open,Date\n10,1.5,0.5,2,1,2024-01-02\n");
  const env = { API: `${service.url}/api`, INGESTION_ADMIN_SECRET: INGESTION_SECRET };
  const { code, stdout, stderr } = await runLines(blockIn(README, "sh", "AAPL.csv"), { cwd, env });
  expect([code, stderr, JSON.parse(stdout)]).toEqual([0, "", expect.objectContaining({ imported: 1, rejected: [] })]);
  await Deno.remove(cwd, { recursive: true });
  await service.close();
});

Deno.test("the README's typed client type-checks and runs", async () => {
  const service = await startTestService();
  const user = await service.user();
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const client = blockIn(README, "ts", "createTRPCClient")
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

Deno.test("the README's tree has every folder of the repository and no other", () => {
  const folders = new Set(FILES.filter((path) => /^[a-z]+\//.test(path)).map((path) => path.split("/")[0]));
  const named = [...README.matchAll(/^([a-z]+)\/ {2,}\S/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual([...folders].toSorted());
});

Deno.test("an operator's lines add an instrument, backfill it, watch the events and read its candles", async () => {
  const exchange = (url: URL) => {
    const get = (name: string) => Number(url.searchParams.get(name));
    const length = INTERVALS[url.searchParams.get("interval") ?? ""] ?? 0;
    const rows = [];
    for (let time = get("startTime"); time <= get("endTime") && rows.length < 1000; time += length) {
      rows.push([time, "1", "2", "0.5", "1.5", "10", time + length - 1, "0", 1, "0", "0", "0"]);
    }
    return Response.json(rows);
  };
  await withProvider(exchange, async (baseUrl) => {
    const service = await startTestService("PostgreSQL", { BINANCE_BASE_URL: baseUrl });
    const script = blockIn(README, "sh", "run-once").replace("http://127.0.0.1:8000", service.url);
    const { code, stdout, stderr } = await runLines(script, { env: { INGESTION_ADMIN_SECRET: INGESTION_SECRET } });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain('"schedule":"5 * * * *"');
    expect(stdout).toContain('"status":"queued"');
    // Thirty-one days of January, whether the run had come to them or they were fetched for the request.
    expect(stdout.match(/^2024-01-..T00:00:00.000Z,1,2,0.5,1.5,\d+$/gm)?.length).toBe(31);
    await service.close();
  });
});

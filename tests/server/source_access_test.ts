/** The code of a public strategy: its owner decides who reads it, and nothing else shows it. */
import { expect } from "@std/expect";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { TestClient } from "../support/client.ts";
import { runTaskCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";
import { RANGE, registration } from "./foreign_code.ts";

/** A word that no answer but the source has. */
const SECRET = "mySecretThreshold";
const source = `strategy(({ fast }) => ({
  decide(i, { close }, account, orders) {
    const ${SECRET} = 100;
    console["log"]("decided", i);
    if (i === 240 && fast === 99) missing();
    if (close[i] > ${SECRET}) orders.buy();
  },
}));`;
const script = { ...registration("guarded", { type: "script", source }), language: "typescript", is_public: true };
const ARTIFACT = "/api/strategies/guarded/versions/1.0/artifact";

Deno.test("a hidden source never leaves: not by lists, versions, runs, logs, errors or agents", async () => {
  const service = await startTestService("PostgreSQL");
  const [owner, other] = [await service.user(), await service.user()];
  const created = await owner.send("POST", "/api/strategies", { strategy: script });
  expect([created.status, created.at("/strategy/source_access")]).toEqual([201, "hidden"]);
  const second = { version: "2.0", runtime_config: { type: "script", source: `${source}\n// ${SECRET}` } };
  expect((await owner.send("POST", "/api/strategies/guarded/versions", { version: second })).status).toBe(201);
  const sha256 = created.at("/version/sha256");
  const texts = await readEverything(other, sha256);
  const agent = await callAgent(other, service.url);
  for (const text of [...texts, agent]) expect(text).not.toContain(SECRET);
  for (const version of ["1.0", "2.0", "latest"]) {
    const refused = await other.get(`/api/strategies/guarded/versions/${version}/artifact`);
    expect([refused.status, refused.at("/error/message")]).toEqual([
      403,
      "Cannot download guarded: its owner keeps its code hidden",
    ]);
  }
  const input = encodeURIComponent(JSON.stringify({ slug: "guarded", version: "1.0" }));
  expect((await other.get(`/trpc/strategies.artifact?input=${input}`)).status).toBe(403);
  // Only the owner opens it, and what is private opens nothing.
  expect((await other.send("PATCH", "/api/strategies/guarded", { strategy: { source_access: "open" } })).status)
    .toBe(403);
  await owner.send("PATCH", "/api/strategies/guarded", { strategy: { source_access: "open", is_public: false } });
  expect((await other.get(ARTIFACT)).status).toBe(404);
  expect((await owner.get(ARTIFACT)).text).toBe(source);
  await service.close();
});

Deno.test("an open source is read, copied by a command and kept by an agent, until its owner hides it", async () => {
  const service = await startTestService("PostgreSQL");
  const [owner, other] = [await service.user(), await service.user()];
  const strategy = { ...script, source_access: "open" };
  expect((await owner.send("POST", "/api/strategies", { strategy })).at("/strategy/source_access")).toBe("open");
  expect((await other.get("/api/strategies/guarded")).at("/strategy/source_access")).toBe("open");
  expect((await other.get(ARTIFACT)).text).toBe(source);
  expect(JSON.parse(await callAgent(other, service.url))).toMatchObject({
    slug: "guarded",
    text: { written_by_another_user: source },
  });
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const secret = await makeToken(other);
  const call = (...args: string[]) =>
    runTaskCommand("hindcast", args, {
      HINDCAST_URL: service.url,
      HINDCAST_TOKEN: secret,
      XDG_CONFIG_HOME: folder,
    });
  const file = `${folder}/my-own.ts`;
  const copied = await call("strategies", "source", "guarded", file);
  expect([copied.code, copied.stdout]).toEqual([0, expect.stringContaining("hindcast strategy push my-own.ts")]);
  expect(await Deno.readTextFile(file)).toBe(source);
  const again = await call("strategies", "source", "guarded", file);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("it exists, and nothing is overwritten")]);
  const schema = `${folder}/schema.json`;
  const push = (...more: string[]) => call("strategy", "push", file, "--slug", "my-own", "--schema", schema, ...more);
  await Deno.writeTextFile(schema, '{"type":"object","properties":{"fast":{"type":"integer"}}}');
  expect((await push("--public", "--open")).code).toBe(0);
  expect((await push()).stdout).toBe("my-own has version 1.0.1 now.\n");
  await Deno.writeTextFile(schema, '{"type":"object"}');
  const kept = await push();
  expect([kept.code, kept.stderr]).toEqual([2, expect.stringContaining("my-own keeps the schema of its registration")]);
  // The empty schema of a registration is shown with the names that the code reads, and stays the same one.
  await Deno.writeTextFile(schema, '{"type":"object","properties":{}}');
  for (const version of ["1.0.0", "1.0.1"]) {
    const pushed = await call("strategy", "push", file, "--slug", "no-schema", "--schema", schema);
    expect([pushed.code, pushed.stderr, pushed.stdout]).toEqual([0, "", expect.stringContaining(version)]);
  }
  expect((await owner.get("/api/strategies/my-own")).at("/strategy/source_access")).toBe("open");
  await owner.send("PATCH", "/api/strategies/guarded", { strategy: { source_access: "hidden" } });
  expect((await other.get(ARTIFACT)).status).toBe(403);
  await Deno.remove(folder, { recursive: true });
  await service.close();
});

Deno.test("a module may be open, an endpoint has nothing to open", async () => {
  const service = await startTestService();
  const [owner, other] = [await service.user(), await service.user()];
  const bytes = compileWat(strategyWat({}));
  const module = registration("open-module", { type: "wasm", artifact: { content_base64: bytes.toBase64() } });
  const strategy = { ...module, is_public: true, source_access: "open" };
  expect((await owner.send("POST", "/api/strategies", { strategy })).status).toBe(201);
  const read = await fetch(`${service.url}/api/strategies/open-module/versions/1.0/artifact`, {
    headers: { cookie: other.cookie },
  });
  expect(new Uint8Array(await read.arrayBuffer())).toEqual(new Uint8Array(bytes));
  const remote = registration("far", { type: "remote", endpoint: "https://strategies.example.com/decide" });
  const refused = await owner.send("POST", "/api/strategies", { strategy: { ...remote, source_access: "open" } });
  expect([refused.status, refused.at("/error/issues/0")]).toEqual([400, {
    path: "/strategy/source_access",
    message: "must be hidden for an endpoint: its code is not here",
  }]);
  expect((await owner.send("POST", "/api/strategies", { strategy: remote })).status).toBe(201);
  const opened = await owner.send("PATCH", "/api/strategies/far", { strategy: { source_access: "open" } });
  expect([opened.status, opened.at("/error/code")]).toEqual([400, "VALIDATION_FAILED"]);
  await service.close();
});

/** Everything that the API tells a user of another's public script, and of their own runs of it. */
async function readEverything(user: TestClient, sha256: unknown): Promise<readonly string[]> {
  const backtest = { ...RANGE, strategy: "guarded", parameters: { timeframe: "1h", fast: 99 } };
  const id = (await user.send("POST", "/api/backtests", { backtest })).at("/backtest/id");
  const done = await user.finish(id);
  expect(done.at("/backtest/error/message")).toMatch(/missing is not defined at decide \(strategy\.ts:5:35\)/);
  const byHash = { ...backtest, parameters: { timeframe: "1h", runtime: { type: "script", sha256 } } };
  const stolen = await user.send("POST", "/api/backtests", { backtest: byHash });
  expect([stolen.status, stolen.at("/error/code")]).toEqual([400, "VALIDATION_FAILED"]);
  const paths = [
    ...["/api/strategies", "/api/strategies?view=summary", "/api/strategies/guarded"],
    ...["/api/strategies/guarded/versions", `/api/strategies?search=${SECRET}`],
    ...["", "/log", "/series", "/trades", "/orders"].map((part) => `/api/backtests/${id}${part}`),
  ];
  const answers = await Promise.all(paths.map((path) => user.get(path)));
  expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 200));
  expect(answers.find(({ text }) => text.includes("decided 239"))).toBeDefined();
  return [done.text, stolen.text, ...answers.map(({ text }) => text)];
}

async function makeToken(user: TestClient): Promise<string> {
  return String((await user.send("POST", "/api/tokens", { token: { name: "agent", scope: "run" } })).at("/secret"));
}

/** The answer of an agent's tool that reads strategies. */
async function callAgent(user: TestClient, url: string): Promise<string> {
  const client = new Client({ name: "a test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${await makeToken(user)}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  const { content } = await client.callTool({ name: "read_strategy", arguments: { slug: "guarded" } });
  await client.close();
  const [first] = content;
  return first?.type === "text" ? first.text : "";
}

/** Two copies of main.ts as Deno Deploy runs them: no processes, no writable files, one database; a worker elsewhere. */
import { expect } from "@std/expect";
import { connectAgent } from "./support/agent.ts";
import { BACKTEST, TestClient } from "./support/client.ts";
import { createTestDatabase } from "./support/database.ts";
import { freePort } from "./support/free_port.ts";
import { ROOT } from "./support/pages.ts";
import { prepare } from "./support/prepare.ts";
import { startProcess } from "./support/process.ts";
import { readUntil } from "./support/until.ts";

const SECRET = "a secret of at least 32 characters";
/** An author's program, which decides by an example of ours. */
const PROGRAM = `
import hindcast, sma_cross
hindcast.serve(sma_cross.decide, "mine", log=lambda line: None)
`;

/** Serves main.ts's default export under the rights that the platform gives. */
async function startCopy(port: number, environment: Readonly<Record<string, string>>) {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      ...["serve", "--no-prompt", "--allow-net", "--allow-env", "--allow-sys", "--allow-read"],
      ...["--host", "127.0.0.1", "--port", String(port), "main.ts"],
    ],
    cwd: new URL("..", import.meta.url),
    env: { NO_COLOR: "1", LOG_LEVEL: "error", DENO_DEPLOYMENT_ID: "a revision", ...environment },
    stderr: "piped",
  }).spawn();
  const errors = process.stderr.pipeThrough(new TextDecoderStream()).getReader();
  const said = await readUntil(errors, /http:\S+:\d+/);
  // Its later output must not fill the pipe.
  const rest = (async () => {
    let text = "";
    for (let part = await errors.read(); !part.done; part = await errors.read()) text += part.value;
    return text;
  })();
  const end = async () => {
    process.kill("SIGKILL");
    await process.status;
    // Deno itself says where it listens, and on an empty cache what it fetches.
    return (said + await rest).split("\n").filter((line) => line !== "" && !/^(deno serve: |Download )/.test(line));
  };
  return { url: `http://127.0.0.1:${port}`, end };
}

Deno.test("as on Deno Deploy, two copies that may write no file and start no process serve a user together", async (t) => {
  await prepare("console");
  const database = await createTestDatabase("service");
  const ports = [freePort(), freePort()] as const;
  // Both are behind the platform's one address.
  const environment = {
    DATABASE_URL: database.url,
    BETTER_AUTH_SECRET: SECRET,
    BASE_URL: `http://127.0.0.1:${ports[0]}`,
  };
  const worker = await startProcess("worker", { DATABASE_URL: database.url, BETTER_AUTH_SECRET: SECRET });
  const copies = await Promise.all(ports.map((port) => startCopy(port, environment)));
  const [first, second] = copies.map(({ url }) => new TestClient(url));
  if (first === undefined || second === undefined) throw new Error("Cannot be without two copies");

  await t.step("one signs up a user, whom the other knows", async () => {
    const email = await first.signUp();
    second.cookie = first.cookie;
    expect((await second.get("/api/session")).at("/user/email")).toBe(email);
    expect((await second.get("/api/health")).at("/workers")).toBe("alive");
  });
  let id: unknown;
  await t.step("one takes a run, and the other streams its end and reads the result", async () => {
    const submitted = await first.send("POST", "/api/backtests", { backtest: BACKTEST });
    id = submitted.at("/backtest/id");
    expect([submitted.status, submitted.at("/backtest/status")]).toEqual([202, "queued"]);
    const stream = await fetch(`${second.url}/api/backtests/${id}/events`, { headers: { cookie: second.cookie } });
    const events = await stream.text();
    expect(events).toContain('"status":"completed"');
    const results = await Promise.all([first, second].map((client) => client.get(`/api/backtests/${id}`)));
    const [one, other] = results.map((answer) => answer.at("/backtest"));
    expect(one).toMatchObject({ status: "completed", result: { metrics: { trades: expect.any(Number) } } });
    expect(other).toEqual(one);
    expect((await second.get(`/api/backtests/${id}/trades`)).status).toBe(200);
  });
  await t.step("code that a user brings to one runs on the worker", async () => {
    const runtime = { type: "script", source: "strategy(() => ({ decide() {} }));" };
    const backtest = { ...BACKTEST, strategy: "own", parameters: { timeframe: "1h", runtime } };
    const submitted = await second.send("POST", "/api/backtests", { backtest });
    expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
    expect((await first.finish(submitted.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
  });
  await t.step("an author's program asks one for what the other was told to run", async () => {
    const made = await first.send("POST", "/api/tokens", { token: { name: "my model", scope: "serve" } });
    const program = new Deno.Command("python3", {
      args: ["-c", PROGRAM],
      env: {
        PYTHONPATH: `${ROOT}client/python:${ROOT}strategies/examples/python`,
        ...{ HINDCAST_URL: first.url, HINDCAST_TOKEN: String(made.at("/secret")), HOME: "/nonexistent" },
      },
    }).spawn();
    const own = { fast: 3, slow: 8, direction: "both" };
    const runtime = { type: "remote", endpoint: "serve:mine", lookbackCandles: 9 };
    const parameters = { ...BACKTEST.parameters, ...own, runtime };
    const submitted = await second.send("POST", "/api/backtests", {
      backtest: { ...BACKTEST, strategy: "Mine", parameters },
    });
    const ended = await second.finish(submitted.at("/backtest/id"));
    program.kill("SIGKILL");
    await program.status;
    expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
    expect(ended.at("/backtest/result/metrics/trades")).toBeGreaterThan(0);
  });
  await t.step("both serve the console, whole", async () => {
    for (const client of [first, second]) {
      const page = await client.get("/runs", { accept: "text/html" });
      expect([page.status, page.headers.get("content-type")]).toEqual([200, expect.stringContaining("text/html")]);
      const [asset] = /\/assets\/[^"]+\.js/.exec(page.text) ?? [];
      expect((await client.get(String(asset))).status).toBe(200);
    }
  });
  await t.step("an agent's calls go to any of them", async () => {
    const made = await first.send("POST", "/api/tokens", { token: { name: "agent", scope: "run" } });
    for (const service of copies) {
      const agent = await connectAgent(service, String(made.at("/secret")));
      expect(await agent.call("read_backtest", { id })).toMatchObject({ status: "completed" });
      await agent.close();
    }
  });
  const said = await Promise.all(copies.map(({ end }) => end()));
  expect(said).toEqual([[], []]);
  await worker.end("SIGTERM");
  await database.drop();
});

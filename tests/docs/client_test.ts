/** The typed clients of README.md and docs/api.md type-check and run. One program holds both: checking its types takes longest. */
import { expect } from "@std/expect";
import { BACKTEST } from "../support/client.ts";
import { blockIn, exampleOf, readPage, ROOT } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";

const MAIN = `import { api } from "./following.ts";
import { strategies } from "./reading.ts";
const say = (line: string) => Deno.stdout.writeSync(new TextEncoder().encode(line + "\\n"));
const names: string[] = strategies.map((strategy) => strategy.name);
say(names.join());
const { backtest: { id } } = await api.backtests.create.mutate({ backtest: REQUEST });
api.backtests.onEvent.subscribe({ id }, {
  onData: ({ status }: { status: "queued" | "running" | "completed" | "failed" | "cancelled" }) => say(status),
  onComplete: () => Deno.exit(0),
});`;

Deno.test("the typed clients of the pages type-check, list strategies and follow a backtest to its end", async () => {
  const service = await startTestService();
  const user = await service.user();
  // A browser would send the cookie by itself; the runtime's EventSource sends none.
  const proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    headers.set("cookie", user.cookie);
    const { method, signal } = request;
    const body = method === "POST" ? await request.text() : null;
    return await fetch(`${service.url}${pathname}${search}`, { method, headers, body, signal });
  });
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const write = (name: string, code: string, url: string) =>
    Deno.writeTextFile(
      `${folder}/${name}.ts`,
      code.replace("./routers/app.ts", `${ROOT}routers/app.ts`).replace("http://127.0.0.1:8000", url),
    );
  const page = await readPage("docs/api.md");
  await write("reading", blockIn(await readPage("README.md"), "ts", "createTRPCClient"), service.url);
  await write("following", blockIn(page, "ts", "httpSubscriptionLink"), `http://127.0.0.1:${proxy.addr.port}`);
  const { backtest } = JSON.parse(blockIn(page, "json", '"initial_balance":'));
  await write("main", MAIN.replace("REQUEST", JSON.stringify(backtest)), service.url);
  const deno = new Deno.Command(Deno.execPath(), {
    args: ["run", "--check", "--config", `${ROOT}deno.json`, "-A", `${folder}/main.ts`],
    env: { HINDCAST_COOKIE: user.cookie, NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await deno.output();
  expect([code, code === 0 ? "" : new TextDecoder().decode(stderr)]).toEqual([0, ""]);
  expect(new TextDecoder().decode(stdout)).toMatch(/^[^\n]*SMA Cross[^]*\ncompleted\n$/);
  await Deno.remove(folder, { recursive: true });
  await proxy.shutdown();
  await service.close();
});

Deno.test("the examples of the typed client's declaration type-check and run", async () => {
  const service = await startTestService();
  const user = await service.user();
  const made = await user.send("POST", "/api/tokens", { token: { name: "a program", scope: "run" } });
  const create = await exampleOf("client/index.ts", "export function createHindcast(");
  const pages = await exampleOf("client/index.ts", "export async function* allPages<");
  const program = `import { allPages, createHindcast } from "${ROOT}client/index.ts";
const token = ${JSON.stringify(made.at("/secret"))};
const request = ${JSON.stringify(BACKTEST)};
const printed: object[] = [];
const print = (trades: readonly object[]) => void printed.push(...trades);
${create.replace("http://127.0.0.1:8000", service.url)}
const { id } = backtest;
${pages}
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify([id, status, printed.length, result?.metrics.trades])));
Deno.exit(0);`;
  const file = await Deno.makeTempFile({ prefix: "hindcast-test-", suffix: ".ts" });
  await Deno.writeTextFile(file, program);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--check", "--config", `${ROOT}deno.json`, "-A", file],
    env: { NO_COLOR: "1" },
  }).output();
  expect([code, code === 0 ? "" : new TextDecoder().decode(stderr)]).toEqual([0, ""]);
  const [id, status, printed, closed] = JSON.parse(new TextDecoder().decode(stdout));
  const { length } = (await user.get(`/api/backtests/${id}/trades`)).list("/trades");
  expect([status, printed, closed > 0 && closed <= length]).toEqual(["completed", length, true]);
  await Deno.remove(file);
  await service.close();
});

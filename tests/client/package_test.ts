/** The package of the typed client, and a client made from the description of the API, work without the sources. */
import { expect } from "@std/expect";
import manifest from "../../deno.json" with { type: "json" };
import { connectBrowser, openPage } from "../support/browser.ts";
import { BACKTEST } from "../support/client.ts";
import { blockIn, readPage, ROOT } from "../support/pages.ts";
import { runIn } from "../support/run_in.ts";
import { startTestService } from "../support/service.ts";

const TYPESCRIPT = manifest.scopes["./client/"].typescript.split("@").at(-1);
const INSTALLED = [
  `typescript@${TYPESCRIPT}`,
  "@types/node@20.19.9",
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
];
const NOBODYS = "00000000-0000-7000-8000-000000000000";

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    // TypeScript has tested its own declarations; those of the packages are checked.
    skipDefaultLibCheck: true,
    skipLibCheck: false,
    module: "nodenext",
    target: "es2022",
    outDir: "out",
    types: ["node"],
  },
  include: ["*.ts"],
};

// It goes on where the package's README ends.
const MORE = `
import { type AppRouter, type ErrorCode, type Inputs, isHindcastError, type Outputs } from "@hindcast/client";
type IsAny<Type> = 0 extends 1 & Type ? true : false;
const known: [IsAny<AppRouter>, IsAny<Inputs["backtests"]["create"]>, IsAny<Outputs["backtests"]["get"]>] = [false, false, false];

const statuses: ("queued" | "running" | "completed" | "failed" | "cancelled")[] = [];
await waitFor(backtest, { onProgress: (record) => statuses.push(record.status) });
const profit: number | null | undefined = result?.metrics.total_return;
let pages = 0;
for await (const { trades } of allPages((page) => api.backtests.trades.query({ id: backtest.id, limit: 2, ...page }))) {
  pages += trades.length === 0 ? 0 : 1;
}
const refused: unknown = await waitFor({ id: "${NOBODYS}" }).catch((error: unknown) => error);
if (!isHindcastError(refused)) throw refused;
const code: ErrorCode | undefined = refused.data?.appCode;
const stop = new AbortController();
const left: unknown = await waitFor(backtest, { signal: stop.signal, onProgress: () => stop.abort("enough") })
  .catch((reason: unknown) => reason);

const sent: string[] = [];
const send = globalThis.fetch;
globalThis.fetch = (input, init) => {
  sent.push(String(input));
  return send(input, init);
};
const [{ session }, health] = await Promise.all([api.session.get.query(), api.health.get.query()]);
const said = { known, status, last: statuses.at(-1), profit, pages, code, left, scope: session.scope, health: health.status, sent };
process.stdout.write("\\n" + JSON.stringify(said));
`;

const WRONG = `import { createHindcast } from "@hindcast/client";
const { api, waitFor } = createHindcast({ url: "http://127.0.0.1:8000" });
export const sent = api.backtests.get.query({ id: 1 });
export const unknown = api.backtests.gets;
export const empty = api.backtests.create.mutate({ backtest: { symbol: "DEMO" } });
export const got: string = (await api.backtests.get.query({ id: "1" })).backtest.initial_balance;
export const ended = (await waitFor({ id: "1" })).status === "done";
`;

const REST = `import createClient from "openapi-fetch";
import type { paths } from "./described.js";
const client = createClient<paths, "application/json">({ baseUrl: "URL", headers: { authorization: "Bearer TOKEN" } });
const made = await client.POST("/api/backtests", { body: { backtest: BACKTEST } });
if (made.data === undefined) throw new Error(made.error.error.message);
const path = { id: made.data.backtest.id };
const ended = await client.GET("/api/backtests/{id}", { params: { path, query: { wait: 30 } } });
const listed = await client.GET("/api/backtests/{id}/trades", { params: { path } });
const sides = listed.data?.trades.map((trade) => trade.side);
process.stdout.write(JSON.stringify({ status: ended.data?.backtest.status, sides }));
`;

// A frontend that its own build makes, on another origin.
const PAGE = `<!doctype html><title>A frontend</title><pre></pre><script type="module" src="./page.ts"></script>`;
const FRONTEND = `import { createHindcast, isHindcastError } from "@hindcast/client";
const { api, waitFor } = createHindcast({ url: "URL", token: "TOKEN" });
const show = (said: unknown) => document.querySelector("pre")!.textContent = JSON.stringify(said);
try {
  const { session } = await api.session.get.query();
  const { backtest } = await api.backtests.create.mutate({ backtest: BACKTEST });
  const { status } = await waitFor(backtest);
  const refused: unknown = await waitFor({ id: "${NOBODYS}" }).catch((error: unknown) => error);
  show({ scope: session.scope, status, code: isHindcastError(refused) && refused.data?.appCode });
} catch (error) {
  show(isHindcastError(error) && error.data === undefined ? "no answer" : String(error));
}
`;

Deno.test(
  "clients that are installed with npm compile strictly, notice wrong types and run in Node and a browser",
  async (t) => {
    const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
    const frontend = serveFiles(`${folder}/built`);
    // Each name below localhost is a site of its own.
    const origin = `http://app.localhost:${frontend.port}`;
    const service = await startTestService("PostgreSQL", { TRUSTED_ORIGINS: origin });
    const user = await service.user();
    const made = await user.send("POST", "/api/tokens", { token: { name: "a program", scope: "run" } });
    const complete = (code: string) =>
      code.replace("http://127.0.0.1:8000", service.url).replace("URL", service.url)
        .replace(/hc_\.\.\.|TOKEN/, String(made.at("/secret"))).replace("BACKTEST", JSON.stringify(BACKTEST));
    const write = (name: string, text: string) => Deno.writeTextFile(`${folder}/${name}`, text);
    const run = (...command: readonly [string, ...string[]]) => runIn(folder, command);

    await t.step("the package is packed and installed", async () => {
      const lines = blockIn(await readPage("README.md"), "sh", "client:build");
      const packed = await runIn(ROOT, ["sh", "-euc", lines.replace("npx -y deno@2.9.6", Deno.execPath())]);
      expect([packed.code, packed.code === 0 ? "" : packed.stderr]).toEqual([0, ""]);
      const declaration = await Deno.readTextFile(`${ROOT}dist/client/index.d.ts`);
      const imported = [...declaration.matchAll(/from "([^"]+)"/g)].map(([, name = ""]) => name);
      expect(new Set(imported)).toEqual(new Set(["@trpc/client", "@trpc/server"]));
      const file = `${ROOT}dist/${packed.stdout.trim().split("\n").at(-1)}`;
      await write("package.json", JSON.stringify({ private: true, type: "module" }));
      const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--silent"];
      expect((await run("npm", "install", ...quiet, file, ...INSTALLED)).code).toBe(0);
    });
    await t.step("strict TypeScript accepts right programs, and notices each wrong type", async () => {
      const described = await run(
        "node",
        "node_modules/openapi-typescript/bin/cli.js",
        `${service.url}/openapi.json`,
        "-o",
        "described.d.ts",
      );
      expect(described.code).toBe(0);
      await write("tsconfig.json", JSON.stringify(TSCONFIG));
      await write(
        "main.ts",
        complete(blockIn(await readPage("client/package_readme.md"), "ts", "createHindcast")) + MORE,
      );
      await write("wrong.ts", WRONG);
      await write("rest.ts", complete(REST));
      const { stdout } = await run("node", "node_modules/typescript/bin/tsc");
      expect(
        stdout.split("\n").filter((line) => /^\S/.test(line)).map((line) => line.replace(/,\d+\)(.*?TS\d+).*/, ")$1")),
      )
        .toEqual([
          "wrong.ts(3): error TS2322",
          "wrong.ts(4): error TS2551",
          "wrong.ts(5): error TS2739",
          "wrong.ts(6): error TS2322",
          "wrong.ts(7): error TS2367",
        ]);
    });
    await t.step("the package follows a backtest, reads pages, and passes refusals on", async () => {
      const { code, stdout, stderr } = await run("node", "out/main.js");
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^(long|short) -?[\d.]+\n/);
      expect(JSON.parse(stdout.split("\n").at(-1)!)).toEqual({
        known: [false, false, false],
        status: "completed",
        last: "completed",
        profit: expect.any(Number),
        pages: 14,
        code: "BACKTEST_NOT_FOUND",
        left: "enough",
        scope: "run",
        health: "ok",
        sent: [`${service.url}/trpc/session.get,health.get?batch=1&input=%7B%7D`],
      });
    });
    await t.step("the package works in a browser, built by Vite, from a trusted origin and from no other", async () => {
      await write("index.html", PAGE);
      await write("page.ts", complete(FRONTEND));
      const built = await run(
        "node",
        `${ROOT}node_modules/vite/bin/vite.js`,
        "build",
        "--outDir",
        "built",
        "-l",
        "warn",
      );
      expect([built.code, built.stderr]).toEqual([0, ""]);
      const browser = await connectBrowser();
      const open = async (address: string) => {
        const { page, complaints } = await openPage(browser);
        await page.goto(address);
        const said = await page.locator("pre:not(:empty)").textContent();
        await page.context().close();
        return { said: JSON.parse(said ?? ""), complaints };
      };
      const { said, complaints } = await open(origin);
      expect(said).toEqual({ scope: "run", status: "completed", code: "BACKTEST_NOT_FOUND" });
      expect(complaints).toEqual([]);
      const stranger = await open(origin.replace("app.", "other."));
      expect(stranger.said).toBe("no answer");
      expect(stranger.complaints.join()).toMatch(/blocked by CORS policy: Response to preflight request/);
      await browser.close();
    });
    await t.step("the description of the API makes a client that submits, waits and reads trades", async () => {
      const { code, stdout, stderr } = await run("node", "out/rest.js");
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toEqual({ status: "completed", sides: expect.arrayContaining(["long", "short"]) });
    });
    await t.step("Python's standard library calls operations by their ids", async () => {
      await write("call.py", blockIn(await readPage("docs/api.md"), "python", "operationId"));
      const env = { HINDCAST_URL: service.url, HINDCAST_TOKEN: String(made.at("/secret")) };
      const { code, stdout, stderr } = await runIn(folder, ["python3", "call.py"], env);
      expect([code, stderr]).toEqual([0, ""]);
      expect(stdout).toMatch(/^completed 27 (long|short)\n$/);
    });
    await service.close();
    await frontend.close();
    await Deno.remove(folder, { recursive: true });
  },
);

/** Serves the files of a folder, as a host of static pages does. */
function serveFiles(folder: string) {
  const types: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript" };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const name = pathname === "/" ? "/index.html" : pathname;
    const file = await Deno.readFile(folder + name).catch(() => null);
    const headers = { "content-type": types[name.split(".").at(-1) ?? ""] ?? "application/octet-stream" };
    return file === null ? new Response(null, { status: 204 }) : new Response(file, { headers });
  });
  return { port: server.addr.port, close: () => server.shutdown() };
}

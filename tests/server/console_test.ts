import { expect } from "@std/expect";
import { Hono } from "hono";
import { gunzipSync, gzipSync } from "node:zlib";
import type { ServerEnv } from "../../server/requests/context.ts";
import { serveConsole } from "../../server/console.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const SCRIPT = "export const answer = 42;";

/** An app that serves a build with one page and one script, after routes as the API has them. */
async function makeApp(isBuilt = true) {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  if (isBuilt) {
    await Deno.mkdir(`${folder}/assets`);
    await Deno.writeTextFile(`${folder}/index.html`, "<title>Hindcast</title>");
    await Deno.writeTextFile(`${folder}/docs.html`, "<title>API reference</title>");
    await Deno.writeTextFile(`${folder}/secret.txt`, "not for the web");
    await Deno.writeTextFile(`${folder}/assets/main-1a2b.js`, SCRIPT);
    await Deno.writeFile(`${folder}/assets/main-1a2b.js.gz`, gzipSync(SCRIPT));
  }
  const app = new Hono<ServerEnv>();
  serveConsole(app, folder);
  app.notFound((c) => c.json({ error: "ROUTE_NOT_FOUND" }, 404));
  const get = async (path: string, headers: Record<string, string> = BROWSER) => await app.request(path, { headers });
  return { get, folder, app, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

Deno.test("every address that a browser opens gives the page, which allows no inline code and is asked for each time", async () => {
  await using site = await makeApp();
  const run = "/runs/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b?tab=trades";
  for (const path of ["/", "/runs", run, "/assetsx", "/apis", "/docsx", "/docs"]) {
    const answer = await site.get(path);
    const title = path === "/docs" ? "API reference" : "Hindcast";
    expect([path, answer.status, await answer.text()]).toEqual([path, 200, `<title>${title}</title>`]);
    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expect(answer.headers.get("cache-control")).toBe("no-cache");
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe|data:|\*/);
  }
});

Deno.test("assets are packed as the browser accepts and cached for ever", async () => {
  await using site = await makeApp();
  const plain = await site.get("/assets/main-1a2b.js", {});
  expect([plain.status, await plain.text(), plain.headers.get("content-encoding")]).toEqual([200, SCRIPT, null]);
  expect(plain.headers.get("content-type")).toMatch(/^text\/javascript/);
  expect(plain.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  const packed = await site.get("/assets/main-1a2b.js", { "accept-encoding": "gzip, br" });
  expect(packed.headers.get("content-encoding")).toBe("gzip");
  expect(packed.headers.get("vary")).toMatch(/accept-encoding/i);
  expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(SCRIPT);
});

Deno.test("programs get no page, nor does anybody a missing asset or another file of the build", async () => {
  await using site = await makeApp();
  const others: [string, Record<string, string>][] = [
    ["/nothing", {}],
    ["/nothing", { accept: "application/json" }],
    ["/api/nothing", BROWSER],
    ["/api", BROWSER],
    ["/trpc/nothing", BROWSER],
    ["/assets/missing-1a2b.js", BROWSER],
    ["/assets/%2e%2e%2fsecret.txt", BROWSER],
    ["/assets/main%00.js", BROWSER],
    [`/assets/${"a".repeat(5_000)}`, BROWSER],
    ["/assets/main-1a2b.js/more", BROWSER],
  ];
  for (const [path, headers] of others) expect([path, (await site.get(path, headers)).status]).toEqual([path, 404]);
  expect(await (await site.get("/secret.txt")).text()).toBe("<title>Hindcast</title>");
  expect((await site.app.request("/runs", { method: "POST", headers: BROWSER })).status).toBe(404);
});

Deno.test("until it is built, the console says so and opens by itself", async () => {
  await using site = await makeApp(false);
  for (const path of ["/runs", "/docs"]) {
    const answer = await site.get(path);
    expect([answer.status, answer.headers.get("refresh")]).toEqual([503, "2"]);
    expect(await answer.text()).toMatch(/being built/);
  }
  await Deno.writeTextFile(`${site.folder}/index.html`, "<title>Hindcast</title>");
  expect((await site.get("/runs")).status).toBe(200);
});

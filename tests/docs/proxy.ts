/** Runs the configuration of nginx that docs/operating.md gives, in front of a service: `deno task test:debian`. */
import { expect } from "@std/expect";
import { blockIn, readPage } from "../support/pages.ts";
import { freePort } from "../support/free_port.ts";
import { BACKTEST, TestClient } from "../support/client.ts";
import { inCluster } from "../support/cluster.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const PAGE = await readPage("docs/operating.md");
const NGINX = "/usr/sbin/nginx";

/** Writes a configuration that listens on another port, with shorter times. */
async function writeConfiguration(folder: string, port: number, block: string): Promise<string> {
  const own = block.replace("listen 80;", `listen 127.0.0.1:${port};`)
    .replaceAll("10s;", "1s;").replace("keepalive_timeout 30s;", "keepalive_timeout 1s;");
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${folder}/${name};`
  );
  const path = `${folder}/nginx.conf`;
  const http = `access_log off;\n${places.join("\n")}\n${own}`;
  await Deno.writeTextFile(path, `daemon off;\nmaster_process off;\npid ${folder}/pid;\nevents {}\nhttp {\n${http}}\n`);
  return path;
}

function startNginx(folder: string, path: string): Deno.ChildProcess {
  return new Deno.Command(NGINX, { args: ["-p", folder, "-c", path, "-e", `${folder}/error`] }).spawn();
}

/** Sends a text and reads until the other side closes. @returns What it answered. */
async function sendAndWait(port: number, text: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  if (text !== "") await connection.write(new TextEncoder().encode(text));
  return await new Response(connection.readable).text().catch(() => "");
}

Deno.test("the page's nginx closes idle and half-sent requests, and passes whole ones on", async () => {
  const service = await startTestService("PGlite", { TRUSTED_PROXIES: "127.0.0.1" });
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const port = freePort();
  const block = blockIn(PAGE, "nginx", "listen 80;");
  const path = await writeConfiguration(folder, port, block.replace("127.0.0.1:8000", new URL(service.url).host));
  const nginx = startNginx(folder, path);
  const client = service.client();
  const proxied = Object.assign(client, { url: `http://127.0.0.1:${port}` });
  expect((await until(() => proxied.get("/api/health").catch(() => null))).at("/status")).toBe("ok");
  await proxied.signUp();
  expect((await proxied.get("/api/session")).status).toBe(200);
  const year = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2024-03-01";
  expect((await proxied.get(year)).list("/ticks").length).toBe(60 * 1440);

  const host = "host: x\r\n";
  const halves = [
    "",
    `GET /api/health HTTP/1.1\r\n${host}`,
    `POST /api/auth/sign-in/email HTTP/1.1\r\n${host}content-type: application/json\r\ncontent-length: 99\r\n\r\n{`,
  ];
  for (const answer of await Promise.all(halves.map((half) => sendAndWait(port, half)))) {
    expect(answer).toMatch(/^$|^HTTP\/1\.1 408 /);
  }
  expect(await sendAndWait(port, `GET /api/health HTTP/1.1\r\n${host}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  nginx.kill("SIGTERM");
  await nginx.status;
  await service.close();
  await Deno.remove(folder, { recursive: true });
});

const POSTS = 1_000;
const CLIENTS = 4;

Deno.test("no request fails while two processes behind the page's nginx are restarted one after the other", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const port = freePort();
  const places = [freePort(), freePort()];
  const line = blockIn(PAGE, "nginx", "proxy_next_upstream");
  const own = blockIn(PAGE, "nginx", "listen 80;")
    .replace(/upstream [^]*?\n}\n/, blockIn(PAGE, "nginx", "zone hindcast")).replace(/(?=proxy_http_version)/, line)
    .replace("127.0.0.1:8001", `127.0.0.1:${places[0]}`).replace("127.0.0.1:8002", `127.0.0.1:${places[1]}`)
    .replace(/(?=proxy_http_version)/, "add_header x-upstream $upstream_addr;\n");
  const path = await writeConfiguration(folder, port, own);
  await inCluster(async (start) => {
    const begin = (place: number) =>
      start("serve", { PORT: String(place), WORKERS: "0", TRUSTED_PROXIES: "127.0.0.1", LAME_DUCK_SECONDS: "1" });
    const processes = await Promise.all(places.map(begin));
    const nginx = startNginx(folder, path);
    const client = new TestClient(`http://127.0.0.1:${port}`);
    const probe = () => client.get("/api/health");
    expect((await until(() => probe().catch(() => null))).status).toBe(200);
    await client.signUp();

    let hasRestarted = false;
    const restarting = (async () => {
      for (const [i, place] of places.entries()) {
        const ended = processes[i]!.end("SIGTERM");
        while (!processes[i]!.hasEnded) expect((await probe()).status).toBe(200);
        expect(await ended).toMatchObject({ code: 0 });
        processes[i] = await begin(place);
        await until(async () => (await probe()).headers.get("x-upstream") === `127.0.0.1:${place}`);
      }
      hasRestarted = true;
    })();
    const statuses = new Map<number, number>();
    let sent = 0;
    const post = async () => {
      for (; sent < POSTS || !hasRestarted; sent++) {
        const { status } = await client.send("POST", "/api/backtests", { backtest: BACKTEST });
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    // A restart that fails must end the test.
    await Promise.all([restarting, ...Array.from({ length: CLIENTS }, post)]);
    expect([...statuses.keys()]).toEqual([202]);
    nginx.kill("SIGTERM");
    await nginx.status;
    await Promise.all(processes.map((process) => process.end("SIGINT")));
  });
  await Deno.remove(folder, { recursive: true });
});

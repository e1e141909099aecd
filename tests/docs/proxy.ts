/** Runs the configuration of nginx that docs/operating.md gives, in front of a service: `deno task test:debian`. */
import { expect } from "@std/expect";
import { installPackages } from "../support/debian.ts";
import { freePort } from "../support/free_port.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const PAGE = new URL("../../docs/operating.md", import.meta.url);
const NGINX = "/usr/sbin/nginx";
await installPackages(["nginx-light"], [NGINX]);

/** The page's configuration, for another port and service, with shorter times. */
async function writeConfiguration(folder: string, port: number, service: string): Promise<string> {
  const [, block = ""] = /```nginx\n([^]*?)```/.exec(await Deno.readTextFile(PAGE)) ?? [];
  const own = block.replace("listen 80;", `listen 127.0.0.1:${port};`).replace("127.0.0.1:8000", service)
    .replaceAll("10s;", "1s;").replace("keepalive_timeout 30s;", "keepalive_timeout 1s;");
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${folder}/${name};`
  );
  const path = `${folder}/nginx.conf`;
  const http = `access_log off;\n${places.join("\n")}\n${own}`;
  await Deno.writeTextFile(path, `daemon off;\nmaster_process off;\npid ${folder}/pid;\nevents {}\nhttp {\n${http}}\n`);
  return path;
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
  const path = await writeConfiguration(folder, port, new URL(service.url).host);
  const nginx = new Deno.Command(NGINX, { args: ["-p", folder, "-c", path, "-e", `${folder}/error`] }).spawn();
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

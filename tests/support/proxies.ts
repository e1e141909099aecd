/** Starts the proxies of docs/operating.md, in front of processes of the service. */
import { blockIn, readPage } from "./pages.ts";
import { freePort } from "./free_port.ts";

const PAGE = await readPage("docs/operating.md");

/** A running proxy. */
export interface Proxy {
  readonly url: string;
  readonly port: number;
  end(): Promise<void>;
}

export const PROXIES = ["nginx", "Caddy"] as const;
export type ProxyName = (typeof PROXIES)[number];

/** Starts Caddy on a free port with deploy/Caddyfile, in front of a process of the service. */
export async function startDeployedCaddy(place: number): Promise<Proxy> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const port = freePort();
  const text = (await readPage("deploy/Caddyfile")).replace("{\n", "{\n\tadmin off\n");
  const env = { SITE: `http://127.0.0.1:${port}`, API: "127.0.0.1", API_PORT: String(place) };
  return serve(await writeCaddy(folder, text, env), folder, port);
}

/**
 * Starts one of the page's proxies on a free port, which adds the header `x-upstream` to its answers.
 *
 * @param places The ports of the service's processes: one, or two with the page's lines for two.
 * @param change Changes the configuration further.
 */
export async function startProxy(
  name: ProxyName,
  places: readonly number[],
  change = (configuration: string) => configuration,
): Promise<Proxy> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const port = freePort();
  const command = name === "nginx"
    ? await writeNginx(folder, change(nginxOf(port, places)))
    : await writeCaddy(folder, change(caddyOf(port, places)));
  return serve(command, folder, port);
}

function serve(command: Deno.Command, folder: string, port: number): Proxy {
  const process = command.spawn();
  const end = async () => {
    process.kill("SIGTERM");
    await process.status;
    await Deno.remove(folder, { recursive: true });
  };
  return { url: `http://127.0.0.1:${port}`, port, end };
}

function nginxOf(port: number, [first, second]: readonly number[]): string {
  const one = blockIn(PAGE, "nginx", "listen 80;");
  const block = second === undefined
    ? one
    : one.replace(/upstream [^]*?\n}\n/, blockIn(PAGE, "nginx", "zone hindcast"));
  return block.replace("listen 80;", `listen 127.0.0.1:${port};\nadd_header x-upstream $upstream_addr;`)
    .replace(/127\.0\.0\.1:800[01]/, `127.0.0.1:${first}`).replace("127.0.0.1:8002", `127.0.0.1:${second}`);
}

async function writeNginx(folder: string, block: string): Promise<Deno.Command> {
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) =>
    `${name}_temp_path ${folder}/${name};`
  );
  const path = `${folder}/nginx.conf`;
  const http = `access_log off;\n${places.join("\n")}\n${block}`;
  await Deno.writeTextFile(path, `daemon off;\nmaster_process off;\npid ${folder}/pid;\nevents {}\nhttp {\n${http}}\n`);
  return new Deno.Command("/usr/sbin/nginx", { args: ["-p", folder, "-c", path, "-e", `${folder}/error`] });
}

function caddyOf(port: number, places: readonly number[]): string {
  return blockIn(PAGE, "caddyfile", "reverse_proxy")
    .replace("{\n", "{\n    admin off\n").replace(":80 {", `:${port} {\n    bind 127.0.0.1`)
    .replace(
      "127.0.0.1:8000 {",
      `${places.map((place) => `127.0.0.1:${place}`).join(" ")} {
        header_down x-upstream {http.reverse_proxy.upstream.hostport}`,
    );
}

async function writeCaddy(folder: string, text: string, variables: Record<string, string> = {}): Promise<Deno.Command> {
  const path = `${folder}/Caddyfile`;
  await Deno.writeTextFile(path, text);
  const env = { ...variables, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const args = ["run", "--config", path, "--adapter", "caddyfile"];
  return new Deno.Command("/usr/bin/caddy", { args, env, stdout: "null", stderr: "null" });
}

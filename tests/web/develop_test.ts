import { expect } from "@std/expect";
import { fileURLToPath } from "node:url";
import { prepare } from "../support/prepare.ts";
import { startTestService } from "../support/service.ts";

Deno.test(
  "deno task web serves the console's sources, and passes requests for data on to the service",
  async () => {
    const [service] = await Promise.all([startTestService("PGlite", { WORKERS: "0" }), prepare("console")]);
    const server = new Deno.Command(Deno.execPath(), {
      args: ["task", "--quiet", "web"],
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      env: { HINDCAST_URL: service.url, NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const url = await findAddress(server.stdout);
    const page = await (await fetch(url)).text();
    expect(page).toContain("/src/app/main.tsx");
    const module = await fetch(new URL("src/app/main.tsx", url));
    expect([module.headers.get("content-type"), await module.text()])
      .toEqual([expect.stringMatching(/javascript/), expect.stringContaining("/src/app/router.tsx")]);
    expect(await (await fetch(new URL("api/health", url))).json()).toMatchObject({ status: "ok" });
    server.kill("SIGTERM");
    await server.status;
    await service.close();
  },
);

/** The address that the server prints, once it listens. */
async function findAddress(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const part of output.pipeThrough(new TextDecoderStream())) {
    text += part;
    const [address] = /http:\S+/.exec(text) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`The server ended without an address: ${text}`);
}

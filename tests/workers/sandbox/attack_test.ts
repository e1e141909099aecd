/** Hostile JavaScript in the place of the sandbox's own Worker, started exactly as the runner starts that: it can reach nothing. */
import { expect } from "@std/expect";
import { join } from "node:path";
import { runExchanged } from "./exchanged_worker.ts";

const WORKER = new URL("./hostile_worker.ts", import.meta.url);

Deno.test("code inside the sandbox cannot read, write, connect, listen, start, load or ask", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-attack-" });
  const arrived: string[] = [];
  const canary = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    arrived.push(request.url);
    return new Response("caught");
  });
  try {
    const file = join(folder, "secret.js");
    await Deno.writeTextFile(file, "export const secret = 42;");
    const parametersJson = JSON.stringify({ port: String(canary.addr.port), file, folder });
    const outcome = await runExchanged(folder, await Deno.readTextFile(WORKER), { parametersJson });
    const message = "message" in outcome ? outcome.message : "";
    const outcomes: Record<string, string> = JSON.parse(/\{.*\}$/.exec(message)?.[0] ?? `{"nothing was said":"done"}`);
    for (const [what, came] of Object.entries(outcomes)) print(`${what}: ${came}`);
    expect(Object.keys(outcomes).length).toBeGreaterThan(30);
    // A refused import is a TypeError; every other refusal is NotCapable.
    const refused = ([what, came]: [string, string]) =>
      came === (what.startsWith("import") ? "TypeError" : "NotCapable");
    expect(Object.entries(outcomes).filter((one) => !refused(one))).toEqual([]);
    expect(arrived).toEqual([]);
    expect([...Deno.readDirSync(folder)].map(({ name }) => name).sort()).toEqual(["code", "secret.js"]);
  } finally {
    await canary.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
});

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`  ${line}\n`));
}

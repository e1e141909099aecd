import { expect } from "@std/expect";
import { copyFolder } from "../support/copy_folder.ts";
import { prepare } from "../support/prepare.ts";
import { startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";

// A service needs some 130 for itself.
const FILES_MAX = 200;

Deno.test("a service that more connect to than it may have files open goes on when they have left", async () => {
  const DATA_DIR = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  copyFolder(`${await prepare("folder/service")}/database`, `${DATA_DIR}/database`);
  const service = await startProcess("serve", { DATA_DIR }, ["sh", "-c", `ulimit -n ${FILES_MAX}; exec "$0" "$@"`]);
  const port = Number(new URL(service.url).port);
  const connections: Deno.Conn[] = [];
  for (let i = 0; i < 2 * FILES_MAX; i++) {
    // While it does not listen, one or the other is refused.
    const connection = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => null);
    if (connection !== null) connections.push(connection);
  }
  for (const connection of connections) connection.close();
  const isAnswered = async () => {
    if (service.hasEnded) throw new Error(`The service has ended: ${(await service.end("SIGTERM")).stderr}`);
    return await service.client().get("/api/health").then(({ status }) => status === 200, () => false);
  };
  expect(await until(isAnswered)).toBe(true);
  const { code, stderr } = await service.end("SIGTERM");
  expect(code).toBe(0);
  expect(stderr).toContain("Cannot accept connections");
  await Deno.remove(DATA_DIR, { recursive: true });
});

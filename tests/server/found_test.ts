/** What random requests (tests/fuzz) have found, each as the smallest case of its own. */
import { expect } from "@std/expect";
import { startTestService } from "../support/service.ts";

Deno.test("a strategy that is deleted while its next version's module is checked takes no version", async () => {
  const asked = Promise.withResolvers<void>();
  const deleted = Promise.withResolvers<void>();
  const module = await Deno.readFile(new URL("../../strategies/examples/c/sma_cross.wasm", import.meta.url));
  const files = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async () => {
    asked.resolve();
    await deleted.promise;
    return new Response(module);
  });
  const host = `127.0.0.1:${files.addr.port}`;
  const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: host });
  const user = await service.user();
  const artifact = { content_base64: module.toBase64() };
  const registered = await user.send("POST", "/api/strategies", {
    strategy: {
      slug: "gone-soon",
      name: "Gone",
      runtime_type: "wasm",
      language: "c",
      initial_version: { version: "1", runtime_config: { type: "wasm", artifact } },
    },
  });
  expect(registered.status).toBe(201);
  const runtime_config = { type: "wasm", moduleUrl: `http://${host}/module.wasm` };
  const adding = user.send("POST", "/api/strategies/gone-soon/versions", { version: { version: "2", runtime_config } });
  await asked.promise;
  expect((await user.send("DELETE", "/api/strategies/gone-soon")).status).toBe(204);
  deleted.resolve();
  const added = await adding;
  expect([added.status, added.at("/error/code")]).toEqual([404, "STRATEGY_NOT_FOUND"]);
  await service.close();
  await files.shutdown();
});

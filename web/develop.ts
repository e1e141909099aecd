/** Serves the console's sources with hot reload; requests for data go to a running service. */
import { createServer } from "vite";
import { viteConfig } from "./vite_config.ts";

const target = Deno.env.get("HINDCAST_URL") ?? "http://127.0.0.1:8000";
// The service accepts changes from its own origin.
const proxy = { target, changeOrigin: true, headers: { origin: new URL(target).origin } };
const server = await createServer({
  ...viteConfig,
  server: { proxy: { "/api": proxy, "/trpc": proxy, "/openapi.json": proxy, "/strategy.d.ts": proxy } },
});
await server.listen();
server.printUrls();

import { expect } from "@std/expect";
import { runTaskCommand } from "../support/process.ts";
import { startTestService } from "../support/service.ts";

/** A run of two months. */
export const RUN = ["run", "sma-cross", "DEMO@SAMPLE", "2024-01-01", "2024-03-01", "-t", "1h"];

/** Calls the command as a user who is signed in by the environment. */
export async function openTerminal(scope: string, settings: Readonly<Record<string, string>> = {}) {
  const service = await startTestService("PostgreSQL", settings);
  const config = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const user = await service.user();
  const made = await user.send("POST", "/api/tokens", { token: { name: "test", scope } });
  const env = { HINDCAST_URL: service.url, HINDCAST_TOKEN: String(made.at("/secret")), XDG_CONFIG_HOME: config };
  const call = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runTaskCommand("hindcast", args, { ...env, ...more });
  const json = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await call([...args, "--json"]);
    expect([args, code, stderr]).toEqual([args, 0, ""]);
    return JSON.parse(stdout);
  };
  const close = async () => {
    await service.close();
    await Deno.remove(config, { recursive: true });
  };
  return { service, env, call, json, config, close };
}

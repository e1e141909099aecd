/** Steps that run the command which a run's page copies. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { readModule, SCRIPT } from "./sample_strategies.ts";

/** Copies the commands of a plain run, of one with a module inside and of one with a script inside, and submits all three again. */
export async function copyAsCurl(page: Page, user: TestClient): Promise<void> {
  const token = await user.send("POST", "/api/tokens", { token: { name: "curl", scope: "run", expires_in_days: 1 } });
  const artifact = { content_base64: (await readModule()).toBase64() };
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const runtimes = [null, { type: "wasm", artifact, lookbackCandles: 200 }, { type: "script", source: SCRIPT }];
  for (const runtime of runtimes) {
    const parameters = { timeframe: "1h", ...(runtime && { runtime }) };
    // A shell must not read the quotes.
    const submitted = await user.send("POST", "/api/backtests", {
      backtest: { ...BACKTEST, strategy: runtime === null ? "SMA Cross" : `it's "mine" $HOME`, parameters },
    });
    expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
    const id = String(submitted.at("/backtest/id"));
    const first = await user.finish(id);
    expect(first.at("/backtest/error")).toBe(null);
    await page.goto(`${user.url}/runs/${id}`);
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied. Set HINDCAST_TOKEN").waitFor();
    const command = String(await page.evaluate("navigator.clipboard.readText()"));
    const { status, body } = await runCommand(command, String(token.at("/secret")));
    expect([status, body.error]).toEqual(["202", undefined]);
    const again = await user.finish(body.backtest.id);
    expect([again.at("/backtest/strategy"), again.at("/backtest/result/run_key")])
      .toEqual([first.at("/backtest/strategy"), first.at("/backtest/result/run_key")]);
  }
}

async function runCommand(command: string, HINDCAST_TOKEN: string) {
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", `${command} --silent --write-out '\n%{http_code}'`],
    env: { HINDCAST_TOKEN },
  }).output();
  const [body = "", status] = new TextDecoder().decode(stdout).split("\n");
  return { status, body: JSON.parse(body) };
}

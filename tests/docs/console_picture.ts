/**
 * The console's picture in README.md, taken of a run over generated candles: `deno task picture` writes docs/console.png.
 */
import { shareSession } from "../support/browser.ts";
import { onStage } from "../support/stage.ts";
import { makeRun } from "../web/sample_runs.ts";

const FILE = new URL("../../docs/console.png", import.meta.url);

await onStage(async ({ url, client, browser }) => {
  const id = await makeRun(client, "good");
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    locale: "en-US",
    colorScheme: "light",
  });
  await shareSession(context, client);
  const page = await context.newPage();
  await page.goto(`${url}/runs/${id}`, { waitUntil: "networkidle" });
  await page.screenshot({ path: decodeURI(FILE.pathname) });
  await context.close();
});
Deno.exit();

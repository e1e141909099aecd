import { type Browser, chromium } from "playwright-core";
import { listen } from "../../main.ts";
import { readConfig } from "../../server/config.ts";
import { buildConsole } from "../../web/build.ts";
import { TestClient } from "./client.ts";
import { launchBrowser } from "./launch_browser.ts";

/** A service with an empty database and its console, a signed-in trader, and a browser. */
export interface Stage {
  readonly url: string;
  /** The service's folder. */
  readonly data: string;
  readonly client: TestClient;
  readonly browser: Browser;
}

/** Lets a program look at the console, outside of a test run. */
export async function onStage(look: (stage: Stage) => Promise<void>): Promise<void> {
  await buildConsole();
  const data = await Deno.makeTempDir({ prefix: "hindcast-stage-" });
  const service = await listen(readConfig({ PORT: "0", DATA_DIR: data, WORKERS: "1", LOG_LEVEL: "error" }));
  const server = await launchBrowser();
  try {
    const client = new TestClient(service.url);
    await client.signUp("trader@example.com");
    const browser = await chromium.connect(server.wsEndpoint());
    await look({ url: service.url, data, client, browser });
    await browser.close();
  } finally {
    await server.close();
    await service.close();
    await Deno.remove(data, { recursive: true });
  }
}

/** A page that is open while its service is killed and started again, in a real browser and under the tasks' own permissions. */
import { expect } from "@std/expect";
import { connectBrowser, openPage, shareSession } from "../support/browser.ts";
import { BACKTEST } from "../support/client.ts";
import { copyFolder } from "../support/copy_folder.ts";
import { freePort } from "../support/free_port.ts";
import { prepare } from "../support/prepare.ts";
import { startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";

const LOST = "The connection to the service is lost";

Deno.test(
  "pages say that the service is gone, and go on by themselves when it is back",
  async (t) => {
    // The endpoint answers the second call alone: the first service is killed during its own.
    const calls = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const leave = Promise.withResolvers<void>();
    let count = 0;
    const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const { asked } = await request.json();
      calls[count++]?.resolve();
      await leave.promise;
      return Response.json({ version: 1, decisions: Array.from({ length: asked }, () => []) });
    });
    const host = `127.0.0.1:${endpoint.addr.port}`;
    const data = await Deno.makeTempDir({ prefix: "hindcast-test-" });
    copyFolder(`${await prepare("folder/service")}/database`, `${data}/database`);
    const environment = { DATA_DIR: data, PORT: String(freePort()), REMOTE_ENDPOINT_ALLOW: host };
    const browser = await connectBrowser();
    const killed = await startProcess("serve", environment);
    const user = killed.client();
    await user.signUp();
    const { page: list, complaints } = await openPage(browser);
    await shareSession(list.context(), user);
    const rows = list.getByRole("region", { name: "Strategies" }).locator("tbody tr[data-row]");
    const [run, form] = [await list.context().newPage(), await list.context().newPage()];

    await t.step("a run's page says so by itself", async () => {
      const runtime = { type: "remote", endpoint: `http://${host}/signals` };
      const submitted = await user.send("POST", "/api/backtests", {
        backtest: { ...BACKTEST, parameters: { timeframe: "1h", runtime } },
      });
      await run.goto(`${killed.url}/runs/${submitted.at("/backtest/id")}`);
      await calls[0]?.promise;
      await run.getByText("Running: ").waitFor();
      await list.goto(`${killed.url}/strategies`);
      await rows.nth(1).waitFor();
      await form.goto(`${killed.url}/runs/new`);
      await form.getByLabel("slow").fill("77");
      await killed.end("SIGKILL");
      await run.getByText(LOST).waitFor();
    });

    await t.step("another page says so when it asks for something", async () => {
      await list.getByLabel("Search the strategies").fill("turtles");
      await list.getByText(LOST).waitFor();
      await list.getByText("The service cannot be reached").waitFor();
    });

    const restarted = await startProcess("serve", environment);

    await t.step("both are repaired, and the run goes on to its result", async () => {
      await list.getByText(LOST).waitFor({ state: "hidden" });
      await rows.getByText("Donchian Breakout").waitFor();
      await rows.nth(1).waitFor({ state: "hidden" });
      await list.getByText("The service cannot be reached").waitFor({ state: "hidden" });
      await run.getByText(LOST).waitFor({ state: "hidden" });
      await calls[1]?.promise;
      await run.getByText("Running: ").waitFor();
      leave.resolve();
      await run.getByText("Net return").first().waitFor();
    });

    await t.step("what was typed into a form before is there after a reload", async () => {
      await form.reload();
      await form.getByText("Filled in with what you typed before").waitFor();
      await until(async () => await form.getByLabel("slow").inputValue() === "77");
    });

    leave.resolve();
    await list.context().close();
    await browser.close();
    await restarted.end("SIGKILL");
    await endpoint.shutdown();
    await Deno.remove(data, { recursive: true });
    // The browser itself reports each lost connection.
    expect(complaints.filter((line) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY/.test(line))).toEqual([]);
  },
);

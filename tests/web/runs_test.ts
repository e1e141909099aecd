/** The pages around runs, in a real browser against the real service, by mouse and by keyboard alone. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { BACKTEST } from "../support/client.ts";
import { until } from "../support/until.ts";
import { startTestService } from "../support/service.ts";
import { arrangeCharts } from "./chart_steps.ts";
import { copyAsCurl } from "./curl_steps.ts";
import { chooseRuns, editLabels, filterRuns } from "./label_steps.ts";
import { simulateRun } from "./monte_carlo_steps.ts";
import { readManyTrades, sortTrades } from "./trade_steps.ts";
import { stressRun } from "./stress_steps.ts";
import { makeRun } from "./sample_runs.ts";

Deno.test("a trader makes, reads, changes, cancels and deletes runs", async (t) => {
  // It never answers, so that its run is under way until it is cancelled.
  const asked = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<Response>();
  const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    asked.resolve();
    return leave.promise;
  });
  const host = `127.0.0.1:${endpoint.addr.port}`;
  const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: host });
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  const user = await service.user();
  await shareSession(page.context(), user);
  const heading = (name: string) => page.getByRole("heading", { name, exact: true });

  await t.step("a first result is one click away", async () => {
    await page.goto(service.url);
    await page.getByRole("button", { name: "Run a first backtest" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "begin with real markets" }).click();
    await page.getByRole("region", { name: "Real markets" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Run a first backtest" }).click();
    await page.getByRole("heading", { name: "SMA Cross" }).waitFor();
    await page.getByText("Net return").first().waitFor();
    await page.getByText("Monthly returns").waitFor();
    await page.locator("canvas").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("nothing moves while the page loads", async () => {
    await page.reload();
    await page.getByText("Monthly returns").waitFor();
    const shift = await page.evaluate(`new Promise((resolve) => new PerformanceObserver((list) =>
      resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0))
    ).observe({ type: "layout-shift", buffered: true }) ?? setTimeout(() => resolve(0), 500))`);
    expect(shift).toBeLessThan(0.02);
  });

  await t.step("a metric says what it means", async () => {
    await page.getByRole("button", { name: "Sharpe" }).first().hover();
    await page.getByText("Excess return per unit of risk.").waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("trades are sorted, and a click moves the charts to one", async () => {
    const best = await sortTrades(page, user);

    // A bar that is clicked, or reached by a key, says what the strategy saw and ordered there.
    const chart = page.getByRole("img", { name: /^Candles/ });
    await chart.click({ position: { x: 500, y: 100 } });
    const bar = page.getByRole("region", { name: "Chosen bar" });
    await bar.getByText(/^The strategy saw close [\d.,]+, SMA /).waitFor();
    const time = async () => (await bar.getByRole("heading").innerText()).slice(0, 16);
    const decided = new Date(Date.parse(best.entry_time) - 3_600_000).toISOString().slice(0, 16).replace("T", " ");
    for (let now = await time(); now !== decided; now = await time()) {
      await chart.press(now < decided ? "ArrowRight" : "ArrowLeft");
      await until(async () => await time() !== now);
    }
    await bar.getByText(/^Placed (buy|sell) market.*: filled at [\d.,]+ on 2024-/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await chart.press("Escape");
    await bar.waitFor({ state: "hidden" });
  });

  await t.step("the charts fill the window, and keep their scale and panes", async () => {
    const name = (words: string) => page.getByRole("img", { name: new RegExp(`^Candles, ${words}, SMA`) });
    const choose = async (role: "menuitemradio" | "menuitemcheckbox", item: string) => {
      await page.getByRole("button", { name: "View", exact: true }).click();
      await page.getByRole(role, { name: item }).click();
      await page.keyboard.press("Escape");
    };
    await choose("menuitemradio", "Log scale");
    await choose("menuitemcheckbox", "Drawdown");
    await name("equity and position").waitFor();
    await page.getByRole("button", { name: "Enlarge" }).click();
    await page.getByRole("tab", { name: "Trades" }).waitFor({ state: "hidden" });
    await until(async () => (await name("equity and position").boundingBox())!.height > 600);
    await name("equity and position").locator("canvas").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Trades" }).waitFor();

    await page.reload();
    await name("equity and position").waitFor();
    await page.getByRole("button", { name: "View", exact: true }).click();
    expect(await page.getByRole("menuitemradio", { name: "Log scale" }).getAttribute("aria-checked")).toBe("true");
    await page.getByRole("menuitemcheckbox", { name: "Drawdown" }).click();
    await name("equity, drawdown and position").waitFor();
    await page.keyboard.press("Escape");
    await arrangeCharts(page);
  });

  await t.step("a wide screen has charts and tables side by side, and none moves beyond the run", async () => {
    const before = page.viewportSize()!;
    await page.setViewportSize({ width: 2560, height: 1440 });
    await until(async () => (await page.getByRole("tablist").boundingBox())!.x > 1000);
    await page.getByRole("button", { name: "Whole run" }).click();
    await page.getByText("2024-01-01 to 2024-12-31").waitFor();
    const { x, y, width } = (await page.getByRole("img", { name: /^Candles/ }).boundingBox())!;
    await page.mouse.move(x + width / 2, y + 100);
    await page.mouse.down();
    await page.mouse.move(x + width / 4, y + 100, { steps: 5 });
    await page.mouse.up();
    await page.getByText("2024-01-01 to 2024-12-31").waitFor();
    await page.setViewportSize(before);
  });

  await t.step("of a run with more than 50,000 trades, all are sorted, filtered, counted and marked", async () => {
    const before = page.url();
    await readManyTrades(page, user, service.url);
    await page.goto(before);
  });

  await t.step("orders, metrics and assumptions have a tab each", async () => {
    await page.getByRole("tab", { name: "Orders" }).click();
    await page.getByRole("columnheader", { name: "Fate" }).waitFor();
    await page.getByRole("tab", { name: "Metrics" }).click();
    await page.getByRole("button", { name: "Probabilistic sharpe" }).waitFor();
    await page.getByRole("region", { name: "Long and short" }).getByRole("button", { name: "Win rate" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("tab", { name: "Assumptions" }).click();
    await page.getByText("data SHA-256").waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a stress test shows what becomes of the run", () => stressRun(page));

  await t.step("paths that the run might have taken are made, shown, and deleted", async () => {
    await simulateRun(page);
  });

  await t.step("the same run with changes: what is wrong stands at its field", async () => {
    await page.getByRole("link", { name: "Run again with changes" }).click();
    await page.getByLabel("slow").fill("many");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("Enter a whole number").waitFor();
    await page.getByLabel("slow").fill("5");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText(/fast must be less than slow/).waitFor();
    expect(await page.getByLabel("fast").inputValue()).toBe("10");
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("slow").fill("200");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("heading", { name: "SMA Cross: slow 200" }).waitFor();
    await page.getByRole("tab", { name: "Assumptions" }).click();
    await page.getByText("data SHA-256").waitFor();
  });

  await t.step("a run under way shows so and can be cancelled; its name is text, whatever it holds", async () => {
    const name = `<img src="x" onerror="document.title='broken'">`;
    const runtime = { type: "remote", endpoint: `http://${host}/signals` };
    const submitted = await user.send("POST", "/api/backtests", {
      backtest: { ...BACKTEST, strategy: name, parameters: { timeframe: "1h", runtime } },
    });
    await page.goto(`${service.url}/runs/${submitted.at("/backtest/id")}`);
    await asked.promise;
    await page.getByRole("progressbar").waitFor();
    await page.getByRole("heading", { name }).waitFor();
    await page.getByRole("button", { name: "Cancel run" }).click();
    await page.getByText("This run was cancelled").waitFor();
    expect(await page.title()).toBe("Hindcast");
  });

  await t.step("a run that failed says why, and what to do", async () => {
    await page.goto(`${service.url}/runs/${await makeRun(user, "failed")}`);
    await heading("This run failed: no data").waitFor();
    await page.getByText("Choose a range and a timeframe that the archive holds").waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("the keyboard alone leads from the list to a run and to its end", async () => {
    await page.goto(`${service.url}/runs`);
    await page.getByRole("row").nth(4).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("?");
    await heading("Keys").waitFor();
    await page.keyboard.press("Escape");
    await heading("Keys").waitFor({ state: "hidden" });
    await page.keyboard.press("/");
    await page.keyboard.type("sma");
    await page.getByRole("row").nth(4).waitFor({ state: "hidden" });
    await page.keyboard.press("Tab");
    await page.evaluate("document.activeElement.blur()");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await heading("This run failed: no data").waitFor();
    await page.getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByRole("button", { name: "Delete run" }).press("Enter");
    await heading("Runs").waitFor();
    await page.getByRole("row").nth(4).waitFor({ state: "hidden" });
    await page.getByRole("row").nth(3).waitFor();
    await page.keyboard.press("n");
    await heading("New run").waitFor();
  });

  await t.step(
    "a run's name, tags, notes and star are edited where they stand, and errors stand there, too",
    async () => {
      const { backtests } = JSON.parse((await user.get("/api/backtests?view=summary&status=completed")).text);
      await editLabels(page, user, backtests[0].id);
    },
  );

  await t.step(
    "the list is filtered, searched and sorted by the service, and its address keeps all of it",
    () => filterRuns(page, user),
  );

  await t.step(
    "the list follows programs; runs are compared, tagged and deleted together",
    () => chooseRuns(page, user),
  );

  await t.step("curl runs the command that a page copies, also for code inside of a run", () => copyAsCurl(page, user));

  await t.step("a lost connection is said, and repaired by itself", async () => {
    await page.goto(`${service.url}/runs`);
    // Offline, a page that is still being loaded fails instead.
    await page.getByRole("region", { name: "Runs" }).locator("tbody tr[data-row]").first().waitFor();
    await page.context().setOffline(true);
    await page.getByText("The connection to the service is lost").waitFor();
    await page.context().setOffline(false);
    await page.getByText("The connection to the service is lost").waitFor({ state: "hidden" });
  });

  await t.step("a phone shows every page without scrolling sideways", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    const id = await makeRun(user, "long-names");
    for (const path of ["/runs", "/runs/new", `/runs/${id}`]) {
      await page.goto(`${service.url}${path}`);
      await page.getByRole("heading").first().waitFor();
      expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 360]);
    }
    // Drawings are as wide as the page, and their texts stay legible.
    const completed = (await user.get("/api/backtests?view=summary&status=completed")).list("/backtests").map(Object);
    await page.goto(`${service.url}/runs/${completed.find(({ metrics }) => metrics.trades > 10).id}`);
    await until(async () => (await page.getByRole("img", { name: /^Candles/ }).boundingBox())!.y < 640);
    // The sentence about tries has no more room than it needs.
    const said = (await page.getByText("How tries count").boundingBox())!;
    expect((await page.getByRole("tablist").boundingBox())!.y - said.y).toBeLessThan(100);
    const text = page.getByRole("img", { name: "closed trades" }).first().locator("text").first();
    expect((await text.boundingBox())?.height).toBeGreaterThan(9);
  });

  await t.step("a session that ended leads to sign-in, and back", async () => {
    // A call that is still on its way would lead there by itself.
    const left = Promise.withResolvers<void>();
    await page.route("**/trpc/**", async (route) => {
      await left.promise;
      await route.continue();
    });
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Pages" }).click();
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    left.resolve();
    await heading("Sign in").waitFor();
    expect(new URL(page.url()).searchParams.get("to")).toMatch(/^\/runs/);
  });

  await page.context().close();
  await browser.close();
  await service.close();
  leave.resolve(new Response());
  await endpoint.shutdown();
  // The browser itself reports each refusal and lost connection that the steps above provoke.
  expect(complaints.filter((line) => !/status of 4|ERR_INTERNET_DISCONNECTED/.test(line))).toEqual([]);
});

/** The markets and the timeframe that the form for a new run begins with, in a real browser against the real service. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { connectBrowser, findViolations, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";

const timeframeOf = (page: Page) => page.getByLabel("Timeframe", { exact: true }).inputValue();
const reachesOf = (page: Page, label: string) =>
  page.getByRole("combobox", { name: label }).locator("option").allInnerTexts();

Deno.test("the form for a new run begins with markets and candles that its strategy can run on", async (t) => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const user = await service.user();
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);

  await t.step("a strategy that decides on many markets asks for a list of them", async () => {
    await page.goto(`${service.url}/runs/new?strategy=momentum-rotation`);
    await page.getByText("One account trades all of them.").waitFor();
    expect(await reachesOf(page, "Run over")).toEqual(["several instruments", "a universe"]);
    expect(await timeframeOf(page)).toBe("1h");
    for (const symbol of ["ALDER", "OAK"]) {
      await page.getByText(/^Add (an|another) instrument/).click();
      await page.getByRole("option", { name: `${symbol} on SAMPLE` }).click();
      await page.getByRole("button", { name: `Remove ${symbol} on SAMPLE` }).waitFor();
    }
    // Theirs are daily candles.
    expect(await timeframeOf(page)).toBe("1d");
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Control+Enter");
    await user.finish(await waitForRun(page));
    await page.getByRole("tab", { name: "Trades" }).click();
    await page.getByText("it is among the best, and less was held than its part").first().waitFor();
  });

  await t.step("an optimization of it does so, too, with one account", async () => {
    await page.goto(`${service.url}/optimizations/new?strategy=equal-weight`);
    await page.getByText("One account trades all of them. It is compared").waitFor();
    expect(await reachesOf(page, "Try it in")).toEqual(["several instruments", "a universe"]);
  });

  await t.step("an instrument's page leads to a run on its own candles", async () => {
    await page.goto(`${service.url}/data/SAMPLE/ALDER`);
    await page.getByRole("link", { name: "Run a strategy on it" }).click();
    await page.getByText("ALDER on SAMPLE").first().waitFor();
    expect(await reachesOf(page, "Run over")).toEqual(["the instrument above", "several instruments", "a universe"]);
    expect(await timeframeOf(page)).toBe("1d");
    await page.keyboard.press("Control+Enter");
    const run = await user.finish(await waitForRun(page));
    expect([run.at("/backtest/status"), run.at("/backtest/symbol")]).toEqual(["completed", "ALDER"]);
  });

  await t.step(
    "an instrument with earlier candles brings its dates, and no complaint of the dates before",
    async () => {
      await page.goto(`${service.url}/runs/new`);
      await page.getByRole("combobox", { name: "Instrument", exact: true }).click();
      await page.getByLabel("Search instruments").fill("ELM");
      await page.getByRole("option", { name: "ELM on SAMPLE" }).click();
      await page.getByText("298 candles").waitFor();
      const [start, end] = [page.getByLabel("From (UTC)"), page.getByLabel("To, exclusive")];
      expect([await start.inputValue(), await end.inputValue()]).toEqual(["2022-01-03", "2023-03-11"]);
      expect(await end.getAttribute("aria-invalid")).toBe("false");
      await end.fill("2021-01-01");
      await end.blur();
      await page.getByText("Choose a later date than the first").waitFor();
      await start.fill("2020-01-01");
      await start.blur();
      await page.getByText("Choose a later date than the first").waitFor({ state: "detached" });
    },
  );

  await t.step("letters on a closed list open its search, and choose nothing", async () => {
    await page.getByLabel("Run over").selectOption("list");
    const list = page.getByRole("combobox", { name: "Instruments", exact: true });
    await list.focus();
    await page.keyboard.type("bee");
    await page.getByRole("option", { name: "BEECH on SAMPLE" }).waitFor();
    expect(await page.getByLabel("Search instruments").inputValue()).toBe("bee");
    expect(await page.getByRole("button", { name: /^Remove / }).count()).toBe(0);
    await page.getByRole("option", { name: "ALDER on SAMPLE" }).waitFor({ state: "detached" });
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Remove BEECH on SAMPLE" }).waitFor();
    expect(await page.getByRole("button", { name: /^Remove / }).count()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
  });

  await page.context().close();
  await browser.close();
  await service.close();
  expect(complaints).toEqual([]);
});

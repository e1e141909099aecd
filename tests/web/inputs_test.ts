/// <reference lib="dom" />
/** Other candles in forms, and optimizations over many markets, in a real browser against the real service. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { readPage } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";
import { failOnce, fetchRealMarket, startExchange } from "./real_market_steps.ts";
import { until } from "../support/until.ts";

Deno.test("a trader adds a daily trend to an example, and asks the same of many markets", async (t) => {
  const exchange = startExchange();
  const service = await startTestService("PostgreSQL", { BINANCE_BASE_URL: exchange.url });
  const user = await service.user();
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);
  const parametersOf = async (id: string) =>
    Object((await user.get(`/api/backtests/${id}`)).at("/backtest/parameters"));

  await t.step("the example with a daily trend runs beside its editor, with its input", async () => {
    await page.goto(`${service.url}/strategies?add=script`);
    await page.getByLabel("Begin with").selectOption({ label: "a cross of averages with a daily trend" });
    const [, file] = (await readPage("strategies/scripts/inputs/sma_cross_daily.ts")).split(/^\/\/\/.*\n/m);
    // The form follows the editor after a pause.
    const name = page.getByLabel("Name", { exact: true }).first();
    await until(async () => await name.inputValue() === "daily" || undefined);
    const shown = await page.locator(".cm-content").innerText();
    expect(file!.startsWith(shown.split("\n").slice(0, 3).join("\n"))).toBe(true);
    await page.getByRole("button", { name: "Run it" }).click();
    await page.getByText(/^Completed: [\d,]+ candles\./).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Open the run" }).click();
    const id = await waitForRun(page);
    expect(await parametersOf(id)).toMatchObject({ inputs: { daily: { timeframe: "1d" } }, fast: 10, days: 20 });
  });

  await t.step(
    "a run has inputs of its own, a wrong one is named at its field, and a built-in reads none",
    async () => {
      const source = await readPage("strategies/scripts/inputs/sma_cross_daily.ts");
      await user.send("POST", "/api/strategies", {
        strategy: {
          ...{ slug: "daily-cross", name: "Daily cross", description: "", runtime_type: "script" },
          ...{ language: "typescript", lookback_candles: 0, parameter_schema: { type: "object", properties: {} } },
          initial_version: { version: "1.0", runtime_config: { type: "script", source, language: "typescript" } },
        },
      });
      await page.goto(`${service.url}/runs/new?strategy=daily-cross`);
      await page.getByRole("button", { name: "Add an input" }).click();
      const input = page.getByRole("group", { name: "Input daily" });
      expect(await input.getByLabel("Candles of").inputValue()).toBe("1d");
      await page.getByRole("button", { name: "Add an input" }).click();
      const second = page.getByRole("group", { name: "Input input1" });
      await second.getByLabel("Name").fill("daily");
      await page.keyboard.press("Control+Enter");
      await page.getByText("Another input has this name").first().waitFor();
      await page.getByRole("group", { name: "Input daily" }).last().getByLabel("Name").fill("vix");
      const vix = page.getByRole("group", { name: "Input vix" });
      await vix.getByLabel("Symbol").fill("VIXX");
      await vix.getByLabel("Exchange").fill("SAMPLE");
      await page.keyboard.press("Control+Enter");
      await vix.getByText("must be an instrument that has candles, not VIXX of SAMPLE").waitFor();
      expect(await findViolations(page)).toEqual([]);
      await vix.getByLabel("Symbol").fill("OAK");
      await vix.getByLabel("Candles of").selectOption("1d");
      await page.keyboard.press("Control+Enter");
      const id = await waitForRun(page);
      expect(await parametersOf(id)).toMatchObject({
        inputs: { daily: { timeframe: "1d" }, vix: { symbol: "OAK", exchange: "SAMPLE", timeframe: "1d" } },
      });
      await page.getByRole("link", { name: "Run again with changes" }).click();
      for (const name of ["daily", "vix"]) await page.getByRole("group", { name: `Input ${name}` }).waitFor();
      expect(await vix.getByLabel("Symbol").inputValue()).toBe("OAK");
      await page.goto(`${service.url}/runs/new`);
      await page.getByRole("button", { name: "Add an input" }).click();
      await page.keyboard.press("Control+Enter");
      await page.getByText("a built-in strategy reads its own candles alone").waitFor();
      await page.getByRole("button", { name: "Remove daily" }).click();
      await page.getByText("a built-in strategy reads its own candles alone").waitFor({ state: "detached" });
    },
  );

  await t.step("an optimization over markets ranks its points by the median, and its markets", async () => {
    await page.goto(`${service.url}/optimizations/new`);
    await page.getByRole("combobox", { name: "Instrument", exact: true }).click();
    await page.getByPlaceholder("Search instruments").first().fill("OAK");
    await page.getByRole("option", { name: /^OAK/ }).click();
    await page.getByLabel("Timeframe").selectOption("1d");
    await page.getByLabel("Try it in").selectOption("list");
    for (const symbol of ["OAK", "BIRCH", "ASPEN"]) {
      await page.getByRole("combobox", { name: "Instruments", exact: true }).click();
      await page.getByPlaceholder("Search instruments to add").fill(symbol);
      await page.getByRole("option", { name: new RegExp(`^${symbol}`) }).click();
      // A list that is still closing takes no click.
      await page.getByPlaceholder("Search instruments to add").waitFor({ state: "hidden" });
    }
    for (const [label, value] of [["min", "2"], ["max", "6"], ["step", "2"]] as const) {
      await page.getByLabel(`${label} of fast`).fill(value);
    }
    for (const [label, value] of [["min", "10"], ["max", "20"], ["step", "10"]] as const) {
      await page.getByLabel(`${label} of slow`).fill(value);
    }
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Optimize" }).click();
    await page.getByRole("heading", { name: "Over 3 markets" }).waitFor();
    await page.getByText(/^18 trials/).waitFor();
    const points = page.getByRole("region", { name: "Points by the median over the markets" });
    await points.locator("tbody tr").nth(5).waitFor();
    const id = page.url().split("/").at(-1)!;
    const ranking = await user.get(`/api/optimizations/${id}/ranking`);
    const medians = await points.locator("tbody tr").evaluateAll((rows) =>
      rows.map((row) => Number(row.querySelectorAll("td")[3]!.textContent!.replace("−", "-")))
    );
    const expected = ranking.list("/ranking/points").map((point) => Object(point).median);
    expect(medians).toEqual(expected.map((value) => expect.closeTo(value, 1)));
    expect(medians).toEqual(medians.toSorted((a, b) => b - a));
    const markets = page.getByRole("region", { name: "Markets by the best point" });
    const names = await markets.locator("tbody tr").evaluateAll((rows) =>
      rows.map((row) => row.querySelector("td")!.textContent)
    );
    expect(names).toEqual(ranking.list("/ranking/markets").map((market) => Object(market).market));
    expect(await findViolations(page)).toEqual([]);
    expect(await page.getByRole("combobox", { name: "Up" }).inputValue()).toBe("market");
    await page.getByRole("application").focus();
    for (const key of ["ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
    await page.getByRole("status").filter({ hasText: /fast 4, market \w+@SAMPLE: / }).waitFor();
    await markets.getByRole("button", { name: /^Run trial/ }).first().click();
    const run = await waitForRun(page);
    const record = (await user.get(`/api/backtests/${run}`)).at("/backtest");
    expect(`${Object(record).symbol}@SAMPLE`).toBe(names[0]);
  });

  await t.step("an endpoint for all markets is registered with how often it is asked", async () => {
    await page.goto(`${service.url}/strategies?add=remote`);
    await page.getByLabel("Name", { exact: true }).fill("All at once");
    await page.getByLabel("Endpoint", { exact: true }).fill("serve:rotation");
    await page.getByLabel("Language", { exact: true }).fill("python");
    await page.getByLabel("Calls").selectOption("portfolio");
    await page.getByLabel("Asked").selectOption("month");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("All at once is registered").waitFor();
    const { runtime } = Object((await user.get("/api/strategies/all-at-once")).at("/strategy"));
    expect(runtime).toMatchObject({ type: "remote", endpoint: "serve:rotation", mode: "portfolio", every: "month" });
    expect(await findViolations(page)).toEqual([]);
  });
  await t.step(
    "a service with the sample alone offers real markets",
    () => fetchRealMarket(page, service.url, exchange),
  );
  await t.step("a page that fails names the likely cause", () => failOnce(page, service.url));
  expect(complaints.filter((each) => !/status of (400|502)/.test(each))).toEqual([]);
  await page.context().close();
  await browser.close();
  await service.close();
  await exchange.close();
});

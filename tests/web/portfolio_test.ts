/// <reference lib="dom" />
/** The page of a run over many markets, and code that a run brought along, in a real browser against the real service. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { connectBrowser, findViolations, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { makeRun } from "./sample_runs.ts";

Deno.test("a trader looks at a portfolio market by market, and runs a draft again", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);
  const candles = (name: string) =>
    page.getByRole("img", { name: `Candles of ${name}, equity, drawdown and position, filter, least held` });

  await t.step("contributions over time stand beside the weights, and a file has both", async () => {
    const id = await makeRun(user, "portfolio");
    await page.goto(`${service.url}/runs/${id}?tab=portfolio`);
    const drawing = page.getByRole("img", { name: /^Money that each market has given/ });
    const said = await drawing.getAttribute("aria-label");
    const record = (await user.get(`/api/backtests/${id}`)).at("/backtest/result");
    const { metrics, portfolio } = Object(record);
    const gained = (metrics.final_equity - 10_000).toLocaleString("en-US", { maximumFractionDigits: 2 });
    expect(said).toContain(`all together: +${gained}`);
    const rows = page.getByRole("region", { name: "Contributions of the markets" }).locator("tbody tr");
    expect(await rows.count()).toBe(12);
    expect(await rows.first().locator("svg polyline").count()).toBe(1);
    await page.getByRole("button", { name: "Herfindahl index" }).focus();
    await page.getByRole("tooltip").getByText("1 is one market alone").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Export" }).click();
    const link = await page.getByRole("menuitem", { name: "Weights and profits, CSV" }).getAttribute("href");
    const csv = (await user.get(link!)).text.trimEnd().split(/\r?\n/);
    expect(csv[0]).toBe("timestamp,instrument,weight,profit");
    const last = new Map(csv.slice(1).map((line) => [line.split(",")[1], Number(line.split(",")[3])]));
    for (const { instrument, pnl } of portfolio.contributions) {
      expect([instrument, last.get(instrument) ?? 0]).toEqual([instrument, expect.closeTo(pnl, 6)]);
    }
  });

  await t.step("the charts draw what the strategy decides by, with its values", async () => {
    const plots = page.getByRole("region", { name: "Charts" }).locator("dl[aria-label=Plots]");
    await plots.locator("dt").nth(9).waitFor();
    const names = (await plots.locator("dt").allInnerTexts()).map((name) => name.trim());
    expect(names.slice(0, 2)).toEqual(["filter", "least held"]);
    expect(names.slice(2)).toHaveLength(8);
    expect(names.slice(2).every((name) => name.endsWith("@SAMPLE momentum"))).toBe(true);
    expect(await plots.locator("dd").first().innerText()).toBe("0");
    expect(await plots.locator("dd").nth(1).innerText()).toMatch(/^-?\d/);
  });

  await t.step("the charts show any market with its own trades, and a trade leads to its market", async () => {
    await candles("OAK@SAMPLE").waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1)!;
    const trades = (await user.get(`/api/backtests/${id}/trades?format=csv`)).text.split("\n");
    const own = trades.filter((line) => line.includes("OAK@SAMPLE")).join("\n");
    const days = new Set(own.match(/\d{4}-\d\d-\d\d/g));
    const marked = await readMarkedDays(page);
    expect([...marked].filter((day) => !days.has(day))).toEqual([]);
    await page.getByRole("combobox", { name: "Candles of" }).selectOption({ label: "PINE@SAMPLE" });
    await candles("PINE@SAMPLE").waitFor();
    expect(page.url()).toContain("chart=PINE%40SAMPLE");
    await page.getByRole("tab", { name: "Trades" }).click();
    // Only rows in view are in the page.
    const cedar = page.getByRole("table", { name: "Trades" }).getByText("CEDAR@SAMPLE");
    await page.getByRole("table", { name: "Trades" }).getByRole("row").nth(1).waitFor();
    await until(async () => {
      await page.evaluate("document.querySelector('[role=region][aria-label=Trades]').scrollBy(0, 300)");
      return await cedar.count() > 0;
    });
    await cedar.first().click();
    await candles("CEDAR@SAMPLE").waitFor();
    await page.reload();
    await candles("CEDAR@SAMPLE").waitFor();
    expect(await findViolations(page)).toEqual([]);
    const asked = await user.get(
      `/trpc/backtests.chart?input=${
        encodeURIComponent(JSON.stringify({ id: page.url().split("/").at(-1)!.split("?")[0], market: "CEDER@SAMPLE" }))
      }`,
    );
    expect([asked.status, asked.text]).toEqual([400, expect.stringContaining("did you mean CEDAR@SAMPLE?")]);
  });

  await t.step("an empty list, and no universe, are said beside their field before anything is sent", async () => {
    await page.goto(`${service.url}/runs/new`);
    const refused = async (reach: string, field: string, words: string) => {
      await page.getByLabel("Run over").selectOption(reach);
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByText(words, { exact: true }).waitFor();
      const said = await page.getByRole("combobox", { name: field, exact: true }).getAttribute("aria-describedby");
      expect(await page.locator(`[id="${said}"]`).innerText()).toBe(words);
      expect(await findViolations(page)).toEqual([]);
    };
    await refused("list", "Instruments", "Add at least one instrument");
    await refused("universe", "Universe", "Choose a universe");
    expect(new URL(page.url()).pathname).toBe("/runs/new");
    await page.getByLabel("Run over").selectOption("one");
  });

  await t.step("a draft that came with a run is run again as it was, with its inputs and its markets", async () => {
    const source =
      `portfolio(({ top = 2 }: { top?: number }) => ({ every: "month", decide(now, markets, account, orders) {
      const chosen = markets.filter((m) => m.isMember && m.hasClosed && m.inputs.weekly.close[m.i] > 0).slice(0, top);
      orders.target(Object.fromEntries(chosen.map((m) => [m.id, 1 / top])));
    } }));`;
    const made = await user.send("POST", "/api/backtests", {
      backtest: {
        ...{
          symbol: "OAK",
          exchange: "SAMPLE",
          start_date: "2023-01-01",
          end_date: "2024-01-01",
          initial_balance: 10_000,
        },
        strategy: "My draft",
        parameters: {
          ...{ timeframe: "1d", top: 2, inputs: { weekly: { timeframe: "1w" } } },
          instruments: [{ symbol: "OAK", exchange: "SAMPLE" }, { symbol: "BIRCH", exchange: "SAMPLE" }],
          runtime: { type: "script", source },
        },
      },
    });
    const first = Object((await user.finish(made.at("/backtest/id"))).at("/backtest"));
    expect([first.status, first.error]).toEqual(["completed", null]);
    await page.goto(`${service.url}/runs/new?from=${first.id}`);
    await page.getByText(/^The script that came with the earlier run \(SHA-256 [0-9a-f]{12}…\)/).waitFor();
    await page.getByRole("group", { name: "Input weekly" }).waitFor();
    await page.getByLabel("top", { exact: true }).fill("1");
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press("Control+Enter");
    const again = Object((await user.finish(await waitForRun(page))).at("/backtest"));
    expect(again.parameters.runtime).toEqual(first.parameters.runtime);
    expect(again.parameters).toMatchObject({ top: 1, inputs: { weekly: { timeframe: "1w" } } });
    expect(again.parameters.instruments.length).toBe(2);
    expect([again.status, again.result.module_sha256]).toEqual(["completed", first.result.module_sha256]);
  });
  expect(complaints.filter((each) => !/status of 400/.test(each))).toEqual([]);
  await page.context().close();
  await browser.close();
  await service.close();
});

/** The days under the pointer, all over the charts, that have fills. */
async function readMarkedDays(page: Page): Promise<Set<string>> {
  const charts = page.getByRole("region", { name: "Charts" });
  const box = (await charts.getByRole("img").boundingBox())!;
  const days = new Set<string>();
  await until(async () => {
    for (let x = 0; x < box.width; x += 4) {
      await page.mouse.move(box.x + x, box.y + 100);
      const said = await charts.locator(":scope > div").first().innerText();
      if (/(Long|Short|Exit)/.test(said)) days.add(said.match(/\d{4}-\d\d-\d\d(?= \d\d:\d\d)/)?.[0] ?? said);
    }
    return days.size > 0;
  });
  return days;
}

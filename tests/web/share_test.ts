/** Links to runs, comparisons and optimizations in a real browser: made by their owner, read by somebody without an account. */
import { expect } from "@std/expect";
import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";

const YEAR = { ...BACKTEST, start_date: "2024-01-01", end_date: "2025-01-01", initial_balance: 10_000 };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

async function run(user: TestClient, fast: number): Promise<string> {
  const backtest = { ...YEAR, parameters: { timeframe: "1h", fast, slow: 90 }, name: `fast ${fast}`, notes: "private" };
  const id = String((await user.send("POST", "/api/backtests", { backtest })).at("/backtest/id"));
  expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
  return id;
}

/** Makes a link in the dialog of the page. @returns Its address. */
async function makeLink(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await page.getByRole("button", { name: "Make a link" }).click();
  const shown = page.getByRole("dialog").locator("code");
  await shown.waitFor();
  expect(await findViolations(page)).toEqual([]);
  return await shown.innerText();
}

Deno.test("an owner shares by a link, and somebody without an account reads what it shows", async (t) => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const user = await service.user();
  const [first, second] = [await run(user, 20), await run(user, 30)];
  const optimization = await submitOptimization(user);
  await finishOptimization(user, optimization);
  const owner = await openPage(browser);
  await shareSession(owner.page.context(), user);
  const reader = await openPage(browser, { timezoneId: "America/New_York" });
  const { page } = reader;
  let address = "";

  await t.step("the run's page makes a link, and lists it", async () => {
    await owner.page.goto(`${service.url}/runs/${first}`);
    address = await makeLink(owner.page);
    expect(address).toMatch(new RegExp(`^${service.url}/shared/hcs_[\\w-]{43}$`));
    await owner.page.getByRole("list", { name: "Links" }).getByText("Made").waitFor();
  });

  await t.step("the reader sees the run whole, and can change nothing", async () => {
    await page.goto(address);
    await page.getByRole("heading", { name: "fast 20" }).waitFor();
    await page.getByText("Shared with you to read").waitFor();
    await page.locator("canvas").first().waitFor();
    await page.getByText("Monthly returns").waitFor();
    expect(await page.title()).toBe("fast 20 on DEMO · Hindcast");
    expect(await findViolations(page)).toEqual([]);
    for (const name of ["Share", "Delete", "Run again with changes"]) {
      expect(await page.getByRole("button", { name }).or(page.getByRole("link", { name })).count()).toBe(0);
    }
    expect(await page.getByRole("tab").allInnerTexts()).toEqual(
      ["Overview", "Trades", "Orders", "Metrics", "Monte Carlo", "Stress", "Assumptions"],
    );
    for (
      const [tab, text] of [
        ["Orders", "Fate"],
        ["Monte Carlo", "No simulation of this run has been made."],
        ["Stress", "No stress test of this run has been made."],
        ["Assumptions", "data SHA-256"],
      ] as const
    ) {
      await page.getByRole("tab", { name: tab }).click();
      await page.getByText(text, { exact: true }).first().waitFor();
      expect(await findViolations(page)).toEqual([]);
    }
  });

  await t.step("the reader takes the report and the tables away", async () => {
    await page.getByRole("button", { name: "Export" }).click();
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Trades, CSV" }).click(),
    ]);
    const csv = await text(await saved.createReadStream());
    expect(csv).toBe((await user.get(`/api/backtests/${first}/trades?format=csv`)).text);
    const [report] = await Promise.all([
      page.waitForEvent("popup"),
      page.getByRole("link", { name: "Report" }).click(),
    ]);
    await report.getByRole("heading", { name: "fast 20" }).waitFor();
    expect(report.url()).toBe(address.replace("/shared/", "/api/shared/") + "/report");
    await report.close();
  });

  await t.step("the address keeps the tab, the trade and the zoom", async () => {
    await page.getByRole("tab", { name: "Trades" }).click();
    await page.getByText("2024-01-01 to 2024-12-31").waitFor();
    const row = page.getByRole("table", { name: "Trades" }).getByRole("row").nth(2);
    await row.click();
    await page.waitForURL(/tab=trades/);
    await page.waitForURL(/trade=2/);
    await page.waitForURL(/view=\d+-\d+/);
    const range = await page.getByText(/^2024-\d\d-\d\d to 2024-\d\d-\d\d$/).innerText();
    await page.reload();
    await page.locator('[role="row"][aria-current="true"]').waitFor();
    // The charts show the trade, not the whole run.
    await page.getByText(range, { exact: true }).waitFor();
    await page.getByText("2024-01-01 to 2024-12-31").waitFor({ state: "hidden" });
  });

  await t.step("the tables show the times of the zone that the charts show", async () => {
    const [trade] = (await user.get(`/api/backtests/${first}/trades?limit=1`)).list("/trades").map(Object);
    const hour = new Date(Date.parse(trade.entry_time) - 5 * 3_600_000).toISOString().slice(0, 16).replace("T", " ");
    const choose = async (name: string) => {
      await page.getByRole("button", { name: "View", exact: true }).click();
      await page.getByRole("menuitemradio", { name }).click();
      await page.keyboard.press("Escape");
    };
    const table = page.getByRole("table", { name: "Trades" });
    await choose("Your times: ");
    await table.getByRole("columnheader", { name: "Entry (New York)" }).waitFor();
    await table.getByRole("cell", { name: hour, exact: true }).first().waitFor();
    await page.getByRole("tab", { name: "Orders" }).click();
    await page.getByRole("columnheader", { name: "Placed (New York)" }).waitFor();
    await page.getByRole("cell", { name: hour, exact: true }).first().waitFor();
    await choose("Times in UTC");
    await page.getByRole("columnheader", { name: "Placed (UTC)" }).waitFor();
  });

  await t.step("a comparison and an optimization are read alike", async () => {
    await owner.page.goto(`${service.url}/compare?ids=${first},${second}`);
    await page.goto(await makeLink(owner.page));
    await page.getByRole("heading", { name: "Comparison" }).waitFor();
    await page.locator("canvas").first().waitFor();
    expect(await page.getByRole("link", { name: "fast 20" }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await owner.page.goto(`${service.url}/optimizations/${optimization}`);
    await page.goto(await makeLink(owner.page));
    await page.getByRole("heading", { name: "All trials" }).waitFor();
    await page.getByRole("region", { name: "All trials" }).getByRole("row").nth(1).waitFor();
    expect(await page.getByRole("button", { name: /^Run trial/ }).count()).toBe(0);
    const [trials] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Trials, CSV" }).click(),
    ]);
    expect(await text(await trials.createReadStream())).toContain("parameters.fast");
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a phone shows it, too", async () => {
    const phone = await openPage(browser, PHONE);
    await phone.page.goto(address);
    await phone.page.locator("canvas").first().waitFor();
    const [width, room] = await phone.page.evaluate("[document.documentElement.scrollWidth, innerWidth]") as number[];
    expect(width).toBeLessThanOrEqual(room!);
    expect(await findViolations(phone.page)).toEqual([]);
    await phone.page.context().close();
  });

  await t.step("a revoked link says so", async () => {
    await owner.page.goto(`${service.url}/runs/${first}`);
    await owner.page.getByRole("button", { name: "Share", exact: true }).click();
    await owner.page.getByRole("button", { name: /^Revoke the link made/ }).first().click();
    await owner.page.getByRole("list", { name: "Links" }).waitFor({ state: "detached" });
    await page.goto(address);
    await page.getByRole("heading", { name: "This link opens nothing any more" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await page.context().close();
  await owner.page.context().close();
  await browser.close();
  await service.close();
  expect(owner.complaints).toEqual([]);
  // The browser itself reports that the revoked link is refused.
  expect(reader.complaints.filter((line) => !/status of 404/.test(line))).toEqual([]);
});

/** The parts of a run's page that its first screen shows without scrolling, in a real browser. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { makeRun, type SampleRun } from "./sample_runs.ts";

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const RUNS: readonly SampleRun[] = ["good", "portfolio", "no-trades"];

/** The box of the trades, as an expression of the page. */
const BOX = 'document.querySelector("[role=region][aria-label=Trades]")';

/** The lower edge of the charts with what belongs to them, from the top of the window. */
async function edgeOfCharts(page: Page): Promise<number> {
  await page.locator("canvas").first().waitFor();
  const { y, height } = (await page.getByRole("region", { name: "Charts" }).boundingBox())!;
  return y + height;
}

Deno.test("the first screen shows the charts, and the table of trades all of its columns", async (t) => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const user = await service.user();
  const phone = await openPage(browser, PHONE);
  await shareSession(phone.page.context(), user);
  const wide = await openPage(browser);
  await shareSession(wide.page.context(), user);

  for (const name of RUNS) {
    const id = await makeRun(user, name);

    await t.step(`${name}: a phone has its name, its figures and its whole charts on the first screen`, async () => {
      const { page } = phone;
      await page.goto(`${service.url}/runs/${id}`);
      expect(await edgeOfCharts(page)).toBeLessThanOrEqual(844);
      const figures = (await page.locator('dl[aria-label="Main figures"]').boundingBox())!;
      const charts = (await page.getByRole("region", { name: "Charts" }).boundingBox())!;
      expect(figures.y + figures.height).toBeLessThanOrEqual(charts.y);
      expect((await page.getByRole("heading", { level: 1 }).boundingBox())!.y).toBeGreaterThan(48);
      // Each pane has a height to read it at.
      const canvases = await page.locator("canvas").all();
      const heights = await Promise.all(canvases.map(async (each) => (await each.boundingBox())?.height ?? 0));
      expect(heights.filter((height) => height >= 30).length).toBeGreaterThanOrEqual(4);
      const [width, room] = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]") as number[];
      expect(width).toBeLessThanOrEqual(room!);
      expect(await findViolations(page)).toEqual([]);
      // All else follows below.
      await page.getByRole("button", { name: "Change and see" }).scrollIntoViewIfNeeded();
      await page.getByRole("button", { name: "Delete", exact: true }).scrollIntoViewIfNeeded();
    });

    if (name === "no-trades") continue;
    await t.step(`${name}: at 1,440 pixels the table of trades needs no scrolling sideways`, async () => {
      const { page } = wide;
      await page.goto(`${service.url}/runs/${id}?tab=trades`);
      const box = page.getByRole("region", { name: "Trades" });
      await box.getByRole("row").nth(1).waitFor();
      const [width, room] = await page.evaluate(`[${BOX}.scrollWidth, ${BOX}.clientWidth]`) as number[];
      expect(width).toBeLessThanOrEqual(room!);
      const headings = await box.getByRole("columnheader").allInnerTexts();
      const first = ["Side", "Entry (UTC)", "Entry price", "Exit (UTC)", "Exit price", "P&L", "Return"];
      expect(headings.map((each) => each.trim()).slice(name === "portfolio" ? 2 : 1)).toEqual([
        ...[...first, "Entry reason", "Exit reason", "Quantity", "MAE", "MFE", "Candles", "Fees"],
      ]);
      // No cell but a reason is cut.
      const cut = await page.evaluate(`[...${BOX}.querySelectorAll("[role=cell]:not([title])")]
        .filter((cell) => cell.scrollWidth > cell.clientWidth || cell.scrollHeight > cell.clientHeight)
        .map((cell) => cell.textContent)`);
      expect(cut).toEqual([]);
      expect(await findViolations(page)).toEqual([]);
    });
  }

  await t.step("a phone shows the charts of a link on its first screen, too", async () => {
    const id = await makeRun(user, "good");
    const link = await user.send("POST", "/api/shares", { share: { backtest_id: id } });
    await phone.page.goto(`${service.url}${link.at("/path")}`);
    expect(await edgeOfCharts(phone.page)).toBeLessThanOrEqual(844);
    expect(await findViolations(phone.page)).toEqual([]);
  });

  for (const { page, complaints } of [phone, wide]) {
    await page.context().close();
    expect(complaints).toEqual([]);
  }
  await browser.close();
  await service.close();
});

/** The trades, labels and links of a run's page, in a real browser. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { BACKTEST } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const HOUR_MS = 3_600_000;
const RUN = {
  ...BACKTEST,
  strategy: "SMA Cross",
  ...{ start_date: "2024-01-01", end_date: "2024-07-01", initial_balance: 10_000 },
  parameters: { timeframe: "1h", fast: 20, slow: 90 },
};

Deno.test("a run's page shows why trades were made, and follows what programs change", async (t) => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const user = await service.user();
  const id = String((await user.send("POST", "/api/backtests", { backtest: RUN })).at("/backtest/id"));
  await user.finish(id);
  const [, second] = (await user.get(`/api/backtests/${id}/trades`)).list("/trades") as readonly {
    readonly entry_time: string;
    readonly side: "long" | "short";
  }[];
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);

  await t.step("a trade that is chosen in the table brings its candles into view", async () => {
    await page.goto(`${service.url}/runs/${id}?tab=trades`);
    const row = page.getByRole("table", { name: "Trades" }).getByRole("row").nth(2);
    await row.scrollIntoViewIfNeeded();
    await page.evaluate("scrollTo(0, document.body.scrollHeight)");
    const prices = page.locator("canvas").first();
    expect((await prices.boundingBox())!.y).toBeLessThan(0);
    await row.click();
    await until(async () => (await prices.boundingBox())!.y >= 48);
    expect(new URL(page.url()).searchParams.get("trade")).toBe("2");
    // The whole reason is there to read.
    const reason = row.getByRole("cell", { name: /^the fast average crossed (above|below) the slow one/ }).first();
    await reason.waitFor();
    const cell = "document.querySelector('[role=row][aria-current=true] > :nth-child(9)')";
    const [height, room] = await page.evaluate(`[${cell}.scrollHeight, ${cell}.clientHeight]`) as number[];
    expect(height).toBeLessThanOrEqual(room!);
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a bar where a position turns names both fills, and their reason", async () => {
    const turn = Date.parse(second!.entry_time);
    await page.goto(`${service.url}/runs/${id}?view=${turn - 60 * HOUR_MS}-${turn + HOUR_MS}`);
    await page.getByText(second!.entry_time.slice(0, 10), { exact: false }).first().waitFor();
    const side = second!.side === "long" ? "Long" : "Short";
    const way = side === "Long" ? "above" : "below";
    const charts = page.getByRole("region", { name: "Charts" });
    // The bar that is read is the last one in view, and then the one that keys move to.
    const time = (ms: number) => charts.getByText(`${new Date(ms).toISOString().slice(0, 16).replace("T", " ")} UTC`);
    await time(turn + HOUR_MS).first().waitFor();
    await charts.getByRole("img").press("ArrowLeft");
    await time(turn).first().waitFor();
    await charts.getByText(`Exit, ${side}: the fast average crossed ${way} the slow one`).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("labels that a program changes reach the open page", async () => {
    const backtest = { name: "Named by a program", tags: ["swing"], notes: "Noted by it" };
    await user.send("PATCH", `/api/backtests/${id}`, { backtest });
    await page.getByRole("heading", { name: "Named by a program" }).waitFor();
    await page.getByRole("link", { name: "swing", exact: true }).waitFor();
    expect(await page.getByRole("region", { name: "Notes" }).innerText()).toBe("Noted by it");
  });

  await t.step("a link opens what its owner sees: the tab and the trade", async () => {
    await page.goto(`${service.url}/runs/${id}?tab=trades&trade=2`);
    await page.getByRole("button", { name: "Share", exact: true }).click();
    await page.getByRole("button", { name: "Make a link" }).click();
    const address = await page.getByRole("dialog").locator("code").innerText();
    expect(address).toMatch(/\/shared\/hcs_[\w-]{43}\?tab=trades&(view=\d+-\d+&)?trade=2$/);
    const reader = await openPage(browser);
    await reader.page.goto(address);
    await reader.page.getByRole("row", { name: /^2 (long|short)/ }).and(reader.page.locator("[aria-current=true]"))
      .waitFor();
    expect(reader.complaints).toEqual([]);
    await reader.page.context().close();
  });

  await page.context().close();
  await browser.close();
  await service.close();
  expect(complaints).toEqual([]);
});

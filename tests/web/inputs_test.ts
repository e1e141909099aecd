/** The example that reads other candles, in a real browser against the real service. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { readPage } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";

Deno.test("a trader runs the example that reads the trend of days", async (t) => {
  const service = await startTestService();
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
    const shown = await page.locator(".cm-content").innerText();
    expect(file!.startsWith(shown.split("\n").slice(0, 3).join("\n"))).toBe(true);
    expect(await page.getByLabel("Name", { exact: true }).first().inputValue()).toBe("daily");
    await page.getByRole("button", { name: "Run it" }).click();
    await page.getByText(/^Completed: [\d,]+ candles\./).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Open the run" }).click();
    const id = await waitForRun(page);
    expect(await parametersOf(id)).toMatchObject({ inputs: { daily: { timeframe: "1d" } }, fast: 10, days: 20 });
  });
  expect(complaints.filter((each) => !/status of 400/.test(each))).toEqual([]);
  await page.context().close();
  await browser.close();
  await service.close();
});

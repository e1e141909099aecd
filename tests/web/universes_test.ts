/** Universes and runs over many markets, in a real browser against the real service. */
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import { connectBrowser, findViolations, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const CSV = "symbol,exchange,from,to\nOAK,SAMPLE,,\nPINE,SAMPLE,,2024-05-18\nROWAN,SAMPLE,2023-06-15,\n";

Deno.test("a trader makes a universe, runs a rotation over it, and reads what each market gave", async (t) => {
  const service = await startTestService();
  const [user, other] = [await service.user(), await service.user()];
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);

  await t.step("members are read from a file, and a wrong line is named beside them", async () => {
    await page.goto(`${service.url}/universes`);
    await page.getByText("No universe yet.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Make a universe" }).click();
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByText("Enter a name").waitFor();
    await page.getByText("Enter the members, a line each").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("my-stocks");
    await page.getByLabel("Members", { exact: true }).fill("symbol,exchange,from,to\nOAK,SAMPLE,2024-13-01,");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByText('Line 2: from must be a calendar date YYYY-MM-DD, not "2024-13-01"').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("CSV file of members").setInputFiles({
      name: "members.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(CSV),
    });
    await page.getByText("Line 2: ").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Make it" }).click();
    await page.waitForURL(`${service.url}/universes/my-stocks`);
    await page.getByText("2023-06-15").waitFor();
    expect((await user.get("/api/universes/my-stocks")).at("/universe/members")).toBe(3);
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a new version begins with the members of the newest, and the older stays to be chosen", async () => {
    await page.getByRole("button", { name: "New version" }).click();
    const members = page.getByLabel("Members", { exact: true }).and(page.locator("textarea"));
    await members.waitFor();
    expect((await members.inputValue()).trim().split(/\r?\n/)).toHaveLength(4);
    await members.fill(`${CSV}ASPEN,SAMPLE,,\nBIRCH,SAMPLE,,\n`);
    await page.getByRole("button", { name: "Add version 2" }).click();
    await page.getByText("5 rows, of").waitFor();
    await page.getByLabel("Version").selectOption("1");
    await page.getByText("3 rows, of").waitFor();
    await page.getByText("ASPEN").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Description").fill("Five invented stocks");
    await page.getByLabel("Public").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Yours, public · Five invented stocks").waitFor();
    expect((await other.get("/api/universes/my-stocks")).at("/universe/is_owner")).toBe(false);
  });

  await t.step("a portfolio strategy without markets is refused at the field, and runs over the universe", async () => {
    await page.goto(`${service.url}/runs/new?strategy=momentum-rotation`);
    await page.getByLabel("Timeframe").selectOption("1d");
    await page.getByLabel("lookback").fill("60");
    await page.getByRole("button", { name: "Run", exact: false }).last().click();
    await page.getByText("Add at least one instrument").waitFor();
    await page.getByLabel("Run over").selectOption("universe");
    await page.getByRole("combobox", { name: "Universe" }).click();
    await page.getByRole("option", { name: /my-stocks/ }).click();
    await page.getByLabel("Positions at a time").fill("0");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Enter a whole number, 1 or more").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Positions at a time").fill("2");
    await page.keyboard.press("Control+Enter");
    const id = await waitForRun(page);
    await page.getByText("Net return").first().waitFor();
    expect((await user.get(`/api/backtests/${id}`)).at("/backtest/parameters")).toMatchObject({
      universe: "my-stocks@2",
      portfolio: { positions_max: 2, rank: "listed", missing: "fail" },
    });
  });

  await t.step("weights, correlations and contributions are drawn, and a market leads to its trades", async () => {
    await page.getByRole("tab", { name: "Portfolio" }).click();
    await page.getByRole("img", { name: /^Parts of the equity in \d areas/ }).waitFor();
    await page.getByRole("img", { name: /^Correlations of \d markets\. Highest: 0\.\d\d between / }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    const table = page.getByRole("region", { name: "Contributions of the markets" });
    expect(await table.locator("tbody tr").count()).toBe(5);
    const market = table.locator("tbody").getByRole("button").first();
    const name = await market.innerText();
    await market.click();
    await page.waitForURL(/tab=trades/);
    expect(await page.getByRole("combobox", { name: /^Market/ }).inputValue()).toBe(name);
    const cells = page.getByRole("table", { name: "Trades" }).getByRole("row").nth(1).getByRole("cell");
    // Rows are drawn before their trades have come.
    await until(async () => await cells.nth(1).innerText() === name);
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("it runs again over instruments of the trader's choice", async () => {
    await page.getByRole("link", { name: "Run again with changes" }).click();
    await page.getByLabel("Run over").selectOption("list");
    for (const symbol of ["CEDAR", "HAZEL"]) {
      await page.getByRole("combobox", { name: "Instruments", exact: true }).click();
      await page.getByPlaceholder("Search instruments to add").fill(symbol);
      await page.getByRole("option", { name: new RegExp(symbol) }).click();
    }
    await page.getByText("2 of at most 1,000").waitFor();
    await page.getByRole("button", { name: "Remove CEDAR on SAMPLE" }).click();
    await page.getByText("1 of at most 1,000").waitFor();
    // Also with a list open, which takes Enter alone as a choice of its marked line.
    await page.getByRole("combobox", { name: "Instruments", exact: true }).click();
    await page.getByPlaceholder("Search instruments to add").fill("MAPLE");
    await page.locator("[role=option][data-highlighted]").waitFor();
    await page.keyboard.press("Control+Enter");
    await page.getByText("must name at least 2 instruments").waitFor();
    await page.getByRole("option", { name: /MAPLE/ }).click();
    await page.getByText("2 of at most 1,000").waitFor();
    await page.keyboard.press("Control+Enter");
    const id = await waitForRun(page);
    const parameters = Object((await user.get(`/api/backtests/${id}`)).at("/backtest/parameters"));
    expect(parameters.universe).toBeUndefined();
    expect(parameters.instruments).toMatchObject([{ symbol: "HAZEL" }, { symbol: "MAPLE" }]);
  });

  await t.step("its owner deletes it", async () => {
    await page.goto(`${service.url}/universes/my-stocks`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete universe" }).click();
    await page.getByText("No universe yet.").waitFor();
  });
  // The refusals above are the service's own, and a call on its way may find that the universe was deleted.
  expect(complaints.filter((each) => !/status of 400|status of 404 .*universes\./.test(each))).toEqual([]);
  await page.context().close();
  await browser.close();
  await service.close();
});

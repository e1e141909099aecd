/** The lines at a trade's prices belong to the run that is shown, in a real browser. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const RUN = {
  ...BACKTEST,
  strategy: "SMA Cross",
  ...{ start_date: "2024-01-01", end_date: "2024-07-01", initial_balance: 10_000, name: "The saved one" },
  parameters: { timeframe: "1h", fast: 20, slow: 90 },
};

/** The labels of price lines are filled with the colour of text, which nothing else on the scale of prices is. */
const LABELS = `(() => {
  const probe = document.createElement("canvas").getContext("2d");
  const found = [...document.querySelectorAll("[role=img] canvas")].filter(({ width, height }) => width < 150 && height > 60);
  probe.fillStyle = getComputedStyle(document.body).color;
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  return found.reduce((sum, canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3] === 255) sum++;
    }
    return sum;
  }, 0);
})()`;

const charts = (page: Page) => page.getByRole("region", { name: "Charts" }).getByRole("img");

/** The prices that the charts draw lines at, by their label, once as many labels are painted as that says. */
async function readLines(page: Page): Promise<readonly string[]> {
  let lines: readonly string[] = [];
  await page.mouse.move(0, 0);
  // Both are read anew each time: a run that takes another's place changes them one after the other.
  await until(async () => {
    const said = await charts(page).getAttribute("aria-label") ?? "";
    lines = said.split(", ").filter((part) => /^(Entry|Exit) at /.test(part));
    return (Number(await page.evaluate(LABELS)) > 200) === lines.length > 0;
  });
  return lines;
}

async function pricesOf(user: TestClient, id: string, number: number): Promise<readonly string[]> {
  const write = (price: number) => price.toLocaleString("en-US", { maximumSignificantDigits: 8 });
  const trade = Object((await user.get(`/api/backtests/${id}/trades`)).list("/trades")[number - 1]);
  return [`Entry at ${write(trade.entry_price)}`, `Exit at ${write(trade.exit_price)}`];
}

Deno.test("lines at a trade's prices go and come with the run that is shown", async (t) => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const user = await service.user();
  const saved = String((await user.send("POST", "/api/backtests", { backtest: RUN })).at("/backtest/id"));
  await user.finish(saved);
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);
  const panel = page.getByRole("region", { name: "Change and see" });
  const rows = page.getByRole("table", { name: "Trades" }).getByRole("row");
  const marked = page.locator("[role=row][aria-current=true]");
  const tried = async () => String((await user.get("/api/backtests?tag=try")).at("/backtests/0/id"));
  const untilLines = async (expected: readonly string[]) => {
    await until(async () => JSON.stringify(await readLines(page)) === JSON.stringify(expected));
  };

  await t.step("a trade of the address, and then one that is clicked", async () => {
    await page.goto(`${service.url}/runs/${saved}?tab=trades&trade=2`);
    await charts(page).waitFor();
    await untilLines(await pricesOf(user, saved, 2));
    await rows.nth(3).click();
    await untilLines(await pricesOf(user, saved, 3));
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a change in place has neither lines nor a marked trade, until one of its own is clicked", async () => {
    await page.getByRole("button", { name: "Change and see" }).click();
    await panel.getByText("These are the settings of the saved run.").waitFor();
    expect(await readLines(page)).toEqual(await pricesOf(user, saved, 3));
    await panel.getByLabel("fast", { exact: true }).fill("30");
    await panel.getByText("The page shows the change.").waitFor();
    await charts(page).waitFor();
    await untilLines([]);
    await marked.waitFor({ state: "detached" });
    const id = await tried();
    const { length } = (await user.get(`/api/backtests/${id}/trades`)).list("/trades");
    await page.getByText(`${length} of ${length} trades`).waitFor();
    await rows.nth(4).click();
    await untilLines(await pricesOf(user, id, 4));
    expect(new URL(page.url()).searchParams.get("trade")).toBe("3");
  });

  await t.step("the next change begins without them, too", async () => {
    await panel.getByLabel("fast", { exact: true }).fill("40");
    await panel.getByText("The page shows the change.").waitFor();
    await charts(page).waitFor();
    await untilLines([]);
    await marked.waitFor({ state: "detached" });
    await rows.nth(2).click();
    await untilLines(await pricesOf(user, await tried(), 2));
  });

  await t.step("the saved run comes back with its own trade", async () => {
    await panel.getByRole("button", { name: "Back to the saved run" }).click();
    await panel.getByText("These are the settings of the saved run.").waitFor();
    await untilLines(await pricesOf(user, saved, 3));
    await until(async () => (await marked.getByRole("cell").first().innerText()) === "3");
  });

  await page.context().close();
  await browser.close();
  await service.close();
  expect(complaints).toEqual([]);
});

import type { Page } from "playwright-core";
import { findViolations } from "../support/browser.ts";
import { until } from "../support/until.ts";

/** Moves the border between two panes by keys, and draws days behind the candles of a run. */
export async function arrangeCharts(page: Page): Promise<void> {
  const border = page.getByRole("separator", { name: "Height of Price" });
  const percent = async () => Number(await border.getAttribute("aria-valuenow"));
  await until(async () => await percent() > 0);
  const before = await percent();
  await border.press("ArrowDown");
  await until(async () => await percent() >= before + 4);
  await border.press("Home");
  await until(async () => await percent() === 10);

  const view = page.getByRole("button", { name: "View", exact: true });
  await view.click();
  await page.getByRole("menuitem", { name: "Longer candles behind" }).click();
  const answer = page.waitForResponse((response) => response.url().includes("backtests.candles"));
  await page.getByRole("menuitemradio", { name: "1w" }).click();
  if ((await answer).status() !== 200) throw new Error(await (await answer).text());
  await page.getByRole("menuitem", { name: "Behind them: 1w" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.getByRole("menuitemradio", { name: "1w" }).waitFor({ state: "hidden" });

  await view.click();
  await page.getByRole("menuitem", { name: "Usual heights" }).click();
  await until(async () => await percent() >= before - 1);
  await page.keyboard.press("Escape");
  await page.getByRole("menuitem", { name: "Behind them: 1w" }).waitFor({ state: "hidden" });
  await page.locator("canvas").first().waitFor();
  const violations = await findViolations(page);
  if (violations.length > 0) throw new Error(violations.join("\n"));
}

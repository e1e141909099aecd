import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { ENDPOINT_RUNS_MAX, RUNS_MAX } from "../../research/monte_carlo/request.ts";
import { findViolations } from "../support/browser.ts";

/** Simulates the open run by two methods, and deletes one simulation. */
export async function simulateRun(page: Page): Promise<void> {
  await page.getByRole("tab", { name: "Monte Carlo" }).click();
  await page.getByLabel("Paths").fill("0");
  await page.getByRole("button", { name: "Simulate" }).click();
  await page.getByText("It must be at least 1, not 0").waitFor();
  await page.getByLabel("Paths").fill("300");
  await page.getByLabel("Days of a block").fill("5");
  await page.getByRole("button", { name: "Simulate" }).click();
  await page.getByRole("heading", { name: "Days in blocks, 300 paths, blocks of 5 d, seed 1" }).waitFor();
  await page.getByText(/^Of 300 paths, [\d.]+% end with a loss, and [\d.]+% lose 50\.00% of their peak/).waitFor();
  await page.getByRole("img", { name: /nine of ten paths have between/ }).waitFor();
  const row = page.getByRole("table").getByRole("row").filter({ hasText: "Final equity" });
  const [, below = "", low = "", , , , high = ""] = await row.getByRole("cell").allTextContents();
  const numberOf = (text: string) => Number(text.replaceAll(/[,%]/g, ""));
  expect(numberOf(low)).toBeLessThan(numberOf(high));
  expect(numberOf(below)).toBeGreaterThan(0);
  await page.getByRole("rowheader", { name: "Max drawdown daily" }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.getByLabel("Method").selectOption({ label: "Trades in another order" });
  expect(await page.getByLabel("Days of a block").isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Simulate" }).click();
  await page.getByText("All 300 paths end where the real run does").waitFor();
  await page.getByText("As many trades, drawn with replacement").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).last().click();
  await page.getByRole("button", { name: "Delete simulation" }).click();
  await page.getByText("All 300 paths end where the real run does").waitFor({ state: "hidden" });
  await page.getByText(/^Of 300 paths/).waitFor();
  await page.getByLabel("Method").selectOption({ label: "Candles in blocks" });
  const most = RUNS_MAX.toLocaleString("en-US");
  await page.getByText(`1 to ${most}; endpoints: 1 to ${ENDPOINT_RUNS_MAX}`, { exact: true }).waitFor();
  await page.getByLabel("Paths", { exact: true }).fill("10000");
  // The page follows it by events, and does not ask again and again.
  const followed = page.waitForRequest(/monteCarlo\.onEvent/);
  await page.getByRole("button", { name: "Simulate" }).click();
  await followed;
  await page.getByRole("button", { name: "Cancel simulation" }).click();
  await page.getByRole("button", { name: "Cancel simulation" }).waitFor({ state: "hidden" });
}

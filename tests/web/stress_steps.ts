import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { findViolations } from "../support/browser.ts";

/** Stresses the open run, and reads the table and its picture. */
export async function stressRun(page: Page): Promise<void> {
  await page.getByRole("tab", { name: "Stress" }).click();
  await page.getByRole("button", { name: "Start a stress test" }).click();
  await page.getByRole("img", { name: /^Net return with each change, from/ }).waitFor();
  const table = page.getByRole("region", { name: "Stress test" });
  await table.getByRole("row").filter({ hasText: "As it ran" }).waitFor();
  await table.getByRole("row").filter({ hasText: "Orders reach the market a candle later" }).waitFor();
  await page.getByRole("heading", { name: "By regime" }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Test again" }).waitFor();
}

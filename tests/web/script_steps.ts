/// <reference lib="dom" />
/** Steps about scripts on the page of strategies. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { findViolations, waitForRun } from "../support/browser.ts";
import type { TestClient } from "../support/client.ts";
import { editorOf, readEditor, writeEditor } from "./editor_steps.ts";
import { blockIn, readPage } from "../support/pages.ts";
import { makeScript, SCRIPT } from "./sample_strategies.ts";

/** Registers the script that the form begins with: first with a mistake, then mended. Runs it, and reads its source again. */
export async function registerScript(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/strategies`);
  await page.getByRole("link", { name: "Add a strategy" }).click();
  await editorOf(page).waitFor();
  const template = await readEditor(page);
  expect(template.trim()).toBe(blockIn(await readPage("strategies/SCRIPTS.md"), "ts", "strategy(").trim());
  expect(await findViolations(page)).toEqual([]);

  await page.getByLabel("Name", { exact: true }).fill("My Average");
  await writeEditor(page, template.replace("period);", "period;"));
  await page.getByRole("button", { name: "Register" }).click();
  const report = page.getByRole("alert").filter({ hasText: "The script did not pass its check" });
  await report.getByText(/Line 4, column \d+: /).waitFor();
  await report.getByText("this.mean = sma(close, period;").waitFor();
  await page.getByText("✕ 4").waitFor();
  expect(await editorOf(page).getAttribute("aria-invalid")).toBe("true");
  expect(await page.locator(".cm-activeLineGutter").textContent()).toBe("✕ 4");
  expect(await findViolations(page)).toEqual([]);

  await writeEditor(page, template);
  await page.getByRole("button", { name: "Register" }).click();
  await page.getByText("My Average is registered, version 1.0.0").waitFor();
  await page.getByRole("link", { name: "Run it" }).click();
  await page.getByLabel("period", { exact: true }).waitFor();
  await page.keyboard.press("Control+Enter");
  await waitForRun(page);
  await page.getByText("Net return").first().waitFor();
  await page.getByLabel("Plots", { exact: true }).getByText("mean").waitFor();
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByText("The strategy logged nothing.").waitFor();
  expect(await findViolations(page)).toEqual([]);

  await page.goto(`${url}/strategies/my-average`);
  const source = page.getByLabel("Source", { exact: true }).locator("code");
  await source.waitFor();
  expect(await source.textContent()).toBe(template);
  await page.getByRole("link", { name: /^Script [0-9a-f]{12}$/ }).waitFor();
  expect(await findViolations(page)).toEqual([]);
}

/** Registers the script that the form begins with, with another parameter: its own defaults hold, and the report is seen. */
export async function changeParameters(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/strategies?add=script`);
  await editorOf(page).waitFor();
  const schema = page.getByLabel("Parameter schema");
  expect(Object.keys(JSON.parse(await schema.inputValue()).properties)).toEqual(["period", "stop"]);
  const template = await readEditor(page);
  const head = "({ period = 20, stop = 0.1 }: { period?: number; stop?: number })";
  const changed = template.replace(head, "({ days = 50 })").replaceAll("period", "days").replace("stop })", "0.1 })");
  await writeEditor(page, changed);
  await page.waitForFunction(() => {
    const field = document.querySelector<HTMLTextAreaElement>("textarea[name=schema]");
    return field !== null && !field.value.includes("period");
  });
  await page.getByLabel("Name", { exact: true }).fill("Of Days");
  await page.getByRole("button", { name: "Register" }).click();
  const report = page.getByRole("status").filter({ hasText: "Of Days is registered" });
  await report.waitFor();
  expect(await report.evaluate((element) => element === document.activeElement)).toBe(true);
  const { top, bottom } = await report.evaluate((element) => element.getBoundingClientRect().toJSON());
  expect(top).toBeGreaterThanOrEqual(0);
  expect(bottom).toBeLessThanOrEqual(page.viewportSize()!.height);
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("link", { name: "Run it" }).click();
  const days = page.getByLabel("days", { exact: true });
  await days.waitFor();
  expect(await days.inputValue()).toBe("50");
  expect(await page.getByLabel("stop", { exact: true }).count()).toBe(0);
}

/** Adds a version to the script of registerScript(), whose page is open: first with a mistake, then mended. */
export async function addScriptVersion(page: Page): Promise<void> {
  const source = page.getByLabel("Source", { exact: true }).locator("code");
  const first = await source.textContent() ?? "";
  await page.getByRole("button", { name: "New version" }).click();
  await editorOf(page).waitFor();
  expect(await readEditor(page)).toBe(first);
  await writeEditor(page, first.replace("period);", "period;"));
  await page.getByRole("button", { name: "Add the version" }).click();
  await page.getByRole("alert").filter({ hasText: "The script did not pass its check" }).waitFor();
  await page.getByText("✕ 4").waitFor();
  expect(await findViolations(page)).toEqual([]);

  const second = first.replace("period = 20", "period = 50");
  await writeEditor(page, second);
  await page.getByRole("button", { name: "Add the version" }).click();
  await page.getByRole("heading", { name: "Source of version 1.0.1" }).waitFor();
  await source.filter({ hasText: "period = 50" }).waitFor();
  expect(await source.textContent()).toBe(second);
}

/** Begins a script with the source of another user's, as soon as its owner opens it. */
export async function startFromAnother(page: Page, url: string, owner: TestClient): Promise<void> {
  const slug = await makeScript(owner, { name: "Of Another Author", is_public: true });
  const start = page.getByRole("link", { name: "Start from this one" });
  await page.goto(`${url}/strategies/${slug}`);
  await page.getByRole("link", { name: "Run it" }).waitFor();
  expect(await start.count()).toBe(0);
  const opened = await owner.send("PATCH", `/api/strategies/${slug}`, { strategy: { source_access: "open" } });
  expect(opened.status).toBe(200);
  await page.reload();
  await start.click();
  await editorOf(page).waitFor();
  expect(await readEditor(page)).toBe(SCRIPT);
  expect(await findViolations(page)).toEqual([]);
}

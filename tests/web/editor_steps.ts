/** The editor of scripts in a real browser. */
import { expect } from "@std/expect";
import type { Locator, Page } from "playwright-core";
import { findViolations } from "../support/browser.ts";
import { until } from "../support/until.ts";

/** The text of the editor, which draws all lines of a short one. */
export async function readEditor(page: Page): Promise<string> {
  return (await editorOf(page).locator(".cm-line").allTextContents()).join("\n");
}

/** Puts a text in the place of the editor's, as a paste does. */
export async function writeEditor(page: Page, text: string): Promise<void> {
  await editorOf(page).focus();
  await page.keyboard.press("Control+A");
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", ${JSON.stringify(text)});
    let focused = document.activeElement;
    while (focused.shadowRoot !== null) focused = focused.shadowRoot.activeElement;
    focused.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  })()`);
}

export function editorOf(page: Page): Locator {
  return page.getByRole("textbox", { name: "Script", exact: true });
}

/** A script has a console of its own. */
const LOG = "console.log";
const MENDED = `strategy(() => ({
  decide(i, { close }, account, orders) {
    plot("twice", 2 * close[i], "below");
    if (i === 30) ${LOG}("<b>thirty</b>");
    if (i === 31) orders.buy();
  },
}));
`;

/** Runs a text of the form that is open: with a mistake, mended, failing, and endless until the next run. */
export async function tryScript(page: Page): Promise<void> {
  const panel = page.getByRole("region", { name: "Try it" });
  await writeEditor(page, MENDED.replace("orders.buy();", "orders.buy(;"));
  await page.keyboard.press("Control+Enter");
  await panel.getByRole("alert").filter({ hasText: "strategy.ts:5:" }).waitFor();
  await page.getByText("✕ 5").waitFor();
  await page.locator(".cm-lintRange-error").waitFor();
  expect(await editorOf(page).getAttribute("aria-invalid")).toBe("true");
  expect(await findViolations(page)).toEqual([]);

  await writeEditor(page, MENDED);
  await page.keyboard.press("Control+Enter");
  await panel.getByText(/^Completed: /).waitFor();
  await panel.getByText("Net return").waitFor();
  await panel.getByLabel("Plots", { exact: true }).getByText("twice").waitFor();
  expect(await panel.getByRole("region", { name: "Log" }).textContent()).toBe("<b>thirty</b>");
  await page.getByText("✕ 5").waitFor({ state: "detached" });
  expect(await findViolations(page)).toEqual([]);

  // The check before a run ends with the 512th candle.
  await writeEditor(page, MENDED.replace("i === 31", "i > 600 && orders.nothing.here"));
  await page.keyboard.press("Control+Enter");
  await panel.getByText("The run failed.").waitFor();
  await page.getByText("✕ 5").waitFor();
  await panel.getByLabel("Plots until the failure").waitFor();
  await panel.getByRole("region", { name: "Log" }).getByText(/at .*decide \(strategy\.ts:5:/).waitFor();

  await writeEditor(page, MENDED.replace("if (i === 31)", "if (i > 600) for (;;)"));
  const accepted = page.waitForResponse((response) => response.url().includes("backtests.create"));
  await page.keyboard.press("Control+Enter");
  await panel.getByText("Running: ").waitFor();
  expect((await accepted).status()).toBe(200);
  await writeEditor(page, MENDED);
  await page.keyboard.press("Control+Enter");
  await panel.getByText(/^Completed: /).waitFor();

  await writeEditor(page, MENDED.replace("orders.buy();", "orders.buy(;"));
  await page.keyboard.press("Control+Enter");
  await panel.getByText("Of an earlier text: the last one did not run. Completed: ").waitFor();
  expect(await findViolations(page)).toEqual([]);

  // Typed text is kept until it is sent.
  await page.reload();
  await page.getByText("Filled in with what you typed before").waitFor();
  await until(async () => await readEditor(page) === MENDED.replace("orders.buy();", "orders.buy(;"));
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Begin anew" }).click();
  await page.getByLabel("Begin with").waitFor();
}

/** Completes a name, reads its documentation, indents, and leaves the editor by its keys. */
export async function useEditorKeys(page: Page): Promise<void> {
  await writeEditor(page, MENDED);
  await editorOf(page).getByText("if (i === 31)").click();
  await page.keyboard.press("End");
  await page.keyboard.type(" orders.closeT");
  await page.locator(".cm-tooltip-autocomplete").getByText("closeTrade", { exact: true }).waitFor();
  await page.locator(".cm-completionInfo").getByText("Closes this fraction of one trade, at market.").waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Home");
  await page.keyboard.press("Tab");
  expect(await readEditor(page)).toBe(
    MENDED.replace("    if (i === 31) orders.buy();", "      if (i === 31) orders.buy(); orders.closeT"),
  );
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  await page.locator(".cm-editor:not(.cm-focused)").waitFor();
  expect(await readEditor(page)).toContain("      if (i === 31)");
  // The name begins behind four spaces.
  await editorOf(page).locator(".cm-line", { hasText: "plot(" }).hover({ position: { x: 55, y: 10 } });
  await page.locator(".cm-tooltip-hover").getByText("Draws a value at the deciding candle").waitFor();
}

/** Text that was typed and not sent, when its page is left, in a real browser against the real service. */
import { expect } from "@std/expect";
import type { Locator, Page } from "playwright-core";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { editorOf, readEditor, writeEditor } from "./editor_steps.ts";
import { makeRun, makeUniverse } from "./sample_runs.ts";
import { makeScript } from "./sample_strategies.ts";

const NOTE = "Filled in with what you typed before";
/** Leaves the browser's storage no room. */
const FILL = `for (let size = 2 ** 22; size >= 1; size /= 2) {
  try { for (let n = 0;; n++) localStorage.setItem("full " + size + " " + n, "x".repeat(size)); } catch {}
}`;
const EMPTY =
  `Object.keys(localStorage).filter((key) => key.startsWith("full")).forEach((key) => localStorage.removeItem(key))`;

Deno.test("typed text is there again after its page was left, or leaving asks first", async (t) => {
  const service = await startTestService();
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  const user = await service.user();
  await shareSession(page.context(), user);
  const [universe, script, run] = [await makeUniverse(user), await makeScript(user), await makeRun(user, "good")];
  const runs = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Runs", exact: true });

  /** Types, and finds the text again after a reload and after Back. */
  async function isKept(
    path: string,
    open: () => Promise<void>,
    type: () => Promise<void>,
    read: () => Promise<string>,
  ) {
    await page.goto(`${service.url}${path}`);
    await open();
    await type();
    const typed = await read();
    await page.reload();
    await open();
    await until(async () => await read() === typed);
    await page.getByText(NOTE).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await runs.click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    await page.goBack();
    await open();
    await until(async () => await read() === typed);
    await page.getByRole("button", { name: "Begin anew" }).click();
    await page.getByText(NOTE).waitFor({ state: "hidden" });
    await until(async () => await read() !== typed);
  }
  const opener = (button: string, field: Locator) => async () => {
    await page.getByRole("button", { name: button, exact: true }).click();
    await field.waitFor();
  };
  const members = page.getByRole("textbox", { name: "Members" });
  const description = page.getByLabel("Description", { exact: true });

  await t.step("the members of a universe's next version, and its words", async () => {
    const add = () => members.fill("symbol,exchange,from,to\nOAK,SAMPLE,,\n");
    await isKept(`/universes/${universe}`, opener("New version", members), add, () => members.inputValue());
    const describe = () => description.fill("Some trees");
    await isKept(`/universes/${universe}`, opener("Edit", description), describe, () => description.inputValue());
  });

  await t.step("the words of a strategy, and the script of its next version", async () => {
    const describe = () => description.fill("Buys what rises");
    await isKept(`/strategies/${script}`, opener("Edit", description), describe, () => description.inputValue());
    const write = () => writeEditor(page, "strategy(() => ({ decide() {} }));");
    await isKept(`/strategies/${script}`, opener("New version", editorOf(page)), write, () => readEditor(page));
  });

  await t.step(
    "the name of a run is asked about by a link, a reload, Back and closing; a tab asks nothing",
    async () => {
      await page.goto(`${service.url}/runs`);
      await page.locator(`a[href="/runs/${run}"]`).first().click();
      await page.getByRole("button", { name: "Rename the run" }).click();
      const name = page.getByLabel("Name of the run");
      await name.fill("Slow and steady");
      await asksAndStays(page, () => runs.click(), /^What you typed here is not saved/);
      await asksAndStays(page, () => page.evaluate("history.back()"), /^What you typed here is not saved/);
      await asksAndStays(page, () => page.evaluate("location.reload()"), /^$/);
      await asksAndStays(page, () => page.close({ runBeforeUnload: true }), /^$/);
      expect([new URL(page.url()).pathname, await name.inputValue()]).toEqual([`/runs/${run}`, "Slow and steady"]);
      await page.getByRole("tab", { name: "Metrics" }).click();
      await page.waitForURL(/tab=metrics/);
      await name.press("Enter");
      await page.getByRole("heading", { name: "Slow and steady" }).waitFor();
      await runs.click();
      await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    },
  );

  await t.step("notes are kept, and asked about where the browser has no room for them", async () => {
    await page.goto(`${service.url}/runs/${run}`);
    await page.getByRole("button", { name: /Notes|Edit the notes/ }).click();
    const notes = page.getByLabel("Notes on the run");
    await notes.fill("Short");
    await runs.click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    await page.goBack();
    await until(async () => await notes.inputValue() === "Short");
    await page.evaluate(FILL);
    await notes.fill("Too long for the browser");
    await asksAndStays(page, () => runs.click(), /^What you typed here is not saved/);
    await page.evaluate(EMPTY);
    await notes.fill("Kept again");
    await runs.click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  });

  await page.context().close();
  await browser.close();
  await service.close();
  expect(complaints).toEqual([]);
});

/** Leaves the page, which asks, and stays. A browser has words of its own for a reload and for closing. */
async function asksAndStays(page: Page, leave: () => Promise<unknown>, words: RegExp): Promise<void> {
  const asked = Promise.withResolvers<string>();
  page.once("dialog", async (dialog) => {
    await dialog.dismiss();
    asked.resolve(dialog.message());
  });
  await leave();
  expect(await asked.promise).toMatch(words);
}

/** Pages whose record is gone, and addresses without a page, in a real browser against the real service. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";
import { makeRun } from "./sample_runs.ts";

Deno.test("a record that is deleted elsewhere, and an address without a page, lead back", async (t) => {
  const service = await startTestService();
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  const user = await service.user();
  const lost = page.getByRole("heading", { name: "There is no such page" });

  await t.step("a visitor at an unknown address finds the way to sign in", async () => {
    await page.goto(`${service.url}/startegies`);
    await lost.waitFor();
    expect(await page.getByRole("link", { name: "Go to the strategies" }).getAttribute("href")).toBe("/strategies");
    expect(await page.getByRole("main").count()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.waitForURL(`${service.url}/sign-in`);
    // No call was refused on the way.
    expect(complaints).toEqual([]);
  });

  await shareSession(page.context(), user);
  const good = await makeRun(user, "good");

  await t.step("a user keeps the links to all pages there, and is led to the nearest one", async () => {
    await page.goto(`${service.url}/backtests/${good}`);
    await lost.waitFor();
    await page.getByText(`Nothing is at /backtests/${good}.`).waitFor();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Market data" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: `Go to /runs/${good}` }).click();
    await page.getByText("Net return").first().waitFor();
    await page.goto(`${service.url}/runs/some/where`);
    await page.getByRole("link", { name: "Go to your runs" }).click();
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  await t.step("the page of a run that another tab or a program deletes says so", async () => {
    const other = await page.context().newPage();
    for (const open of [other, page]) {
      await open.goto(`${service.url}/runs/${good}`);
      await open.getByText("Net return").first().waitFor();
    }
    await other.getByRole("button", { name: "Delete" }).click();
    await other.getByRole("button", { name: "Delete run" }).click();
    await other.waitForURL(`${service.url}/runs`);
    await page.getByRole("alert").getByRole("heading", { name: "This run was deleted" }).waitFor();
    expect(await page.getByText("Net return").count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Go to your runs" }).click();
    await page.getByRole("button", { name: "Run a first backtest" }).waitFor();
    await other.close();
  });

  await t.step("so does the page of an optimization, when it is looked at again", async () => {
    const id = await submitOptimization(user);
    await finishOptimization(user, id);
    await page.goto(`${service.url}/optimizations/${id}`);
    await page.getByRole("heading", { name: "How much is luck" }).waitFor();
    expect((await user.send("DELETE", `/api/optimizations/${id}`)).status).toBe(204);
    // A tab that comes into sight asks again for what is older than ten seconds.
    await page.clock.install();
    await page.clock.fastForward(11_000);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await page.getByRole("heading", { name: "This optimization was deleted" }).waitFor();
    await page.getByRole("link", { name: "Go to your optimizations" }).click();
    await page.getByRole("heading", { name: "Optimizations" }).waitFor();
  });

  await page.context().close();
  await browser.close();
  await service.close();
  // The browser itself reports that a record is gone.
  expect(complaints.filter((line) => !/status of 404/.test(line))).toEqual([]);
});

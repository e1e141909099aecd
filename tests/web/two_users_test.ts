import { expect } from "@std/expect";
import { connectBrowser, openPage, shareSession } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { makeRun } from "./sample_runs.ts";

Deno.test("one user sees none of another's runs, and a session that ends during a REST call leads to sign-in and back", async () => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const [owner, stranger] = [await service.user(), await service.user()];
  const id = await makeRun(owner, "failed");
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), stranger);
  await page.goto(`${service.url}/runs`);
  await page.getByRole("button", { name: "Run a first backtest" }).waitFor();
  await page.goto(`${service.url}/runs/${id}`);
  await page.getByRole("heading", { name: "There is no such page" }).waitFor();
  await page.goto(`${service.url}/account`);
  await page.getByLabel("Current password").fill("correct horse battery");
  await page.getByLabel("New password", { exact: true }).fill("another horse battery");
  await page.getByLabel("New password again").fill("another horse battery");
  await page.context().clearCookies();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(new URL(page.url()).searchParams.get("to")).toBe("/account");
  await page.context().close();
  await browser.close();
  await service.close();
  // The browser itself reports the refusals that the steps provoke.
  expect(complaints.filter((line) => !/status of 4/.test(line))).toEqual([]);
});

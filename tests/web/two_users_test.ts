import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { openPostgres } from "../../db/client.ts";
import { grantAdmin } from "../../db/users.ts";
import { connectBrowser, openPage, shareSession } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { makeRun } from "./sample_runs.ts";

const PASSWORD = "correct horse battery";
// Longer than a service reads of a request that it refuses.
const LINES = 100_000;
const FILE = Buffer.from(
  "time,open,high,low,close,volume\n" +
    Array.from({ length: LINES }, (_, hour) => `${1_262_304_000 + hour * 3600},10,12,9,11,5\n`).join(""),
);

Deno.test(
  "one user sees none of another's runs, and a session that ends during a call leads to sign-in and back",
  async (t) => {
    const service = await startTestService("PostgreSQL");
    const browser = await connectBrowser();
    const [owner, stranger] = [await service.user(), service.client()];
    const email = await stranger.signUp(undefined, PASSWORD);
    const id = await makeRun(owner, "failed");
    const { page, complaints } = await openPage(browser);
    await shareSession(page.context(), stranger);
    await page.goto(`${service.url}/runs`);
    await page.getByRole("button", { name: "Run a first backtest" }).waitFor();
    await page.goto(`${service.url}/runs/${id}`);
    await page.getByRole("heading", { name: "This run is not yours to see" }).waitFor();
    await t.step("a session that ends before a password is changed", async () => {
      await page.goto(`${service.url}/account`);
      await page.getByLabel("Current password").fill(PASSWORD);
      await page.getByLabel("New password", { exact: true }).fill("another horse battery");
      await page.getByLabel("New password again").fill("another horse battery");
      await page.context().clearCookies();
      await page.keyboard.press("Enter");
      await signInAgain(page, "/account", email);
      await page.getByText("this one").waitFor();
    });

    await t.step("a session that ends before a file of candles is sent", async () => {
      const handle = await openPostgres(service.databaseUrl, 1);
      await grantAdmin(handle.db, email);
      await handle.close();
      await page.goto(`${service.url}/data`);
      const choose = async () => {
        await page.getByLabel("CSV file").setInputFiles({
          name: "COCOA_ICE_1h.csv",
          mimeType: "text/csv",
          buffer: FILE,
        });
        await page.locator("form").getByLabel("Class").selectOption("crypto");
      };
      await choose();
      // A call that is still on its way would lead to sign-in by itself.
      await page.getByRole("link", { name: "DEMO" }).waitFor();
      await page.context().clearCookies();
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await signInAgain(page, "/data", email);
      await choose();
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("Imported COCOA on ICE, 1h.").waitFor();
    });

    await page.context().close();
    await browser.close();
    await service.close();
    // The browser itself reports the refusals that the steps provoke.
    expect(complaints.filter((line) => !/status of 4/.test(line))).toEqual([]);
  },
);

/** Signs in where the session has ended, and waits for the page that it ended on. */
async function signInAgain(page: Page, path: string, email: string): Promise<void> {
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  const { origin, searchParams } = new URL(page.url());
  expect(searchParams.get("to")).toBe(path);
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${origin}${path}`);
}

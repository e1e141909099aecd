/** A visitor's way to a result, in a real browser against the real service. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { makeRun } from "./sample_runs.ts";

Deno.test("a visitor signs up on the way to a run, reads it, and signs out", async (t) => {
  const service = await startTestService();
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  const email = `${crypto.randomUUID()}@example.com`;
  const fill = async (address: string, password: string) => {
    await page.getByLabel("E-mail").fill(address);
    await page.getByLabel("Password").fill(password);
    await page.keyboard.press("Enter");
  };

  await t.step("who has no session is asked to sign in, and every fault stands beside its field", async () => {
    await page.goto(`${service.url}/runs?from=a-link`);
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Make an account" }).click();
    await fill("nobody", "short");
    await page.getByText("Enter an address like name@example.com").waitFor();
    await page.getByText("Use at least 8 characters").waitFor();
    await fill(email, "password");
    await page.getByText("must not be one of the commonest passwords").waitFor();
    expect(await page.getByLabel("Password").getAttribute("aria-invalid")).toBe("true");
  });

  await t.step("an account leads on to where the visitor was going", async () => {
    await fill(email, "correct horse battery");
    await page.waitForURL(`${service.url}/runs?from=a-link`);
    await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
  });

  await t.step("a result is shown, and its charts are drawn", async () => {
    const other = await service.user();
    await shareSession(page.context(), other);
    await page.goto(`${service.url}/runs/${await makeRun(other, "good")}`);
    await page.getByRole("heading", { name: "Donchian Breakout" }).waitFor();
    await page.getByText("Net return").first().waitFor();
    await page.locator("canvas").first().waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("signing out leads back to the start", async () => {
    await page.getByRole("button", { name: /Account of/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await fill(email, "not my password");
    await page.getByRole("alert").getByText(/Invalid/).waitFor();
  });

  await page.context().close();
  await browser.close();
  await service.close();
  // The browser itself reports each refusal that the steps above provoke.
  expect(complaints.filter((line) => !/the server responded with a status of 4/.test(line))).toEqual([]);
});

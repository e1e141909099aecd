/// <reference lib="dom" />
/** Pages and forms while an answer of the service is still on its way, in a real browser. */
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { openPostgres } from "../../db/client.ts";
import { grantAdmin } from "../../db/users.ts";
import { connectBrowser, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { BACKTEST } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { makeRun } from "./sample_runs.ts";

/** Holds back the calls that fit. @returns Lets them go, and waits for the answer to the first of them. */
async function holdBack(page: Page, fits: RegExp): Promise<() => Promise<void>> {
  const left = Promise.withResolvers<void>();
  const isHeld = (url: URL) => fits.test(decodeURIComponent(url.href));
  await page.route(isHeld, async (route) => {
    await left.promise;
    await route.fallback();
  });
  const answer = page.waitForResponse((response) => isHeld(new URL(response.url())));
  return async () => {
    left.resolve();
    await (await answer).finished();
  };
}

Deno.test("no page shows or does anything wrong while an answer is on its way", async (t) => {
  const service = await startTestService();
  const user = service.client();
  const email = await user.signUp();
  const handle = await openPostgres(service.databaseUrl, 1);
  await grantAdmin(handle.db, email);
  await handle.close();
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);
  const id = await makeRun(user, "good");

  /** Chooses a line of a list with a search, and waits until the list is closed. */
  const choose = async (label: string, search: string, text: string) => {
    await page.getByRole("combobox", { name: label, exact: true }).click();
    await page.getByPlaceholder(search).fill(text);
    await page.getByRole("option", { name: new RegExp(`^${text}`) }).click();
    await page.getByPlaceholder(search).waitFor({ state: "hidden" });
  };

  await t.step("figures have their labels and their percent signs from the first", async () => {
    await page.addInitScript(`new MutationObserver(() => {
      const first = document.querySelector("dl[aria-label='Main figures'] dd");
      if (first && !first.textContent.endsWith("%")) sessionStorage.setItem("saw", first.textContent);
    }).observe(document, { subtree: true, childList: true, characterData: true })`);
    const asked = page.waitForRequest(/backtests\.metrics/);
    const release = await holdBack(page, /backtests\.metrics/);
    await page.goto(`${service.url}/runs/${id}`);
    await asked;
    await release();
    await page.getByText("Net return").first().waitFor();
    expect(await page.evaluate("sessionStorage.getItem('saw')")).toBe(null);
  });

  await t.step(
    "a strategy that is late neither replaces a later choice nor lets another run in its place",
    async () => {
      await page.goto(`${service.url}/runs/new`);
      const strategy = page.getByRole("combobox", { name: "Strategy", exact: true });
      const run = page.getByRole("button", { name: "Run", exact: true });
      const submitted: string[] = [];
      page.on("request", (request) => void submitted.push(new URL(request.url()).pathname));
      const isSubmitted = () => submitted.some((path) => path.includes("backtests.create"));
      const releaseFirst = await holdBack(page, /strategies\.get\?.*donchian-breakout/);
      await choose("Strategy", "Search strategies", "Donchian Breakout");
      expect(await run.isDisabled()).toBe(true);
      await page.keyboard.press("Control+Enter");
      await choose("Strategy", "Search strategies", "Buy and Hold");
      await strategy.getByText("Buy and Hold").waitFor();
      await releaseFirst();
      // It is in the browser's memory now, so that this choice comes after that answer.
      const releaseSecond = await holdBack(page, /strategies\.get\?.*equal-weight/);
      await choose("Strategy", "Search strategies", "Equal Weight");
      expect([await strategy.innerText(), await run.isDisabled()]).toEqual([
        expect.stringMatching(/^Buy and Hold/),
        true,
      ]);
      await releaseSecond();
      await strategy.getByText("Equal Weight").waitFor();
      await choose("Strategy", "Search strategies", "Buy and Hold");
      await strategy.getByText("Buy and Hold").waitFor();
      expect([await run.isDisabled(), isSubmitted()]).toEqual([false, false]);
    },
  );

  await t.step("an instrument that is chosen stands by its name, and not as one that is typed", async () => {
    await page.goto(`${service.url}/runs/new`);
    await page.getByText(/candles from 2024-01-01 to 2024-12-31/).waitFor();
    await page.getByRole("combobox", { name: "Instrument", exact: true }).click();
    const release = await holdBack(page, /marketData\.instruments\?.*OAK/);
    await page.getByRole("option", { name: /^OAK/ }).click();
    expect(await page.getByRole("combobox", { name: "Instrument", exact: true }).innerText()).toMatch(/^OAK on SAMPLE/);
    expect(await page.getByLabel("Symbol", { exact: true }).count()).toBe(0);
    await release();
    await page.getByText(/candles from 2022-\d\d-\d\d to /).waitFor();
  });

  await t.step("the form of an earlier file is gone while a new one is read", async () => {
    await page.goto(`${service.url}/data`);
    const take = (name: string) => {
      const buffer = Buffer.from("time,open,high,low,close\n2024-03-01,1,1,1,1\n2024-03-02,1,1,1,1");
      return page.getByLabel("CSV file").setInputFiles({ name, mimeType: "text/csv", buffer });
    };
    const symbol = page.getByLabel("Symbol", { exact: true });
    await take("OAK_SAMPLE_1d.csv");
    await symbol.waitFor();
    const release = await holdBack(page, /marketData\.instruments\?.*BIRCH/);
    await take("BIRCH.csv");
    await page.getByRole("button", { name: "Import", exact: true }).waitFor({ state: "detached" });
    // The last file is the one to import, also where the answer about an earlier one comes later.
    await take("PINE_XETRA_1d.csv");
    await until(async () => await symbol.count() === 1 && await symbol.inputValue() === "PINE");
    await release();
    expect(await page.getByLabel("Exchange").inputValue()).toBe("XETRA");
  });

  await t.step("an answer from before a change does not hide it", async () => {
    const other = service.client();
    const name = await other.signUp();
    await page.goto(`${service.url}/admin`);
    const promote = page.getByRole("button", { name: `Make an admin: ${name}` });
    await promote.waitFor();
    const [read, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const searched = /admin\/list-users\?.*searchValue/;
    await page.route(searched, async (route) => {
      const response = await route.fetch();
      read.resolve();
      await left.promise;
      await route.fulfill({ response });
    });
    await page.getByLabel("Find users by e-mail").fill(name);
    await read.promise;
    const changed = page.waitForResponse(/admin\/set-role/);
    await promote.click();
    await (await changed).finished();
    left.resolve();
    await page.getByRole("button", { name: `Make a user: ${name}` }).waitFor();
  });

  await t.step("a limit that is typed while another one is saved stays", async () => {
    await page.goto(`${service.url}/admin`);
    await page.getByRole("button", { name: `Manage: ${email}` }).click();
    const limits = page.getByRole("form", { name: "Limits" });
    await limits.getByLabel("Versions of strategies").fill("3");
    const release = await holdBack(page, /users\.quotas/);
    const asked = page.waitForRequest(/users\.quotas/);
    await limits.getByRole("button", { name: "Save the limits" }).click();
    await asked;
    await limits.getByLabel("Bytes of modules").fill("9000");
    await release();
    await limits.getByText("Saved.").waitFor();
    const typed = ["Versions of strategies", "Bytes of modules"].map((label) => limits.getByLabel(label).inputValue());
    expect(await Promise.all(typed)).toEqual(["3", "9000"]);
  });

  await t.step("a change that is kept is named after what ran, and not after what is being typed", async () => {
    const parameters = { timeframe: "1h", fast: 20, slow: 90 };
    const backtest = { ...BACKTEST, start_date: "2024-01-01", end_date: "2024-07-01", name: "Saved", parameters };
    const saved = String((await user.send("POST", "/api/backtests", { backtest })).at("/backtest/id"));
    await user.finish(saved);
    await page.goto(`${service.url}/runs/${saved}?change=true`);
    const panel = page.getByRole("region", { name: "Change and see" });
    await panel.getByLabel("slow", { exact: true }).fill("120");
    await panel.getByText("The page shows the change.").waitFor();
    // In one turn of the page, so that no pause in typing lies between.
    await panel.getByLabel("slow", { exact: true }).evaluate((field) => {
      const typed = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")!;
      typed.set!.call(field, "150");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      const buttons = [...document.querySelectorAll("button")];
      buttons.find(({ textContent }) => textContent === "Keep")!.click();
    });
    await page.getByRole("heading", { name: "Saved: slow 120" }).waitFor();
    expect((await user.get(`/api/backtests/${await waitForRun(page)}`)).at("/backtest/parameters/slow")).toBe(120);
  });

  await page.context().close();
  await browser.close();
  await service.close();
  expect(complaints).toEqual([]);
});

/** A trader's way from the form of a new run to a result, in a real browser against the real service. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { makeStrategy } from "./sample_strategies.ts";

const SCHEMA = {
  type: "object",
  properties: {
    zulu: { type: "integer", description: "Comes first, as it is written", default: 5, minimum: 2, maximum: 9 },
    alpha: { type: "array", items: { type: "number", maximum: 3 }, default: [1, 2] },
    mode: { type: "string", enum: ["calm", "bold"], default: "calm" },
    eager: { type: "boolean", default: true },
    note: { type: "string", default: "" },
  },
  required: ["zulu"],
  additionalProperties: false,
};
Deno.test(
  "a trader makes a run, sees faults beside their fields, and runs it again with changes",
  async (t) => {
    const service = await startTestService();
    const user = await service.user();
    const slug = await makeStrategy(user, { parameter_schema: SCHEMA });
    const browser = await connectBrowser();
    const { page, complaints } = await openPage(browser);
    await shareSession(page.context(), user);
    const submitted = async () => {
      const id = await waitForRun(page);
      return { id, parameters: (await user.get(`/api/backtests/${id}`)).at("/backtest/parameters") };
    };

    await t.step("from the list, two keys lead to a result on the sample", async () => {
      await page.goto(`${service.url}/runs`);
      await page.getByRole("button", { name: "With a short tour" }).click();
      const first = await waitForRun(page);
      await page.getByText("Net return").first().waitFor();
      const tour = page.getByRole("region", { name: "First steps" });
      await tour.getByRole("button", { name: "Next" }).and(page.locator(":focus")).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.keyboard.press("Enter");
      await tour.getByText("2 of 5").waitFor();
      await page.reload();
      await tour.getByRole("button", { name: "Next" }).and(page.locator(":focus")).waitFor();
      await page.keyboard.press("Escape");
      await tour.waitFor({ state: "detached" });
      await page.keyboard.press("n");
      await page.getByRole("heading", { name: "New run", exact: true }).waitFor();
      await page.getByText(/candles from 2024-01-01 to 2024-12-31/).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.keyboard.press("Control+Enter");
      await page.waitForURL((url) => /^\/runs\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.endsWith(first));
      const { id } = await submitted();
      // The button of a first run and the form begin with the same.
      const equal = page.getByRole("link", { name: "earlier run" });
      expect(await equal.getAttribute("href")).toBe(`/runs/${first}`);
      const run = await user.get(`/api/backtests/${id}`);
      expect([run.at("/backtest/symbol"), run.at("/backtest/strategy_slug")]).toEqual(["DEMO", "sma-cross"]);
      expect([run.at("/backtest/start_date"), run.at("/backtest/end_date")]).toEqual(["2024-01-01", "2025-01-01"]);
    });

    await t.step("the keyboard alone finds a strategy, and its form has a field for each parameter", async () => {
      await page.keyboard.press("n");
      const picker = page.getByRole("combobox", { name: "Strategy", exact: true });
      await picker.focus();
      await page.keyboard.press("Enter");
      await page.getByPlaceholder("Search strategies").and(page.locator(":focus")).waitFor();
      await page.keyboard.type("remote");
      await page.getByRole("option", { name: /Remote One/ }).waitFor();
      expect(await page.getByRole("listbox").getByRole("option").count()).toBe(1);
      expect(await findViolations(page)).toEqual([]);
      await page.keyboard.press("Enter");
      await page.getByText("Comes first, as it is written · whole number, 2 to 9, default 5").waitFor();
      const labels = page.getByRole("group", { name: "Parameters" }).locator("label");
      expect((await labels.allTextContents()).sort()).toEqual(["alpha", "eager", "mode", "note", "zulu"]);
    });

    await t.step("a refusal of the schema stands beside its field, before and after submitting", async () => {
      await page.getByLabel("zulu").fill("1");
      await page.getByLabel("alpha").fill("[1, 4]");
      await page.getByLabel("Initial balance").fill("-5");
      await page.keyboard.press("Control+Enter");
      await page.getByText("Enter 2 or more").waitFor();
      await page.getByText("Enter more than 0, at most 1e12").waitFor();
      expect(await page.getByLabel("zulu").getAttribute("aria-invalid")).toBe("true");
      await page.getByLabel("zulu").fill("3");
      await page.getByLabel("Initial balance").fill("5000");
      await page.keyboard.press("Control+Enter");
      await page.getByText(/^It must be at most 3/).waitFor();
      expect(await page.getByLabel("alpha").evaluate((field) => field === field.ownerDocument.activeElement)).toBe(
        true,
      );
      expect(await findViolations(page)).toEqual([]);
    });

    await t.step("rules of execution are closed, counted, and submitted", async () => {
      const summary = page.getByText("hindcast, all defaults");
      await summary.click();
      await page.getByLabel("Commission", { exact: true }).fill("0.001");
      await page.getByLabel("Market orders fill").selectOption("close");
      await page.getByText("hindcast, 2 changed").waitFor();
      await page.getByLabel("Slippage").fill("9000");
      await page.getByLabel("alpha").fill("[2]");
      await page.getByLabel("mode").selectOption("bold");
      await page.getByLabel("eager").uncheck();
      await page.keyboard.press("Control+Enter");
      await page.getByText("Enter 5000 or less").waitFor();
      await page.getByLabel("Slippage").fill("5");
      await page.keyboard.press("Control+Enter");
      const { id, parameters } = await submitted();
      expect(parameters).toMatchObject({
        ...{ zulu: 3, alpha: [2], mode: "bold", eager: false, timeframe: "1h", runtime: { slug } },
        execution: { profile: "hindcast", commission: { rate: 0.001, fixed: 0 }, fill: "close", slippage: { bps: 5 } },
      });
      await page.goto(`${service.url}/runs/new?from=${id}`);
    });

    await t.step("a run that starts from another has its values, and changes what is typed", async () => {
      await page.getByRole("heading", { name: "Run again with changes" }).waitFor();
      expect(await page.getByLabel("alpha").inputValue()).toBe("[2]");
      await page.getByText("hindcast, 3 changed").waitFor();
      await page.getByLabel("zulu").fill("7");
      await page.getByRole("combobox", { name: "Instrument" }).click();
      await page.getByRole("option", { name: /Another instrument/ }).click();
      await page.getByLabel("Symbol").fill("BTC/USDT");
      await page.getByLabel("Exchange").fill("BINANCE");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      const { id, parameters } = await submitted();
      expect(parameters).toMatchObject({ zulu: 7, eager: false, execution: { slippage: { bps: 5 }, fill: "close" } });
      expect((await user.get(`/api/backtests/${id}`)).at("/backtest/symbol")).toBe("BTC/USDT");
    });

    await t.step("what is typed is kept until it is sent, and leaving asks where there is no room for it", async () => {
      const zulu = page.getByLabel("zulu");
      const note = page.getByText("Filled in with what you typed before");
      const isZulu = (text: string) => until(async () => await zulu.inputValue() === text);
      await page.goto(`${service.url}/runs/new`);
      await page.getByRole("combobox", { name: "Strategy", exact: true }).click();
      await page.getByRole("option", { name: /Remote One/ }).click();
      await zulu.fill("8");
      await page.reload();
      await note.waitFor();
      await isZulu("8");
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole("link", { name: "Runs", exact: true }).click();
      await page.getByRole("heading", { name: "Runs", exact: true }).waitFor();
      await page.goBack();
      await note.waitFor();
      await isZulu("8");
      await page.getByRole("button", { name: "Begin anew" }).click();
      await note.waitFor({ state: "hidden" });
      await isZulu("5");
      await page.evaluate(`for (let size = 2 ** 22; size >= 1; size /= 2) {
        try { for (let n = 0;; n++) localStorage.setItem("full " + size + " " + n, "x".repeat(size)); } catch {}
      }`);
      await zulu.fill("9");
      const asked = Promise.withResolvers<string>();
      page.once("dialog", async (dialog) => {
        await dialog.dismiss();
        asked.resolve(dialog.message());
      });
      await page.getByRole("link", { name: "Runs", exact: true }).click();
      expect(await asked.promise).toMatch(/What you typed here is not saved/);
      expect([new URL(page.url()).pathname, await zulu.inputValue()]).toEqual(["/runs/new", "9"]);
      await page.evaluate(`localStorage.clear()`);
      await zulu.fill("7");
      await page.reload();
      await isZulu("7");
    });

    await t.step("a phone shows the form without scrolling sideways, and the way to run it", async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(`${service.url}/runs/new?strategy=donchian-breakout`);
      await page.getByLabel("stopLossLevel").waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
      expect(await page.getByRole("button", { name: "Run", exact: true }).isVisible()).toBe(true);
      expect(await findViolations(page)).toEqual([]);
    });

    await page.context().close();
    await browser.close();
    await service.close();
    // The browser itself reports the refusal that a step above provokes.
    expect(complaints.filter((line) => !/the server responded with a status of 4/.test(line))).toEqual([]);
  },
);

/// <reference lib="dom" />
/** An optimization from its form to a backtest of one of its trials, in a real browser against the real service. */
import { expect } from "@std/expect";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";

Deno.test("a user optimizes a strategy, reads the heat map by keyboard, and runs a cell as a backtest", async (t) => {
  const service = await startTestService();
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  try {
    const user = await service.user();
    await shareSession(page.context(), user);
    await t.step("the form counts its points, and shows a refusal at its field", async () => {
      await page.goto(`${service.url}/optimizations`);
      await page.getByText("says how much of the best result is luck").waitFor();
      await page.getByRole("link", { name: "New optimization" }).click();
      await page.getByText("80 points").waitFor();
      const options = page.getByLabel("Look for the best").locator("option");
      await options.filter({ hasText: "Net return, highest" }).waitFor({ state: "attached" });
      const objectives = await options.allTextContents();
      expect(objectives).toEqual(expect.arrayContaining(["Net return, highest", "Max drawdown, lowest"]));
      expect(objectives.filter((label) => /^(Start|End|Beta|Trades|Ambiguous trades|total_return)/.test(label)))
        .toEqual([]);
      await page.getByLabel("Timeframe").selectOption("1d");
      for (const [label, value] of [["min", "2"], ["max", "6"], ["step", "2"]] as const) {
        await page.getByLabel(`${label} of fast`).fill(value);
      }
      for (const [label, value] of [["min", "4"], ["max", "12"], ["step", "4"]] as const) {
        await page.getByLabel(`${label} of slow`).fill(value);
      }
      await page.getByText("9 points", { exact: true }).waitFor();
      await page.getByText("Costs, dates and timeframes").click();
      await page.getByLabel("Commission rate", { exact: true }).fill("0, 0.6");
      await page.getByText("18 points", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Optimize" }).click();
      await page.getByText("must be at most 0.5").waitFor();
      await page.getByLabel("Commission rate", { exact: true }).fill("");
      await page.getByText("9 points", { exact: true }).waitFor();
      await page.getByText("Type others, with").click();
      await page.getByLabel("Constraints as text").fill("fast < slower");
      await page.getByRole("button", { name: "Optimize" }).click();
      await page.locator("[aria-invalid=true]").waitFor();
      expect(await page.locator("textarea[aria-invalid=true]").getAttribute("name")).toBe("constraints");
      expect(await findViolations(page)).toEqual([]);
    });
    await t.step("a constraint is chosen, and its refusal stands beside it", async () => {
      await page.getByLabel("Constraints as text").fill("");
      await page.getByRole("button", { name: "Add a constraint" }).click();
      const other = page.getByLabel("Other side of constraint 1");
      expect(await other.inputValue()).toBe("slow");
      await other.selectOption("a value");
      await page.getByRole("button", { name: "Optimize" }).click();
      await page.getByLabel("Value of constraint 1").and(page.locator("[aria-invalid=true]")).waitFor();
      await page.getByText("where the text ends").waitFor();
      expect(await findViolations(page)).toEqual([]);
      await other.selectOption("slow");
    });
    await t.step("the trials arrive, the best first", async () => {
      await page.getByRole("button", { name: "Optimize" }).click();
      await page.getByText(/^7 trials/).waitFor();
      await page.getByText("2 points broke a constraint").waitFor();
      await page.getByRole("heading", { name: "How much is luck" }).waitFor();
      await page.getByText(/^(Beyond luck|May be luck|Too little to tell)$/).waitFor();
      await page.getByRole("img", { name: /^Without skill, the best of the trials has a median of/ }).first().waitFor();
      const trials = page.getByRole("region", { name: "All trials" });
      await trials.getByRole("button", { name: "Run trial" }).nth(6).waitFor();
      const values = await trials.locator("tbody tr").evaluateAll((rows) =>
        rows.map((row) => Number(row.querySelectorAll("td")[3]!.firstChild!.textContent!.replace("−", "-")))
      );
      expect(values.length).toBe(7);
      expect(values.every(Number.isFinite)).toBe(true);
      expect(values).toEqual(values.toSorted((a, b) => b - a));
      // A figure's definition is one key away, and a press still sorts by it.
      await trials.getByRole("button", { name: "Net return" }).focus();
      await page.keyboard.press("Tab");
      await page.getByRole("tooltip").getByText("The worst fall of equity from a peak.").waitFor();
      await page.keyboard.press("Enter");
      await trials.locator("th[aria-sort=descending]").filter({ hasText: "Max drawdown" }).waitFor();
      await page.getByRole("button", { name: "Definition" }).focus();
      await page.getByRole("tooltip").getByText("Excess return per unit of risk.").waitFor();
      // The map comes before luck and trials.
      expect((await page.getByRole("heading", { level: 2 }).allTextContents())[0]).toBe("Heat map");
      expect(await findViolations(page)).toEqual([]);
    });
    await t.step("a region is brushed by keyboard or pointer, and becomes the next space", async () => {
      const map = page.getByRole("application");
      await map.focus();
      for (const key of ["ArrowRight", "Shift+ArrowRight", "Shift+ArrowUp"]) await page.keyboard.press(key);
      await page.getByText("fast 4 to 6, slow 4 to 8: 4 cells", { exact: true }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByText("Choose a cell by pointer").waitFor();
      // Text that is selected around the map is not carried instead.
      await page.evaluate("getSelection().selectAllChildren(document.body)");
      const { x, y, width, height } = (await map.boundingBox())!;
      await page.mouse.move(x + width / 6, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + width / 2, y + height * 5 / 6, { steps: 3 });
      await page.mouse.up();
      await page.getByText("fast 2 to 4, slow 4 to 8: 4 cells", { exact: true }).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole("link", { name: "Optimize this region" }).click();
      await page.getByText(/^From the optimization of .*: fast 2 to 4, slow 4 to 8\.$/).waitFor();
      // Finer steps, which keep the values that were tried.
      await page.getByText("9 points", { exact: true }).waitFor();
      const fields = ["min of fast", "max of fast", "step of fast", "min of slow", "max of slow", "step of slow"];
      const ranges = await Promise.all(fields.map((label) => page.getByLabel(label).inputValue()));
      expect(ranges).toEqual(["2", "4", "1", "4", "8", "2"]);
      expect(await page.getByLabel("Timeframe").inputValue()).toBe("1d");
      expect(await page.getByLabel("Other side of constraint 1").inputValue()).toBe("slow");
      await page.goBack();
    });
    await t.step("a cell of the heat map runs as a backtest of the same metrics", async () => {
      await page.getByRole("application").focus();
      for (const key of ["ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
      const cell = page.getByRole("status").filter({ hasText: "fast 4, slow 8: " });
      const sharpe = (await cell.innerText()).match(/: (\S+)/)![1]!;
      await cell.getByRole("button").click();
      await page.getByText("Completed").first().waitFor();
      const tries = "One of 8 tries of this strategy on this market (1 run, 7 trials of optimizations).";
      await page.getByText(tries).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole("button", { name: "How tries count" }).hover();
      await page.getByRole("tooltip").getByText("The deflated Sharpe ratio").waitFor();
      await page.getByRole("tab", { name: "Metrics" }).click();
      const name = page.getByRole("button", { name: "Sharpe", exact: true });
      const row = page.getByRole("tabpanel").locator("dl > div").filter({ has: name });
      await row.getByText(sharpe, { exact: true }).waitFor();
      expect(complaints.filter((line) => !/the server responded with a status of 400/.test(line))).toEqual([]);
    });
    await t.step(
      "one switch adds walk-forward windows, which the form counts, and what cannot be is said at once",
      async () => {
        await page.goto(`${service.url}/optimizations/new`);
        await page.getByText("80 points").waitFor();
        await page.getByLabel("Timeframe").selectOption("1d");
        await page.getByLabel("min of slow").fill("40");
        expect(await page.getByLabel("Training days").count()).toBe(0);
        await page.getByRole("switch", { name: "Test the best on the days that follow" }).check();
        await page.getByText("6 windows: tests from 2024-05-24 to 2024-12-26").waitFor();
        const [train, test, step] = ["Training days", "Test days", "Step days"].map((label) => page.getByLabel(label));
        expect(await step!.getAttribute("placeholder")).toBe("36");
        await step!.fill("10");
        await page.getByText("Enter 36 or more: tests would overlap").waitFor();
        await train!.fill("400");
        await page.getByText("Training and test need 436 days, and the range has 366").waitFor();
        expect(await page.getByText(/\d windows?/).count()).toBe(0);
        const asked: string[] = [];
        page.on("request", (request) => void asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
        await page.getByRole("button", { name: "Optimize" }).click();
        await train!.and(page.locator(":focus")).waitFor();
        expect(asked.filter((each) => each.includes("optimizations.create"))).toEqual([]);
        expect(await findViolations(page)).toEqual([]);
        // The service knows how many windows are too many.
        for (const [field, value] of [[train, "10"], [test, "1"], [step, ""]] as const) await field!.fill(value);
        await page.getByText("356 windows", { exact: true }).waitFor();
        await page.getByRole("button", { name: "Optimize" }).click();
        await page.getByText("It makes 356 windows, and at most 200 are allowed").waitFor();
        for (const [field, value] of [[train, "100"], [test, "50"], [step, "100"]] as const) await field!.fill(value);
        await page.getByText("3 windows: tests from 2024-04-10 to 2024-12-16").waitFor();
        await page.getByText(/points, and again in each of 3 windows$/).waitFor();
        await page.getByRole("button", { name: "Optimize" }).click();
        const rows = page.getByRole("region", { name: "Walk-forward windows" }).locator("tbody tr");
        await page.getByRole("img", { name: "The account out of sample" }).waitFor();
        expect(await rows.count()).toBe(3);
        expect(await rows.last().innerText()).toContain("2024-10-27 – 2024-12-16");
      },
    );
    await t.step("each window's figures stand side by side, and the account has dates", async () => {
      const bars = page.getByRole("img", {
        name: /^Sharpe of each window: in \d of 3 it is lower out of sample/,
      });
      await bars.locator("g > title").nth(2).waitFor({ state: "attached" });
      expect(await bars.locator("g > title").count()).toBe(3);
      expect(await bars.locator("g > title").first().textContent()).toMatch(
        /^2024-04-10 to 2024-05-30: [\d.−]+ in sample, [\d.−]+ out of sample$/,
      );
      await page.getByRole("combobox").filter({ hasText: /^SharpeAnnual return$/ }).selectOption("Annual return");
      const annual = page.getByRole("img", { name: /^Annual return of each window/ });
      expect(await annual.locator("g > title").first().textContent()).toMatch(/: \S+% in sample, \S+% out of sample$/);
      const curve = page.getByRole("img", {
        name: /^The account out of sample over 150 trading days from 2024-04-09 to/,
      });
      const dates = (await curve.locator("text").allTextContents()).filter((text) => /^2024-\d\d-01$/.test(text));
      expect(dates).toEqual(["2024-05-01", "2024-07-01", "2024-09-01", "2024-11-01"]);
      expect(await findViolations(page)).toEqual([]);
    });
    await t.step("a running optimization is followed by its events, and not asked for again", async () => {
      const space = { fast: { min: 1, max: 400, step: 1 }, slow: { min: 401, max: 900, step: 1 } };
      const id = await submitOptimization(user, { space, end_date: "2024-07-01", trials_max: 1_000_000 });
      const asked: string[] = [];
      page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
      const followed = page.waitForRequest(/optimizations\.onEvent/);
      await page.goto(`${service.url}/optimizations/${id}`);
      await followed;
      const words = page.getByText(/^[\d,]+ trials/);
      const before = await words.innerText();
      await words.filter({ hasNotText: before }).waitFor();
      expect(asked.filter((path) => /optimizations\.get\b/.test(path)).length).toBe(1);
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "hidden" });
    });
    await t.step("walk-forward windows are a table, and their account a curve", async () => {
      const id = await submitOptimization(user, { walk_forward: { train_days: 14, test_days: 7 } });
      const walked = await finishOptimization(user, id);
      await page.goto(`${service.url}/optimizations/${id}`);
      const table = page.getByRole("region", { name: "Walk-forward windows" });
      await table.getByText("2024-01-22 – 2024-01-29").waitFor();
      expect(await table.locator("tbody tr").count()).toBe(walked.list("/optimization/windows").length);
      await page.getByRole("img", { name: "The account out of sample over 14 trading days" }).waitFor();
      const [first] = walked.list("/optimization/windows").map(Object);
      await page.getByRole("img", { name: /^The best fast of each training: from \d+ to \d+, of 5 to 20$/ }).waitFor();
      await page.getByRole("combobox", { name: "Parameter" }).selectOption("slow");
      await page.getByText(/^slow: from \d+ to \d+, of 10 to 40\.$/).waitFor();
      await page.getByText(`${first.test_start} to ${first.test_end}: slow ${first.parameters.slow}`).waitFor({
        state: "attached",
      });
      // Trials show how sure their Sharpe ratios are, the best first.
      const intervals = page.getByRole("region", { name: "All trials" }).getByText(/^95%: /);
      await intervals.nth(walked.list("/optimization/best").length - 1).waitFor();
      expect(await findViolations(page)).toEqual([]);
    });
  } finally {
    await page.context().close();
    await browser.close();
    await service.close();
  }
});

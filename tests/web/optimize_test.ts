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
      await page.getByLabel("Timeframe").selectOption("1d");
      for (const [label, value] of [["min", "2"], ["max", "6"], ["step", "2"]] as const) {
        await page.getByLabel(`${label} of fast`).fill(value);
      }
      for (const [label, value] of [["min", "4"], ["max", "12"], ["step", "4"]] as const) {
        await page.getByLabel(`${label} of slow`).fill(value);
      }
      await page.getByText("9 points", { exact: true }).waitFor();
      await page.getByLabel("Constraints").fill("fast < slower");
      await page.getByRole("button", { name: "Optimize" }).click();
      await page.locator("[aria-invalid=true]").waitFor();
      expect(await page.locator("textarea[aria-invalid=true]").getAttribute("name")).toBe("constraints");
      expect(await findViolations(page)).toEqual([]);
    });
    await t.step("the trials arrive, the best first", async () => {
      await page.getByLabel("Constraints").fill("fast < slow");
      await page.getByRole("button", { name: "Optimize" }).click();
      await page.getByText(/^7 trials/).waitFor();
      await page.getByText("2 points broke a constraint").waitFor();
      await page.getByRole("heading", { name: "How much is luck" }).waitFor();
      const trials = page.getByRole("region", { name: "All trials" });
      await trials.getByRole("button", { name: "Run trial" }).nth(6).waitFor();
      const values = await trials.locator("tbody tr").evaluateAll((rows) =>
        rows.map((row) => Number(row.querySelectorAll("td")[3]!.textContent!.replace("−", "-")))
      );
      expect(values.length).toBe(7);
      expect(values).toEqual(values.toSorted((a, b) => b - a));
      expect(await findViolations(page)).toEqual([]);
    });
    await t.step("a cell of the heat map runs as a backtest of the same metrics", async () => {
      await page.getByRole("application").focus();
      for (const key of ["ArrowRight", "ArrowUp"]) await page.keyboard.press(key);
      const cell = page.getByRole("status").filter({ hasText: "fast 4, slow 8: " });
      const sharpe = (await cell.innerText()).match(/: (\S+)/)![1]!;
      await cell.getByRole("button").click();
      await page.getByText("Completed").first().waitFor();
      await page.getByRole("tab", { name: "Metrics" }).click();
      const row = page.getByRole("row").or(page.locator("div")).filter({ hasText: /^Sharpe/ }).last();
      expect(await row.innerText()).toContain(sharpe);
      expect(complaints.filter((line) => !/the server responded with a status of 400/.test(line))).toEqual([]);
    });
    await t.step("walk-forward windows are a table, and their account a curve", async () => {
      const id = await submitOptimization(user, { walk_forward: { train_days: 14, test_days: 7 } });
      const walked = await finishOptimization(user, id);
      await page.goto(`${service.url}/optimizations/${id}`);
      const table = page.getByRole("region", { name: "Walk-forward windows" });
      await table.getByText("2024-01-22 – 2024-01-29").waitFor();
      expect(await table.locator("tbody tr").count()).toBe(walked.list("/optimization/windows").length);
      await page.getByRole("img", { name: "The account out of sample over 14 trading days" }).waitFor();
      expect(await findViolations(page)).toEqual([]);
    });
  } finally {
    await page.context().close();
    await browser.close();
    await service.close();
  }
});

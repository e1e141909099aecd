/** Changes of a run's settings beside its charts, in a real browser against the real service. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { BACKTEST } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const RUN = {
  ...BACKTEST,
  ...{ start_date: "2024-01-01", end_date: "2024-07-01", initial_balance: 10_000, name: "The saved one" },
  parameters: { timeframe: "1h", fast: 20, slow: 90, execution: { commission: 0.0005 } },
};

Deno.test("a change of a setting runs again beside the charts, and is kept as a run of its own", async (t) => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const user = await service.user();
  const saved = String((await user.send("POST", "/api/backtests", { backtest: RUN })).at("/backtest/id"));
  const before = await user.finish(saved);
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);
  const panel = page.getByRole("region", { name: "Change and see" });
  const figures = page.locator('dl[aria-label="Main figures"]');
  /** The runs that changes made, the newest first. */
  const tries = async () =>
    (await user.get("/api/backtests?tag=try")).list("/backtests") as readonly {
      readonly id: string;
      readonly parameters: { readonly fast: number; readonly slow: number };
      readonly result: { readonly metrics: { readonly trades: number } } | null;
    }[];

  await t.step("the panel has the run's settings", async () => {
    await page.goto(`${service.url}/runs/${saved}`);
    await page.getByRole("button", { name: "Change and see" }).click();
    await panel.getByText("These are the settings of the saved run.").waitFor();
    expect(await panel.getByLabel("fast", { exact: true }).inputValue()).toBe("20");
    expect(await panel.getByLabel("Commission", { exact: true }).inputValue()).toBe("0.0005");
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a change runs after a pause, and figures and trades follow", async () => {
    await panel.getByLabel("fast", { exact: true }).fill("30");
    await panel.getByText("The page shows the change.").waitFor();
    await page.getByText("are those of the change, which is not kept: fast 30.").waitFor();
    const [run] = await tries();
    expect(run?.parameters).toMatchObject({ fast: 30, slow: 90 });
    const was = before.at("/backtest/result/metrics/trades");
    await figures.getByText(new RegExp(`was ${was}$`)).first().waitFor();
    await figures.getByText(String(run?.result?.metrics.trades), { exact: true }).waitFor();
    const points = (await user.get(`/api/backtests/${run?.id}/equity?points=2`)).list("/equity") as readonly {
      equity: number;
    }[];
    const money = points.at(-1)!.equity.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    await page.getByRole("region", { name: "Charts" }).getByText(money, { exact: true }).waitFor();
    await panel.getByText("1 try since you opened this.").waitFor();
    await page.getByText(/One of 2 tries of this strategy on this market/).waitFor();
    await page.getByRole("tab", { name: "Trades" }).click();
    // Those that are open count, too.
    const { length } = (await user.get(`/api/backtests/${run?.id}/trades`)).list("/trades");
    await page.getByText(`${length} of ${length} trades`).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a slider and the costs do the same, and a wrong value is said at its field", async () => {
    await panel.getByLabel("fast, slider").press("ArrowRight");
    await until(async () => (await tries()).some(({ parameters }) => parameters.fast === 31));
    await panel.getByText("The page shows the change.").waitFor();
    await panel.getByLabel("Commission", { exact: true }).fill("2");
    await panel.getByText("Enter 0.5 or less").waitFor();
    const count = (await tries()).length;
    await panel.getByLabel("Commission", { exact: true }).fill("0.001");
    await until(async () => (await tries()).length === count + 1);
    await panel.getByText("The page shows the change.").waitFor();
  });

  await t.step("the saved run comes back without another try", async () => {
    const count = (await tries()).length;
    await panel.getByRole("button", { name: "Back to the saved run" }).click();
    await panel.getByText("These are the settings of the saved run.").waitFor();
    await figures.getByText("was").first().waitFor({ state: "detached" });
    await page.getByText("are those of the saved run.").waitFor();
    expect((await tries()).length).toBe(count);
  });

  await t.step("what is kept has a name of its changes, and the saved run stays", async () => {
    await panel.getByLabel("slow", { exact: true }).fill("120");
    await panel.getByText("The page shows the change.").waitFor();
    const [run] = await tries();
    await panel.getByRole("button", { name: "Keep" }).click();
    await page.waitForURL(`${service.url}/runs/${run?.id}`);
    await page.getByRole("heading", { name: "The saved one: slow 120" }).waitFor();
    expect((await tries()).every(({ id }) => id !== run?.id)).toBe(true);
    const after = await user.get(`/api/backtests/${saved}`);
    expect([after.at("/backtest/name"), after.at("/backtest/parameters/slow")]).toEqual(["The saved one", 90]);
  });

  await t.step("a phone has it below the charts", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${service.url}/runs/${saved}?change=true`);
    await panel.getByText("These are the settings of the saved run.").waitFor();
    const [width, room] = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]") as number[];
    expect(width).toBeLessThanOrEqual(room!);
    expect(await findViolations(page)).toEqual([]);
  });

  await page.context().close();
  await browser.close();
  await service.close();
  expect(complaints).toEqual([]);
});

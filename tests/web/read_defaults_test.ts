/// <reference lib="dom" />
/** Forms of a script that was registered without a schema: they begin with what its text says, in a real browser. */
import { expect } from "@std/expect";
import { connectBrowser, findViolations, openPage, shareSession, waitForRun } from "../support/browser.ts";
import { startTestService } from "../support/service.ts";
import { describeParameters } from "../../workers/sandbox/script/realm/parameters.ts";
import { copyValues } from "../../web/src/pages/strategies/registration_form.ts";
import { makeScript, SCRIPT } from "./sample_strategies.ts";

const SOURCE = SCRIPT.replace(
  "strategy(({ period = 20 }: { period?: number }) => ({",
  "strategy(({ period = 20, risk = 0.05, eager = true, unsaid }) => ({",
);

Deno.test("forms begin with the defaults that a script's text says", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const slug = await makeScript(user, {
    parameter_schema: undefined,
    initial_version: { version: "1.0.0", runtime_config: { type: "script", source: SOURCE } },
  });
  const browser = await connectBrowser();
  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);
  await t.step("the form of a run", async () => {
    await page.goto(`${service.url}/runs/new?strategy=${slug}`);
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await field("period").waitFor();
    expect([await field("period").inputValue(), await field("period").getAttribute("inputmode")]).toEqual([
      ...["20", "decimal"],
    ]);
    expect([await field("unsaid").inputValue(), await field("unsaid").getAttribute("inputmode")]).toEqual(["", "text"]);
    expect(await field("eager").isChecked()).toBe(true);
    await page.getByText("default 0.05").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await field("period").fill("30");
    await page.keyboard.press("Control+Enter");
    const { parameters } = Object((await user.get(`/api/backtests/${await waitForRun(page)}`)).at("/backtest"));
    expect([parameters.period, parameters.risk, parameters.eager]).toEqual([30, 0.05, true]);
  });
  await t.step("the form of an optimization suggests values around them, whole ones where they are whole", async () => {
    await page.goto(`${service.url}/optimizations/new?strategy=${slug}`);
    await page.getByLabel("min of period").waitFor();
    const values = async (name: string) =>
      await Promise.all(["min", "max", "step"].map((end) => page.getByLabel(`${end} of ${name}`).inputValue()));
    expect((await values("period")).map(Number)).toEqual([10, 40, expect.any(Number)]);
    expect((await values("period")).map(Number).every(Number.isInteger)).toBe(true);
    const [min, max, step] = (await values("risk")).map(Number);
    expect([min! < 0.05, max! > 0.05, step! > 0 && step! < 0.05]).toEqual([true, true, true]);
    expect(await findViolations(page)).toEqual([]);
  });
  expect(complaints).toEqual([]);
  await page.context().close();
  await browser.close();
  await service.close();
});

Deno.test("a copied script does not take along the schema that was read from its text", () => {
  const parameter_schema = describeParameters(Object(({ fast = 10 }) => fast), {}, {});
  expect(parameter_schema).toMatchObject({ properties: { fast: { default: 10 } } });
  const copied = { name: "Mine", description: "", language: "typescript", default_frequency: "DAILY" };
  const { schema } = copyValues({ ...Object({ ...copied, lookback_candles: 0, parameter_schema }) }, SCRIPT);
  expect(JSON.parse(schema)).toEqual({ type: "object", properties: {} });
});

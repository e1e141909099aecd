/** A run's report: one file that a browser shows from disk without a network, on screen and on paper. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import { BACKTEST } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";
import { makeRun } from "./sample_runs.ts";

const HOSTILE = `</script><script>document.title="broken"</script><!--<img src="x" onerror="alert(1)">$&`;
// The shell without a run is about 640 kB.
const BYTES_MAX = 3 * 1024 * 1024;

Deno.test("a report is one file that shows a run without a network", async (t) => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const user = await service.user();
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const path = `${folder}/report.html`;
  const submitted = await user.send("POST", "/api/backtests", {
    backtest: {
      ...BACKTEST,
      ...{
        start_date: "2024-01-01",
        end_date: "2024-05-01",
        strategy: HOSTILE,
        name: HOSTILE,
        notes: "for my eyes alone",
        tags: ["private"],
      },
      parameters: { timeframe: "1m", fast: 2, slow: 3, runtime: { slug: "sma-cross" } },
    },
  });
  const id = submitted.at("/backtest/id");
  const { result } = JSON.parse((await user.finish(id)).text).backtest;
  const total = (result.metrics.trades + result.metrics.open_trades).toLocaleString("en-US");

  await t.step("the service sends it to the run's owner alone", async () => {
    const report = await user.get(`/api/backtests/${id}/report`);
    expect([report.status, report.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(report.headers.get("content-disposition"))
      .toBe(
        'inline; filename="hindcast-script-script-document-title-broken-script-img-src-x-onerror-demo-2024-01-01-2024-05-01.html"',
      );
    expect(report.headers.get("content-security-policy")).toMatch(/^sandbox allow-scripts .*frame-ancestors 'none'$/);
    expect(new TextEncoder().encode(report.text).byteLength).toBeLessThan(BYTES_MAX);
    expect(report.text).not.toMatch(/for my eyes alone|"private"/);
    await Deno.writeTextFile(path, report.text);
    const tag = report.headers.get("etag") ?? "";
    const again = await user.get(`/api/backtests/${id}/report`, { "if-none-match": tag });
    expect([again.status, again.text]).toEqual([304, ""]);
    expect((await service.client().get(`/api/backtests/${id}/report`)).at("/error/code")).toBe("UNAUTHENTICATED");
    const stranger = await (await service.user()).get(`/api/backtests/${id}/report`);
    expect([stranger.status, stranger.at("/error/code")]).toEqual([404, "BACKTEST_NOT_FOUND"]);
  });

  await t.step("a run without a result has none, and the answer says why", async () => {
    const failed = await makeRun(user, "failed");
    const answer = await user.get(`/api/backtests/${failed}/report`);
    expect([answer.status, answer.at("/error/code"), answer.at("/error/message")]).toEqual([
      409,
      "NOT_COMPLETED",
      `Cannot make a report of the backtest ${failed}: it is failed; it has no result`,
    ]);
  });

  await t.step("once the run was stressed, its report has the table", async () => {
    const name = /^Net return with each change, from/;
    const { page, complaints } = await openPage(browser, { offline: true });
    await page.goto(`file://${path}`);
    await page.getByRole("heading", { name: "Metrics", exact: true }).waitFor();
    expect(await page.getByRole("img", { name }).count()).toBe(0);
    const stressed = await user.send("POST", `/api/backtests/${id}/stress`);
    const ended = await user.poll(`/api/stress-tests/${stressed.at("/stress_test/id")}`, "/stress_test/status");
    await Deno.writeTextFile(path, (await user.get(`/api/backtests/${id}/report`)).text);
    await page.reload();
    await page.getByRole("img", { name }).waitFor();
    const rows = page.getByRole("region", { name: "Stress test" }).getByRole("row");
    for (const row of ended.list("/stress_test/result/rows").map(Object)) {
      await rows.filter({ hasText: row.name }).first().waitFor();
    }
    await page.getByRole("region", { name: "By regime" }).waitFor();
    expect([await findViolations(page), complaints]).toEqual([[], []]);
    await page.context().close();
  });

  await t.step("a browser shows the file from disk, light and dark, and asks for nothing else", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const { page, complaints } = await openPage(browser, { offline: true, colorScheme });
      const asked: string[] = [];
      page.on("request", (request) => void asked.push(request.url()));
      await page.goto(`file://${path}`);
      await page.getByRole("heading", { name: HOSTILE }).waitFor();
      for (const name of ["Monthly returns", "Metrics", "Trades", "Assumptions", "Definitions of the metrics"]) {
        await page.getByRole("heading", { name, exact: true }).waitFor();
      }
      expect(await page.title()).toBe(`${HOSTILE} on DEMO · Hindcast`);
      await page.getByText(`This part has the first 5,000 of ${total} trades`).first().waitFor();
      const row = page.getByRole("table", { name: "Trades" }).getByRole("row").nth(1);
      await row.click();
      await page.getByText("2024-01-01 to 2024-04-30").waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "Whole run" }).click();
      await page.getByText("2024-01-01 to 2024-04-30").waitFor();
      expect(await findViolations(page)).toEqual([]);
      await until(async () => await countColors(page, "[role=img] canvas") > 20);
      const isDark = await page.evaluate("getComputedStyle(document.body).colorScheme !== ''") &&
        await page.evaluate("getComputedStyle(document.documentElement).backgroundColor") === "rgb(13, 17, 22)";
      expect(isDark).toBe(colorScheme === "dark");
      expect([asked, complaints]).toEqual([[`file://${path}`], []]);
      await page.context().close();
    }
  });

  await t.step("paper is light, has the charts as a picture, and as many trades as fit", async () => {
    const { page, complaints } = await openPage(browser, { offline: true, colorScheme: "dark" });
    await page.goto(`file://${path}`);
    await until(async () => await countColors(page, "[role=img] canvas") > 20);
    // In the order of a browser that prints.
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    await page.emulateMedia({ media: "print" });
    await page.getByText("500 of 5,000 trades are printed").waitFor();
    expect(await countColors(page, "section[aria-label=Charts] > div > canvas")).toBeGreaterThan(20);
    expect(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")).toBe(
      "rgb(255, 255, 255)",
    );
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    expect(await page.locator("section[aria-label=Charts] > div > canvas").count()).toBe(0);
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    // A4 in points.
    expect(new TextDecoder("latin1").decode(pdf)).toMatch(/\/MediaBox \[0 0 594\.\d+ 841\.\d+\]/);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  await t.step("the run's page leads to its report, and has all trades", async () => {
    const { page, complaints } = await openPage(browser);
    await shareSession(page.context(), user);
    await page.goto(`${service.url}/runs/${id}?tab=trades`);
    await page.getByText(`${total} of ${total} trades`).waitFor();
    const opened = page.context().waitForEvent("page");
    await page.getByRole("link", { name: "Report" }).click();
    const report = await opened;
    await report.getByRole("heading", { name: "Definitions of the metrics" }).waitFor();
    expect([await report.evaluate("origin"), complaints]).toEqual(["null", []]);
    await page.context().close();
  });

  await browser.close();
  await service.close();
  await Deno.remove(folder, { recursive: true });
});

/** How many colours the first canvas has that fits a selector; one is blank. */
async function countColors(page: Page, selector: string): Promise<number> {
  await page.locator(selector).first().waitFor();
  return await page.evaluate(`(() => {
    const canvas = document.querySelector(${JSON.stringify(selector)});
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  })()`);
}

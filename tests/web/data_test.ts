/** Market data and its administration, in a real browser against the real service. */
import { expect } from "@std/expect";
import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { openPostgres } from "../../db/client.ts";
import { grantAdmin } from "../../db/users.ts";
import { TIME_UNITS } from "../../market/csv/fields.ts";
import { PROGRAM_NAMES } from "../../market/csv/programs.ts";
import { connectBrowser, findViolations, openPage, shareSession } from "../support/browser.ts";
import type { TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { dropFile, importDropped } from "./import_steps.ts";

const DAY = ["time,open,high,low,close,volume"];
for (let hour = 0; hour < 24; hour++) DAY.push(`2024-03-01T${String(hour).padStart(2, "0")}:00:00Z,10,12,9,11,5`);

Deno.test("an admin imports candles and sees them, and others are told who may", async (t) => {
  const service = await startTestService();
  const browser = await connectBrowser();
  const [user, admin] = [await service.user(), service.client()];
  const handle = await openPostgres(service.databaseUrl, 1);
  await grantAdmin(handle.db, await admin.signUp());
  await handle.close();
  const { page, complaints } = await openPage(browser);

  await t.step("a user finds an instrument and reads its candles", async () => {
    await shareSession(page.context(), user);
    await page.goto(`${service.url}/data`);
    await page.getByText("Admins import files of candles here.").waitFor();
    expect(await page.getByLabel("CSV file").count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Search symbols").fill("nothing has this name");
    await page.getByText("No instrument fits this search.").waitFor();
    await page.getByLabel("Search symbols").fill("dem");
    await page.getByRole("link", { name: "DEMO" }).click();
    await page.getByText(/3,000 candles loaded/).waitFor();
    await page.getByRole("button", { name: "1d", exact: true }).click();
    await page.waitForURL(`${service.url}/data/SAMPLE/DEMO?timeframe=1d`);
    await page.getByText("366 candles loaded").waitFor();
    expect(await findViolations(page)).toEqual([]);
  });

  await t.step("a file's good lines are stored and its bad ones are named", async () => {
    await page.context().clearCookies();
    await shareSession(page.context(), admin);
    await page.goto(`${service.url}/data`);
    await chooseFile(page, "COCOA.csv", [...DAY, "2024-03-02T00:00:00Z,10,9,8,nonsense,1"]);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("Choose one: the archive does not have this instrument").waitFor();
    await page.getByText("Enter an exchange").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Exchange").fill("ICE");
    await page.locator("form").getByLabel("Class").selectOption("crypto");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByText("Imported COCOA on ICE, 1h.").waitFor();
    expect(await page.getByRole("region", { name: "Rejected lines" }).locator("tbody").innerText()).toMatch(/^26\t/);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Show the chart" }).click();
    await page.getByText("24 candles loaded").waitFor();
    await page.goBack();
    await chooseFile(page, "COCOA.csv", DAY);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("link", { name: "Run a strategy on it" }).click();
    await page.getByRole("combobox", { name: "Instrument", exact: true }).getByText("COCOA on ICE").waitFor();
    await page.goto(`${service.url}/data`);
    await chooseFile(page, "COCOA.csv", DAY);
    await page.getByText("The file looks like 1h").waitFor();
    expect(await page.getByLabel("Exchange").inputValue()).toBe("ICE");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByRole("status").getByText("unchanged").waitFor();
  });

  await t.step(
    "a dropped, packed file of another program is imported, and one with two readings is asked about",
    async () => {
      await page.goto(`${service.url}/data`);
      const rows = ["Date;Open;High;Low;Close;Volume", "01.02.2024;1,5;3;0,5;2;10", "02.02.2024;2,5;4;1,5;3;20"];
      await dropFile(page, "CACAO_XETRA.csv.gz", gzipSync(rows.join("\r\n")));
      await page.getByText("A packed file.").waitFor();
      expect(await page.getByLabel("Symbol", { exact: true }).inputValue()).toBe("CACAO");
      await page.locator("form").getByLabel("Class").selectOption("stock");
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("Imported CACAO on XETRA, 1d.").waitFor();
      await page.getByText("a plain file, gzip, semicolons, dates day first, decimal comma, stamped at 00:00 UTC")
        .waitFor();
      await page.goto(`${service.url}/data`);
      await chooseFile(page, "CACAO_XETRA.csv", [
        "Date,Open,High,Low,Close",
        "01/02/2024,1,1,1,1",
        "02/02/2024,1,1,1,1",
      ]);
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("is 2024-02-01 (day first) or 2024-01-02 (month first)").waitFor();
      await page.getByText("set Dates “day, month, year” or Dates “month, day, year”").waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.locator("form").getByLabel("Dates").selectOption("dmy");
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("dates day first, decimal point, no volume").waitFor();
      // Every fifth minute from 09:30 to 15:55, by the clock of the exchange.
      const times = Array.from({ length: 78 }, (_, i) => 570 + 5 * i);
      const clock = (minute: number) =>
        [Math.floor(minute / 60), minute % 60].map((part) => `${part}`.padStart(2, "0"));
      await page.goto(`${service.url}/data`);
      await chooseFile(page, "CACAO_NYSE.csv", [
        "time,open,high,low,close",
        ...times.map((minute) => `2024-03-05 ${clock(minute).join(":")}:00,1,1,1,1`),
      ]);
      await page.locator("form").getByLabel("Class").selectOption("stock");
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("Check this: the times name no zone").waitFor();
      await page.getByText("import the file again with Time zone “America/New_York”, after deleting").waitFor();
    },
  );

  await t.step(
    "a file that cannot be recognised is read by the columns, program and time unit of the form",
    async () => {
      await page.goto(`${service.url}/data`);
      await chooseFile(page, "CACAO_LIFFE.csv", ["86400,4,7,3,5,x", "172800,5,8,4,6,x"]);
      const form = page.locator("form");
      expect(await form.getByLabel("Columns").isVisible()).toBe(false);
      await form.getByText("More", { exact: true }).click();
      const values = (label: string) =>
        form.getByLabel(label).locator("option").evaluateAll((options) =>
          options.map((option) => option.getAttribute("value"))
        );
      expect((await values("Program")).sort()).toEqual(["", ...PROGRAM_NAMES].sort());
      expect(await values("Time unit")).toEqual(["", ...TIME_UNITS]);
      await form.getByLabel("Class").selectOption("crypto");
      await form.getByLabel("Program").selectOption("plain");
      await form.getByLabel("Time unit").selectOption("s");
      await form.getByLabel("Columns").fill("time,close");
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("It must name a column open").waitFor();
      expect(await findViolations(page)).toEqual([]);
      await form.getByLabel("Columns").fill("time,close,high,low,open,-");
      await page.getByRole("button", { name: "Import", exact: true }).click();
      await page.getByText("Imported CACAO on LIFFE, 1d.").waitFor();
      await page.getByText("a plain file, commas, seconds since 1970, decimal point, no volume").waitFor();
      const ticks = "symbol=CACAO&exchange=LIFFE&timeframe=1d&startDate=1970-01-02&endDate=1970-01-03";
      const held = await admin.get(`/api/market-data/ticks?${ticks}`);
      expect([held.at("/ticks/0/open"), held.at("/ticks/0/close")]).toEqual([5, 4]);
    },
  );

  await t.step("the gaps of what is held are drawn, and a click shows one in the chart", async () => {
    const later = DAY.map((line) => line.replace("2024-03-01", "2024-03-04"));
    const path = "/api/admin/ingestion/import?symbol=COCOA&exchange=ICE&timeframe=1h";
    expect((await admin.send("POST", path, later.join("\n"), { "content-type": "text/csv" })).status).toBe(200);
    await page.goto(`${service.url}/data/ICE/COCOA`);
    await page.getByRole("img", { name: "1h: 1 gap" }).waitFor();
    expect(await page.locator("svg rect title").textContent()).toBe("2024-03-02 00:00 to 2024-03-04 00:00 UTC, 2 d");
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "2024-03-02 00:00 2 d" }).click();
    await page.waitForURL("**/data/ICE/COCOA?timeframe=1h&until=2024-03-05");
    await page.getByText("48 candles loaded").waitFor();
  });

  await t.step(
    "a run on candles that were revised since says so, and one with a stored result links to its run",
    async () => {
      const backtest = {
        ...{ symbol: "COCOA", exchange: "ICE", strategy: "Buy and Hold", parameters: { timeframe: "1h" } },
        ...{ start_date: "2024-03-01", end_date: "2024-03-02", initial_balance: 1000 },
      };
      const run = async () => String((await admin.send("POST", "/api/backtests", { backtest })).at("/backtest/id"));
      const first = await run();
      await admin.finish(first);
      const second = await run();
      await admin.finish(second);
      await page.goto(`${service.url}/runs/${second}`);
      expect(await page.getByRole("link", { name: "earlier run" }).getAttribute("href")).toBe(`/runs/${first}`);
      expect(await page.getByText("were revised after it").count()).toBe(0);
      const changed = [DAY[0], DAY[7]!.replace("11,5", "9.5,5")].join("\n");
      const path = "/api/admin/ingestion/import?symbol=COCOA&exchange=ICE&timeframe=1h";
      expect((await admin.send("POST", path, changed, { "content-type": "text/csv" })).at("/revised")).toBe(1);
      await page.reload();
      await page.getByText("Candles of this run were revised after it.").waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.goto(`${service.url}/runs`);
      await page.getByRole("row").getByText("Candles revised").nth(1).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await page.goto(`${service.url}/runs/${first}`);
      await page.getByRole("link", { name: "Run it again" }).click();
      await page.waitForURL(`**/runs/new?from=${first}`);
    },
  );

  await t.step(
    "a dropped file names its symbol, and its exchange and class are asked for once",
    () => importDropped(page, service.url),
  );

  await t.step("a file without candles is refused in words", async () => {
    await page.goto(`${service.url}/data`);
    await chooseFile(page, "COCOA_ICE_1h.csv", ["This is", "no table"]);
    await page.getByRole("button", { name: "Import", exact: true }).click();
    expect(await page.getByRole("alert").filter({ hasText: /\w/ }).innerText()).toMatch(/header|column/);
  });

  await t.step("a phone names the page it is on, and opens the links to all of them", async () => {
    for (const width of [360, 390, 768]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${service.url}/admin`);
      const pages = page.getByRole("navigation", { name: "Pages" }).getByRole("button", {
        name: "Pages, shown: Admin",
      });
      await pages.waitFor();
      const wider = await page.evaluate(`[...document.querySelectorAll("html, header, header *")]
        .filter((each) => !["hidden", "clip"].includes(getComputedStyle(each).overflowX))
        .filter((each) => each.clientWidth > 1 && each.scrollWidth > each.clientWidth).map((each) => each.outerHTML)`);
      expect([width, wider]).toEqual([width, []]);
      await pages.press("Enter");
      const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
      await links.first().waitFor();
      const names = ["Runs", "New run", "Optimize", "Strategies", "Universes", "Compare", "Market data", "Admin"];
      expect(await links.allInnerTexts()).toEqual(names);
      expect(await findViolations(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await links.first().waitFor({ state: "detached" });
      await pages.and(page.locator(":focus")).click();
      await links.filter({ hasText: "Market data" }).click();
      await page.waitForURL(`${service.url}/data`);
      await page.getByRole("button", { name: "Pages, shown: Market data" }).waitFor();
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await t.step("an admin follows what was ingested, and others may not", async () => {
    await page.getByRole("link", { name: "Admin" }).click();
    await page.getByRole("cell", { name: "rejected", exact: true }).waitFor();
    await page.getByRole("region", { name: "Instruments and schedules" }).getByRole("link", { name: "COCOA" })
      .waitFor();
    expect(await findViolations(page)).toEqual([]);
    await editInstruments(page, admin);
    await page.getByRole("button", { name: "Fetch what is missing" }).click();
    await page.getByRole("cell", { name: "manual" }).first().waitFor();
    await shareSession(page.context(), user);
    await page.goto(`${service.url}/admin`);
    await page.getByText("Only admins see this page").waitFor();
    expect(await page.getByRole("link", { name: "Admin" }).count()).toBe(0);
  });

  await page.context().close();
  await browser.close();
  await service.close();
  // The browser itself reports the refusals that the steps above provoke.
  expect(complaints.filter((line) => !/the server responded with a status of 4/.test(line))).toEqual([]);
});

/** Adds an instrument, changes it and deletes it, by the form of the admin's page. */
async function editInstruments(page: Page, admin: TestClient): Promise<void> {
  const row = page.getByRole("region", { name: "Instruments and schedules" }).getByRole("row", { name: /BTCUSDT/ });
  await page.getByRole("button", { name: "Add an instrument" }).press("Enter");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("Enter a symbol").waitFor();
  await page.getByLabel("Symbol", { exact: true }).fill("BTCUSDT");
  await page.getByLabel("Exchange", { exact: true }).fill("BINANCE");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText("It is required with Provider A").waitFor();
  await page.getByLabel("Fetch from").and(page.locator(":focus")).waitFor();
  await page.getByLabel("Fetch from").fill("2026-11-01");
  await page.getByLabel("Schedule", { exact: true }).fill("every day");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.locator("[aria-invalid=true]").and(page.getByLabel("Schedule", { exact: true })).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.getByLabel("Schedule", { exact: true }).fill("5 0 * * *");
  // The row may be opened before all of the page is fresh.
  const opened = Promise.withResolvers<void>();
  await page.route("**/trpc/ingestion.status*", async (route) => {
    await opened.promise;
    await route.continue();
  });
  await page.keyboard.press("Enter");
  await row.getByText("5 0 * * *").waitFor();
  await row.getByRole("button", { name: "Edit BTCUSDT" }).click();
  const fresh = page.waitForResponse(/ingestion\.status/);
  opened.resolve();
  await fresh;
  await page.unroute("**/trpc/ingestion.status*");
  await page.getByLabel("Schedule", { exact: true }).fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await row.getByText("5 0 * * *").waitFor({ state: "hidden" });
  const listed = (await admin.get("/api/admin/ingestion/instruments")).list("/instruments");
  expect(listed).toContainEqual(expect.objectContaining({
    ...{ symbol: "BTCUSDT", exchange: "BINANCE", assetClass: "crypto", provider: "provider_a", timeframe: "1m" },
    ...{ backfill_from: "2026-11-01", schedule: null },
  }));
  await row.getByRole("button", { name: "Edit BTCUSDT" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("button", { name: "Delete instrument" }).click();
  await row.waitFor({ state: "hidden" });
}

async function chooseFile(page: Page, name: string, lines: readonly string[]): Promise<void> {
  const buffer = Buffer.from(lines.join("\n"));
  await page.getByLabel("CSV file").setInputFiles({ name, mimeType: "text/csv", buffer });
}

/** Every page of the console has one main part, for visitors and for users, in a real browser. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { AgentProgram } from "../support/agent_program.ts";
import { connectBrowser, openPage, shareSession } from "../support/browser.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";
import { makeRun, makeUniverse } from "./sample_runs.ts";

/** The addresses of the console's routes, as its router writes them. */
const ROUTES = [
  ...(await Deno.readTextFile(new URL("../../web/src/app/router.tsx", import.meta.url))).matchAll(/\bpath: "([^"]+)"/g),
].map(([, path]) => path!);
const UNKNOWN = crypto.randomUUID();

/** The page at an address, once it shows a heading. */
async function countMains(page: Page, address: string): Promise<number> {
  await page.goto(address);
  await page.getByRole("main").getByRole("heading").first().waitFor();
  return await page.locator("main, [role=main]").count();
}

Deno.test("every page has one main part, and a visitor's pages call nothing that is refused", async (t) => {
  const service = await startTestService("PostgreSQL");
  const browser = await connectBrowser();
  const user = await service.user();
  const run = await makeRun(user, "good");
  const optimization = await submitOptimization(user);
  await finishOptimization(user, optimization);
  const universe = await makeUniverse(user);
  const link = await user.send("POST", "/api/shares", { share: { backtest_id: run } });
  const agent = new AgentProgram(`${service.url}/mcp`, "http://127.0.0.1:49152/callback", "Agent");
  const asked = await agent.askPerson();
  const values: Readonly<Record<string, string>> = {
    "/runs/$id": `/runs/${run}`,
    "/optimizations/$id": `/optimizations/${optimization}`,
    "/connect": asked.pathname + asked.search,
    "/shared/$token": String(link.at("/path")),
    "/data/$exchange/$symbol": "/data/SAMPLE/DEMO",
    "/strategies/$slug": "/strategies/sma-cross",
    "/universes/$slug": `/universes/${universe}`,
    "$": "/nothing/is/here",
  };
  const pages = ROUTES.map((route) => values[route] ?? route);
  expect(pages.filter((path) => path.includes("$"))).toEqual([]);
  expect(pages.length).toBeGreaterThan(20);

  await t.step("a visitor's", async () => {
    const { page, complaints } = await openPage(browser);
    for (const path of pages) expect([path, await countMains(page, service.url + path)]).toEqual([path, 1]);
    await page.context().close();
    // Not even the question whether there is a session is refused.
    expect(complaints).toEqual([]);
  });

  const { page, complaints } = await openPage(browser);
  await shareSession(page.context(), user);
  await t.step("a user's", async () => {
    for (const path of pages) expect([path, await countMains(page, service.url + path)]).toEqual([path, 1]);
    expect(complaints).toEqual([]);
  });

  await t.step("those of records that are not there", async () => {
    const lost = [
      ...[`/runs/${UNKNOWN}`, `/optimizations/${UNKNOWN}`, "/shared/hcs_none", "/strategies/none", "/universes/none"],
      ...["/data/NOWHERE/NONE", `/compare?ids=${UNKNOWN},${run}`],
    ];
    for (const path of lost) expect([path, await countMains(page, service.url + path)]).toEqual([path, 1]);
  });

  await t.step("and those whose calls fail", async () => {
    await page.route(/\/trpc\/(?!session)/, (route) => route.fulfill({ status: 502, body: "Bad gateway" }));
    for (const path of pages) expect([path, await countMains(page, service.url + path)]).toEqual([path, 1]);
  });

  await page.context().close();
  await browser.close();
  await service.close();
  expect(complaints.filter((each) => !/status of (404|502)/.test(each))).toEqual([]);
});

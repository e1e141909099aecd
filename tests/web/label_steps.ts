/** Steps about a run's labels, and about the list of runs that is filtered and sorted. */
import { expect } from "@std/expect";
import type { Page } from "playwright-core";
import { findViolations } from "../support/browser.ts";
import { until } from "../support/until.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";

/** Edits the labels of a run on its page, by keys. */
export async function editLabels(page: Page, user: TestClient, id: string): Promise<void> {
  const labelAt = async (name: string) => (await user.get(`/api/backtests/${id}`)).at(`/backtest/${name}`);
  const kept = () => page.waitForResponse((response) => response.url().includes("/trpc/backtests.update"));
  /** Changes a label. The page shows it before the service has it. */
  const keep = async (change: () => Promise<void>) => {
    const answered = kept();
    await change();
    await answered;
  };
  await page.goto(`${user.url}/runs/${id}`);

  // The new name is seen while the service has not answered yet.
  const leave = Promise.withResolvers<void>();
  await page.route("**/trpc/backtests.update*", async (route) => {
    await leave.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Rename the run" }).press("Enter");
  await page.keyboard.type("Crossing slowly");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Crossing slowly" }).waitFor();
  expect(await labelAt("name")).toBe(null);
  const named = kept();
  leave.resolve();
  await named;
  expect(await labelAt("name")).toBe("Crossing slowly");
  await page.unroute("**/trpc/backtests.update*");

  // A refusal stands at the field, which keeps what was typed.
  await page.getByRole("button", { name: "Rename the run" }).click();
  await page.getByLabel("Name of the run").fill("x".repeat(201));
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: /^It .*200/ }).waitFor();
  expect(await page.getByLabel("Name of the run").inputValue()).toBe("x".repeat(201));
  expect(await findViolations(page)).toEqual([]);
  await page.getByLabel("Name of the run").press("Escape");
  await page.getByRole("heading", { name: "Crossing slowly" }).waitFor();
  await page.getByRole("button", { name: "Rename the run" }).and(page.locator(":focus")).waitFor();

  for (const tag of ["slow", "to delete"]) {
    await page.getByRole("button", { name: "+ Tag" }).click();
    await page.getByLabel("New tag").fill(tag);
    await keep(() => page.keyboard.press("Enter"));
    await page.getByRole("link", { name: tag }).waitFor();
    await page.getByRole("button", { name: "+ Tag" }).waitFor();
  }
  await keep(() => page.getByRole("button", { name: "Remove the tag to delete" }).click());
  await page.getByRole("link", { name: "to delete" }).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "+ Notes" }).click();
  await page.keyboard.type("Slower than\nthe market");
  await page.reload();
  await until(async () => await page.getByLabel("Notes on the run").inputValue() === "Slower than\nthe market");
  expect(await findViolations(page)).toEqual([]);
  await keep(() => page.getByLabel("Notes on the run").press("Control+Enter"));
  await page.getByRole("region", { name: "Notes" }).waitFor();
  await labelInOneTab(page, `${user.url}/runs`, id, keep);
  await page.getByRole("button", { name: "Star Crossing slowly", pressed: true }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await page.reload();
  await page.getByRole("button", { name: "Star Crossing slowly", pressed: true }).waitFor();
  expect(await page.getByRole("region", { name: "Notes" }).innerText()).toBe("Slower than\nthe market");
  expect(await labelAt("tags")).toEqual(["slow"]);
}

/** Changes a tag, the notes and the star, which another tab shows. @param keep Waits for the service's answer to a change. */
async function labelInOneTab(
  page: Page,
  list: string,
  id: string,
  keep: (change: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const otherTab = await page.context().newPage();
  await otherTab.goto(`${list}/${id}`);
  await otherTab.getByRole("region", { name: "Notes" }).waitFor();
  await keep(() => page.getByRole("button", { name: "Remove the tag slow" }).click());
  await otherTab.getByRole("link", { name: "slow" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "+ Tag" }).click();
  await page.getByLabel("New tag").fill("slow");
  await keep(() => page.keyboard.press("Enter"));
  await otherTab.getByRole("link", { name: "slow" }).waitFor();
  for (const notes of ["Changed elsewhere", "Slower than\nthe market"]) {
    await page.getByRole("button", { name: "Edit the notes" }).click();
    await page.getByLabel("Notes on the run").fill(notes);
    await keep(() => page.getByLabel("Notes on the run").press("Control+Enter"));
    await otherTab.getByRole("region", { name: "Notes" }).getByText(notes).waitFor();
  }
  await otherTab.goto(list);
  await otherTab.getByRole("button", { name: "Star Crossing slowly", pressed: false }).waitFor();
  await keep(() => page.getByRole("button", { name: "Star Crossing slowly", pressed: false }).click());
  await otherTab.getByRole("button", { name: "Star Crossing slowly", pressed: true }).waitFor();
  await otherTab.close();
}

/** Filters and sorts the list of runs, which holds the run of editLabels() and at least two others. */
export async function filterRuns(page: Page, user: TestClient): Promise<void> {
  const rows = page.getByRole("region", { name: "Runs" }).locator("tbody tr[data-row]");
  const only = rows.filter({ hasText: "Crossing slowly" });
  const showOne = async () => {
    await rows.nth(1).waitFor({ state: "hidden" });
    await only.waitFor();
  };
  const showAll = async () => {
    await page.getByRole("button", { name: "Clear filters" }).click();
    await rows.nth(2).waitFor();
    expect(new URL(page.url()).search).toBe("");
  };
  await page.goto(`${user.url}/runs`);
  await rows.nth(2).waitFor();
  await only.locator("polyline").waitFor();

  await only.getByRole("link", { name: "slow", exact: true }).click();
  await page.waitForURL("**/runs?tag=slow");
  await showOne();
  await page.reload();
  await showOne();
  expect(await page.getByRole("combobox", { name: /^Tag/ }).inputValue()).toBe("slow");
  await showAll();
  // The address keeps its state, which check() would miss at once.
  await page.getByLabel("Starred").click();
  await page.waitForURL("**/runs?starred=true");
  await showOne();
  await showAll();
  await page.getByLabel("Search the runs").fill("than the");
  await page.getByText("No run fits this search.").waitFor();
  await page.getByLabel("Search the runs").fill("THE MARKET");
  await showOne();
  await showAll();
  expect(await page.getByLabel("Search the runs").inputValue()).toBe("");
  await page.getByRole("combobox", { name: /^Strategy/ }).selectOption("SMA Cross");
  await page.getByRole("combobox", { name: /^Status/ }).selectOption("cancelled");
  await page.getByText("No run fits this search.").waitFor();
  await page.waitForURL("**/runs?strategy=SMA+Cross&status=cancelled");
  expect(await findViolations(page)).toEqual([]);
  await showAll();

  for (const [order, direction] of [["desc", "descending"], ["asc", "ascending"]]) {
    await page.getByRole("button", { name: "Return" }).click();
    await page.locator(`th[aria-sort=${direction}]`, { hasText: "Return" }).waitFor();
    // The rows are those of the earlier order until the service has answered.
    await page.getByRole("region", { name: "Runs" }).and(page.locator("[aria-busy=false]")).waitFor();
    const listed = JSON.parse((await user.get(`/api/backtests?view=summary&sort=return&order=${order}`)).text);
    const links = await rows.locator("td:nth-child(3) a[href^='/runs/']").all();
    const ids = await Promise.all(links.map((link) => link.getAttribute("href")));
    expect(ids).toEqual(listed.backtests.map(({ id }: { readonly id: string }) => `/runs/${id}`));
  }
  expect(new URL(page.url()).search).toBe("?sort=return&order=asc");
  const answered = page.waitForResponse((response) => response.url().includes("/trpc/backtests.update"));
  await only.getByRole("button", { name: "Star Crossing slowly", pressed: true }).click();
  await only.getByRole("button", { name: "Star Crossing slowly", pressed: false }).waitFor();
  await answered;
}

/** Submits runs as a program does while the list is open, and compares, tags and deletes those that are chosen in it. */
export async function chooseRuns(page: Page, user: TestClient): Promise<void> {
  const table = page.getByRole("region", { name: "Runs" });
  const rows = table.locator("tbody tr[data-row]");
  const submit = async (name: string, labels: object = {}) =>
    await user.finish(
      (await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, name, ...labels } })).at("/backtest/id"),
    );
  const token = await user.send("POST", "/api/tokens", { token: { name: "list", scope: "run", expires_in_days: 1 } });
  const authorization = { cookie: "", authorization: `Bearer ${token.at("/secret")}` };
  await page.goto(`${user.url}/runs`);
  await rows.nth(2).waitFor();
  // Another tab, whose calls for the newest run are not answered, learns of a program's runs and labels by events.
  const other = await page.context().newPage();
  await other.route(
    "**/trpc/backtests.summaries?*",
    (route) =>
      new URL(route.request().url()).searchParams.get("input") === '{"limit":1}' ? undefined : route.continue(),
  );
  await other.goto(`${user.url}/runs`);
  const followed = other.locator("tbody tr[data-row]").filter({ hasText: "by a program" });
  await other.locator("tbody tr[data-row]").nth(2).waitFor();
  const backtest = { ...BACKTEST, name: "by a program" };
  const made = await user.send("POST", "/api/backtests", { backtest }, authorization);
  await rows.filter({ hasText: "by a program" }).waitFor();
  await followed.waitFor();
  const id = String(made.at("/backtest/id"));
  await user.finish(id);
  // Without a name, a run is called by the settings that differ from the strategy's defaults.
  const unnamed = { ...BACKTEST, parameters: { timeframe: "1h", fast: 7, slow: 30 } };
  await user.finish(
    (await user.send("POST", "/api/backtests", { backtest: unnamed }, authorization)).at("/backtest/id"),
  );
  await other.getByRole("link", { name: "SMA Cross: fast 7", exact: true }).waitFor();
  await user.send("PATCH", `/api/backtests/${id}`, { backtest: { tags: ["labelled"] } }, authorization);
  await followed.getByRole("link", { name: "labelled" }).waitFor();
  await other.unrouteAll({ behavior: "ignoreErrors" });
  await other.close();
  await submit("a try", { tags: ["try"] });
  await submit("another one");
  await rows.filter({ hasText: "another one" }).waitFor();
  expect(await rows.filter({ hasText: "a try" }).count()).toBe(0);
  expect((await user.get("/api/backtests?not_tag=try&search=a%20try")).list("/backtests")).toEqual([]);
  await page.getByRole("button", { name: "Show them" }).click();
  await rows.filter({ hasText: "a try" }).waitFor();
  await page.getByRole("button", { name: "Leave them out" }).click();
  await rows.filter({ hasText: "a try" }).waitFor({ state: "hidden" });

  const chosen = page.getByRole("region", { name: "Chosen runs" });
  const choose = async () => {
    for (const name of ["by a program", "another one"]) await page.getByLabel(`Choose ${name}`).click();
    await chosen.getByText("2 runs chosen").waitFor();
  };
  await choose();
  expect(await chosen.getByRole("link", { name: "Compare" }).getAttribute("href")).toMatch(
    /ids=[\w-]{36}\W.*[\w-]{36}$/,
  );
  expect(await findViolations(page)).toEqual([]);
  await chosen.getByLabel("Tag for the chosen runs").fill("both");
  await chosen.getByRole("button", { name: "Add tag" }).click();
  await chosen.waitFor({ state: "hidden" });
  await until(async () => await rows.getByRole("link", { name: "both", exact: true }).count() === 2);
  await page.getByLabel("Group").click();
  await table.getByRole("rowheader", { name: /^SMA Cross on DEMO, SAMPLE/ }).waitFor();
  expect(await findViolations(page)).toEqual([]);
  await choose();
  await chosen.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete 2 runs" }).click();
  await rows.filter({ hasText: "by a program" }).waitFor({ state: "hidden" });
  await until(async () => (await user.get("/api/backtests?tag=both")).list("/backtests").length === 0);
}

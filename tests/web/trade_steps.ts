import { expect } from "@std/expect";
import type { Locator, Page } from "playwright-core";
import { findViolations } from "../support/browser.ts";
import type { TestClient } from "../support/client.ts";
import { until } from "../support/until.ts";
import { MANY_TRADES } from "../server/trade_order_steps.ts";

interface Trade {
  readonly number: number;
  readonly pnl: number;
  readonly entry_time: string;
  readonly exit_time: string | null;
}

const readTrades = async (user: TestClient, id: string): Promise<Trade[]> =>
  JSON.parse((await user.get(`/api/backtests/${id}/trades`)).text).trades;
const byProfit = (trades: readonly Trade[]) => trades.toSorted((a, b) => b.pnl - a.pnl || a.number - b.number);
const shownNumber = (row: Locator) => row.getByRole("cell").first().innerText();
const write = (number: number | undefined) => number?.toLocaleString("en-US");

/** Sorts the trades of the run that the page shows, and moves its charts to one. @returns The best trade. */
export async function sortTrades(page: Page, user: TestClient): Promise<Trade> {
  const id = page.url().split(/[/?]/)[4]!;
  await page.getByRole("tab", { name: "Trades" }).click();
  const metrics = Object((await user.get(`/api/backtests/${id}`)).at("/backtest/result/metrics"));
  expect(metrics.open_trades).toBe(1);
  // The strip and the tab count alike.
  const all = metrics.trades + 1;
  await page.getByText(`${all} of ${all} trades (${metrics.trades} closed, 1 still open)`).waitFor();
  await page.getByText(`${metrics.trades} closed, 1 still open`, { exact: true }).waitFor();
  await page.getByRole("button", { name: "P&L" }).click();
  const [best] = byProfit(await readTrades(user, id));
  const row = page.getByRole("table", { name: "Trades" }).getByRole("row").nth(1);
  await until(async () => await shownNumber(row) === write(best?.number));
  const entry = await row.getByRole("cell").nth(2).innerText();
  expect(entry.replace(" ", "T")).toBe(best!.entry_time.slice(0, 16));
  await page.getByText("2024-01-01 to 2024-12-31").waitFor();
  await row.click();
  await page.getByText("2024-01-01 to 2024-12-31").waitFor({ state: "hidden" });
  expect(await findViolations(page)).toEqual([]);
  return best!;
}

/** Opens a run with more than 50,000 trades: its table, its histograms and its marks are those of all of them. */
export async function readManyTrades(page: Page, user: TestClient, url: string): Promise<void> {
  const id = String((await user.send("POST", "/api/backtests", { backtest: MANY_TRADES })).at("/backtest/id"));
  await user.finish(id);
  const trades = await readTrades(user, id);
  const closed = trades.filter(({ exit_time }) => exit_time !== null);
  expect(trades.length).toBeGreaterThan(50_000);
  await page.goto(`${url}/runs/${id}`);
  await page.getByRole("img", { name: `Of ${write(closed.length)} closed trades` }).waitFor();
  await page.getByRole("img", { name: `${write(closed.length)} closed trades: adverse` }).waitFor();
  await page.getByText(`${write(trades.length + closed.length)} fills in view: zoom in to see them`).waitFor();

  await page.getByRole("tab", { name: "Trades" }).click();
  await page.getByText(`${write(trades.length)} of ${write(trades.length)} trades`).waitFor();
  await page.getByRole("button", { name: "P&L" }).click();
  const sorted = byProfit(trades);
  const rows = page.getByRole("table", { name: "Trades" }).getByRole("row");
  await until(async () => await shownNumber(rows.nth(1)) === write(sorted[0]!.number));
  // The last row comes with its page, and the page holds few rows.
  await page.evaluate("document.querySelector('[role=region][aria-label=Trades]').scrollTo(0, 1e9)");
  const last = page.locator(`[role=row][aria-rowindex="${trades.length + 1}"]`);
  await until(async () => await shownNumber(last) === write(sorted.at(-1)!.number));
  expect(await rows.count()).toBeLessThan(100);
  await page.getByLabel("Result").selectOption("lost");
  const lost = trades.filter(({ pnl }) => pnl < 0);
  await page.getByText(`${write(lost.length)} of ${write(trades.length)} trades`).waitFor();
  expect(await findViolations(page)).toEqual([]);

  // The address of a trade behind the first 50,000 opens it, framed in the charts.
  const { number } = sorted.find((trade) => trade.number > 50_000)!;
  await page.goto(`${url}/runs/${id}?tab=trades&trade=${number}`);
  const time = trades[number - 1]!.entry_time.slice(0, 10);
  await page.getByText(new RegExp(`${time} to |to ${time}`)).waitFor();
  await user.send("DELETE", `/api/backtests/${id}`);
}

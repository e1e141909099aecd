/** Checks the tables of a run that holds DOLLAR and EURO: their currencies, weights and profits. */
import { expect } from "@std/expect";
import type { TestService } from "../support/service.ts";

/** @param curve The run's equity, a row for each day. */
export async function checkTables(
  user: Awaited<ReturnType<TestService["user"]>>,
  record: { readonly id: string; readonly result: unknown },
  curve: readonly { readonly timestamp: string; readonly equity: number }[],
): Promise<void> {
  const currencies = { "DOLLAR@LAB": "USD", "EURO@LAB": "EUR" };
  for (const part of ["trades", "orders"]) {
    const rows = (await user.get(`/api/backtests/${record.id}/${part}`)).list(`/${part}`).map(Object);
    expect(Object.fromEntries(rows.map(({ instrument, currency }) => [instrument, currency]))).toEqual(currencies);
    const csv = (await user.get(`/api/backtests/${record.id}/${part}?format=csv`)).text.trimEnd().split(/\r?\n/);
    expect(csv[0]).toMatch(/,instrument,currency$/);
    expect(new Set(csv.slice(1).map((line) => line.split(",").slice(-2).join()))).toEqual(
      new Set(["DOLLAR@LAB,USD", "EURO@LAB,EUR"]),
    );
  }
  const holdings = (await user.get(`/api/backtests/${record.id}/holdings`)).list("/holdings").map(Object);
  const euros = holdings.filter(({ instrument }) => instrument === "EURO@LAB");
  const { contributions } = Object(record.result).portfolio;
  expect(euros.at(-1).profit).toBeCloseTo(contributions[1].pnl, 8);
  expect(new Set(euros.map(({ timestamp }) => timestamp)).size).toBe(euros.length);
  for (const { timestamp, equity } of curve) {
    const now = holdings.filter((row) => Date.parse(row.timestamp) === Date.parse(timestamp) + 86_400_000);
    const gained = now.reduce((sum, { profit }) => sum + profit, 0);
    const weight = now.reduce((sum, each) => sum + each.weight, 0);
    expect([timestamp, gained]).toEqual([timestamp, expect.closeTo(equity - 10_000, 6)]);
    expect(weight).toBeLessThanOrEqual(1 + 1e-9);
  }
}

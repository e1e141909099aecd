import { expect } from "@std/expect";
import type { TestClient } from "./client.ts";

/** A run's repetition is equal to it, and one with other costs differs where it is named. */
export async function requireVerified(trader: TestClient, id: string): Promise<void> {
  const path = `/api/backtests/${id}`;
  const again = await trader.send("POST", `${path}/verify`);
  const other = String(again.at("/backtest/id"));
  expect([again.status, again.headers.get("location")]).toEqual([202, `/api/backtests/${other}`]);
  expect(other).not.toBe(id);
  expect((await trader.finish(other)).at("/backtest/status")).toBe("completed");
  const equal = await trader.get(`${path}/differences?other=${other}`);
  expect([equal.status, equal.at("")]).toEqual([
    200,
    { equal: true, same_data: true, same_engine: true, difference: null },
  ]);

  const record = Object((await trader.get(path)).at("/backtest"));
  const { symbol, exchange, strategy, start_date, end_date, parameters } = record;
  const dearer = { ...parameters, execution: { ...parameters.execution, commission: 0.5 } };
  const backtest = { symbol, exchange, strategy, start_date, end_date, initial_balance: 1000, parameters: dearer };
  const created = await trader.send("POST", "/api/backtests", { backtest });
  const costly = await trader.finish(created.at("/backtest/id"));
  const differs = await trader.get(`${path}/differences?other=${created.at("/backtest/id")}`);
  const field = String(differs.at("/difference/field"));
  expect(differs.at("")).toEqual({
    equal: false,
    same_data: true,
    same_engine: true,
    difference: {
      in: "metrics",
      number: null,
      field,
      value: record.result.metrics[field],
      other: costly.at(`/backtest/result/metrics/${field}`),
    },
  });
  expect(differs.at("/difference/value")).not.toEqual(differs.at("/difference/other"));
}

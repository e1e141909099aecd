/** Monte Carlo simulations of backtests whose candles or code have changed since. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { administer } from "../support/database.ts";
import { INGESTION_SECRET, type TestService } from "../support/service.ts";
import { readExample, registration } from "./foreign_code.ts";

const MONTH = { exchange: "TEST", start_date: "2024-01-01", end_date: "2024-02-01", initial_balance: 1000 };

/** January by days; the price of the tenth may differ. */
function writeDays(tenth: number): string {
  const rows = Array.from({ length: 31 }, (_, day) => {
    const close = day === 9 ? tenth : 20 + day % 5;
    return `2024-01-${String(day + 1).padStart(2, "0")},${close},${close + 1},${close - 1},${close},1`;
  });
  return ["date,open,high,low,close,volume", ...rows, ""].join("\n");
}

async function complete(user: TestClient, change: object) {
  const created = await user.send("POST", "/api/backtests", { backtest: { ...MONTH, ...change } });
  expect([created.status, created.at("/error")]).toEqual([202, undefined]);
  const { id, status, result } = Object((await user.finish(created.at("/backtest/id"))).at("/backtest"));
  expect(status).toBe("completed");
  return { id, finalEquity: result.metrics.final_equity };
}

async function simulate(user: TestClient, backtest_id: string, change: object = {}) {
  const monte_carlo = { backtest_id, method: "candles", runs: 5, ...change };
  const created = await user.send("POST", "/api/monte-carlo", { monte_carlo });
  expect([created.status, created.at("/error")]).toEqual([202, undefined]);
  return Object(
    (await user.poll(`${created.headers.get("location")}?wait=30`, "/monte_carlo/status")).at("/monte_carlo"),
  );
}

/** Paths and real run are made of the candles that are held, and a note says that they are others than those of the backtest. */
export async function simulateRevised(service: TestService, user: TestClient): Promise<void> {
  const importDays = async (tenth: number) => {
    const path = "/api/admin/ingestion/import?symbol=DAYS&exchange=TEST&assetClass=crypto&timeframe=1d";
    const headers = { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET };
    expect((await service.client().send("POST", path, writeDays(tenth), headers)).status).toBe(200);
  };
  await importDays(24);
  const hold = { symbol: "DAYS", strategy: "Buy and Hold", parameters: { timeframe: "1d" } };
  const before = await complete(user, hold);
  const { result: { notes } } = await simulate(user, before.id);
  expect(notes).toEqual([]);

  await importDays(30);
  const { status, result } = await simulate(user, before.id);
  expect(status).toBe("completed");
  expect(result.notes).toEqual([
    "The candles have changed since the backtest ran: paths and real run are made of those that are held now",
  ]);
  const after = await complete(user, hold);
  expect(result.samples[0].figures.final_equity.real).toBe(after.finalEquity);

  // One day, and nothing to draw from.
  const short = await complete(user, { ...hold, end_date: "2024-01-02" });
  const { error } = await simulate(user, short.id, { method: "returns" });
  expect(error).toEqual({ code: "NO_DATA", message: "Cannot make paths of 1 daily returns: it takes two or more" });
}

/** A backtest keeps the code that it ran, also once its strategy is deleted; without the code, the simulation says so. */
export async function simulateDeleted({ databaseUrl }: TestService, user: TestClient): Promise<void> {
  const artifact = { content_base64: (await readExample("c/sma_cross.wasm")).toBase64() };
  const strategy = registration("gone-soon", { type: "wasm", artifact });
  const registered = await user.send("POST", "/api/strategies", { strategy });
  expect([registered.status, registered.at("/error")]).toEqual([201, undefined]);
  const parameters = { timeframe: "1h", fast: 6, slow: 24, direction: "both" };
  const backtest = await complete(user, { symbol: "DEMO", exchange: "SAMPLE", strategy: "gone-soon", parameters });
  expect((await user.send("DELETE", "/api/strategies/gone-soon")).status).toBe(204);
  const { result } = await simulate(user, backtest.id);
  expect(result.samples[0].figures.final_equity.real).toBe(backtest.finalEquity);

  const { module_sha256: sha256 } = Object((await user.get(`/api/backtests/${backtest.id}`)).at("/backtest/result"));
  await administer(databaseUrl, `delete from modules where sha256 = '${sha256}'`);
  const { error } = await simulate(user, backtest.id);
  expect(error).toEqual({ code: "STRATEGY_FAILED", message: `Cannot find the code ${sha256}` });
}

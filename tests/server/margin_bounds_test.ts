/** A margin call of an account over many markets, whose candles do not say whether worst prices came together. */
import { expect } from "@std/expect";
import { prepare } from "../support/prepare.ts";
import { INGESTION_SECRET, startTestService, type TestService } from "../support/service.ts";

const DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"];

Deno.test("a margin call has bounds: worst prices together, and closes alone", async (t) => {
  const [service] = await Promise.all([startTestService(), prepare("console")]);
  const user = await service.user();
  await importDays(service, "AAA", 6.5);
  await importDays(service, "BBB", 6.5);
  await importDays(service, "CCC", 9.5);
  const run = async (...symbols: readonly string[]) => {
    const made = await user.send("POST", "/api/backtests", {
      backtest: {
        ...{ symbol: "AAA", exchange: "LAB", start_date: "2024-01-01", end_date: "2024-01-05", initial_balance: 1_000 },
        strategy: "Fixed Weights",
        parameters: {
          ...{ timeframe: "1d", band: 1, weights: symbols.map((symbol) => `${symbol} 1`).join(", ") },
          instruments: symbols.map((symbol) => ({ symbol, exchange: "LAB" })),
          execution: { leverage: 2, maintenanceMargin: 0.5 },
        },
      },
    });
    expect([made.status, made.at("/error")]).toEqual([202, undefined]);
    const record = Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
    expect([record.status, record.error]).toEqual(["completed", null]);
    return record;
  };
  const called = await run("AAA", "BBB");

  await t.step("called with both at their worst, and not by closes", async () => {
    // 100 of each at 10 for 2000, of which 1000 are borrowed. At 6.5 equity is 300 and 325 are needed: AAA is closed there
    // and loses 350. By closes of 10 nothing is called.
    expect(called.result.metrics.final_equity).toBe(650);
    expect(called.result.portfolio.margin_bounds).toEqual({
      worst_together: { final_equity: 650, trades: 1 },
      closes_only: { final_equity: 1_000, trades: 0 },
    });
    const report = await user.get(`/api/backtests/${called.id}/report`);
    expect(report.text).toContain('"margin_bounds"');
  });
  await t.step("net and gross exposure stand at each moment of the weights", () => {
    const { exposure, weights } = called.result.portfolio;
    // Nothing at the first close; 2000 of 1000; 100 of BBB at 10 are 1000 of 650.
    const expected = [0, 2, 1_000 / 650, 1_000 / 650];
    expect(weights.timestamps.length).toBe(DAYS.length);
    expect(exposure.over_time).toEqual({ net: expected, gross: expected });
    const mean = expected.reduce((sum, value) => sum + value, 0) / 4;
    expect([exposure.net, exposure.gross]).toEqual([expect.closeTo(mean, 12), expect.closeTo(mean, 12)]);
  });
  await t.step("an account that is not called has none", async () => {
    expect((await run("CCC", "BBB")).result.portfolio.margin_bounds).toBeUndefined();
  });
  await service.close();
});

/** Imports days at 10, of which the third falls and recovers. */
async function importDays(service: TestService, symbol: string, low: number): Promise<void> {
  const lines = DAYS.map((day, n) => `${day},10,10,${n === 2 ? low : 10},10,1000`);
  const path = `/api/admin/ingestion/import?symbol=${symbol}&exchange=LAB&assetClass=crypto&timeframe=1d`;
  const answer = await fetch(service.url + path, {
    method: "POST",
    headers: { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
    body: ["date,open,high,low,close,volume", ...lines].join("\n"),
  });
  expect([symbol, answer.status]).toEqual([symbol, 200]);
  await answer.body?.cancel();
}

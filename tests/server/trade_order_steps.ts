/** A run with more trades than any answer holds: ordered, filtered, found by time and counted by the service, over all of them. */
import { expect } from "@std/expect";
import type { createTRPCClient } from "@trpc/client";
import type { AppRouter } from "../../routers/app.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";

interface Row {
  readonly number: number;
  readonly side: string;
  readonly entry_time: string;
  readonly exit_time: string | null;
  readonly pnl: number;
  readonly return: number;
  readonly mae: number;
  readonly mfe: number;
}

/** A hundred days of minutes with averages that cross every other minute. */
export const MANY_TRADES = {
  ...BACKTEST,
  end_date: "2024-04-11",
  initial_balance: 10_000,
  parameters: { timeframe: "1m", fast: 2, slow: 3 },
};

/** @param stranger Of another user. */
export async function orderTrades(
  user: TestClient,
  api: ReturnType<typeof createTRPCClient<AppRouter>>,
  stranger: typeof api,
): Promise<void> {
  const id = String((await user.send("POST", "/api/backtests", { backtest: MANY_TRADES })).at("/backtest/id"));
  expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
  const { trades: all }: { trades: Row[] } = JSON.parse((await user.get(`/api/backtests/${id}/trades`)).text);
  expect(all.length).toBeGreaterThan(50_000);
  const numbers = (rows: readonly Row[]) => rows.map(({ number }) => number);

  const best = all.toSorted((a, b) => b.pnl - a.pnl || a.number - b.number);
  const read = { id, sort: "pnl", order: "desc" } as const;
  for (const after of [0, 31_000, all.length - 3]) {
    const page = await api.backtests.tradeTable.query({ ...read, after, limit: 120 });
    expect([page.matching, page.number, page.pnl]).toEqual([
      all.length,
      numbers(best.slice(after, after + 120)),
      best.slice(after, after + 120).map(({ pnl }) => pnl),
    ]);
  }
  const lost = all.filter(({ side, pnl }) => side === "short" && pnl < 0);
  const worst = lost.toSorted((a, b) => a.mae - b.mae || a.number - b.number);
  const losers = { id, sort: "mae", side: "short", outcome: "lost" } as const;
  const page = await api.backtests.tradeTable.query({ ...losers, after: 500, limit: 50 });
  expect([page.matching, page.number]).toEqual([lost.length, numbers(worst.slice(500, 550))]);
  const plain = await api.backtests.tradeTable.query({ id, after: 51_000, limit: 2 });
  expect([plain.matching, plain.number]).toEqual([all.length, [51_001, 51_002]]);

  // A day far behind the first 50,000, with its ends included.
  const [from, until] = [Date.parse(all[52_000]!.entry_time), Date.parse(all[52_300]!.exit_time!)];
  const isIn = (time: string | null) => time !== null && Date.parse(time) >= from && Date.parse(time) <= until;
  const filled = all.filter(({ entry_time, exit_time }) => isIn(entry_time) || isIn(exit_time));
  const day = await api.backtests.fills.query({ id, from, until });
  expect(day.fills).toBe(
    all.filter(({ entry_time }) => isIn(entry_time)).length + all.filter(({ exit_time }) => isIn(exit_time)).length,
  );
  expect(day.trades.number).toEqual(numbers(filled));
  const whole = await api.backtests.fills.query({ id, from: 0 });
  const closed = all.filter(({ exit_time }) => exit_time !== null);
  expect([whole.fills, whole.trades.number]).toEqual([all.length + closed.length, []]);

  const { trades, returns: { low, width, counts }, excursions } = await api.backtests.tradeSpread.query({ id });
  expect([trades, counts.reduce((sum, count) => sum + count, 0)]).toEqual([closed.length, closed.length]);
  // An edge lies at 0, so that the bars below it hold the losses.
  const below = Math.round(-low / width);
  expect(counts.slice(0, below).reduce((sum, count) => sum + count, 0))
    .toBe(closed.filter((trade) => trade.return < 0).length);
  const reach = closed.map(({ mae }) => Math.abs(mae)).sort((a, b) => a - b);
  expect(excursions.mae_max).toBeCloseTo(reach[Math.floor(0.995 * reach.length)]! * 1.05, 12);
  expect(excursions.mae.length).toBeLessThanOrEqual(2 * 201 * 101);

  const { fills, tradeSpread } = stranger.backtests;
  await expect(fills.query({ id, from: 0 })).rejects.toMatchObject({ data: { appCode: "BACKTEST_NOT_FOUND" } });
  await expect(tradeSpread.query({ id })).rejects.toMatchObject({ data: { appCode: "BACKTEST_NOT_FOUND" } });
  await expect(api.backtests.fills.query({ id, from: 0, instrument: "OAK@SAMPLE" })).rejects
    .toMatchObject({ data: { appCode: "VALIDATION_FAILED" } });
}

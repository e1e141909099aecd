import { expect } from "@std/expect";
import { tradeMetrics } from "../../../engine/metrics/trade_metrics.ts";
import { tallyOf } from "./runs.ts";

Deno.test("tradeMetrics() of six closed trades and an open one, worked by hand", () => {
  const metrics = tradeMetrics(tallyOf([
    { pnl: 100, return: 0.1, entryDay: 0, exitDay: 4 },
    { pnl: -50, return: -0.05, entryDay: 4, exitDay: 5 },
    { pnl: 30, return: 0.03, entryDay: 5, exitDay: 5 },
    { pnl: -20, return: -0.04, entryDay: 6, exitDay: 8 },
    { pnl: -10, return: -0.01, entryDay: 8, exitDay: 9.5, ambiguous: true },
    { pnl: 0, return: 0, entryDay: 10, exitDay: 10.5 },
    { pnl: 999, return: 9, entryDay: 11, exitDay: null, ambiguous: true },
  ]));
  expect(metrics).toMatchObject({
    trades: 6,
    open_trades: 1,
    win_rate: 2 / 6,
    profit_factor: 1.625, // 130 / 80
    expectancy: 50 / 6,
    average_win: 65,
    average_loss: -80 / 3,
    best_trade: 0.1,
    worst_trade: -0.05,
    average_trade_days: 1.5, // (4 + 1 + 0 + 2 + 1.5 + 0.5) / 6
    max_trade_days: 4,
    max_consecutive_wins: 1,
    max_consecutive_losses: 2,
    ambiguous_trades: 2,
  });
  expect(metrics.average_trade).toBeCloseTo(0.005, 15); // 0.03 / 6
  expect(metrics.average_win_return).toBeCloseTo(0.065, 15); // 0.13 / 2
  expect(metrics.average_loss_return).toBeCloseTo(-0.1 / 3, 15); // -(0.05 + 0.04 + 0.01) / 3
  expect(metrics.payoff_ratio).toBeCloseTo(2.4375, 14); // 65 / (80 / 3)
  expect(metrics.kelly).toBeCloseTo(1 / 3 - (2 / 3) / 2.4375, 14);
  // Squares sum to 13900, less 6 x (50/6)^2 is 13483.33; / 5, root: 51.9294.
  expect(metrics.sqn).toBeCloseTo(Math.sqrt(6) * (50 / 6) / Math.sqrt((13900 - 2500 / 6) / 5), 14);
});

Deno.test("a trade at exactly zero ends a series of wins and of losses", () => {
  const metrics = tradeMetrics(tallyOf([1, 1, 0, 1, -1, -1, -1, 0, -1].map((pnl) => ({ pnl }))));
  expect(metrics).toMatchObject({ max_consecutive_wins: 2, max_consecutive_losses: 3, win_rate: 3 / 9 });
});

Deno.test("equal trades have no system quality number", () => {
  const same = tradeMetrics(tallyOf([{ pnl: 0.1 + 0.2 }, { pnl: 0.3 }]));
  expect(same.sqn).toEqual({ reason: "all closed trades have the same pnl" });
});

Deno.test("trades that only lose have no average win, and a profit factor of zero", () => {
  const metrics = tradeMetrics(tallyOf([{ pnl: -1 }, { pnl: -3 }]));
  expect(metrics).toMatchObject({ win_rate: 0, profit_factor: 0, average_loss: -2 });
  for (const metric of [metrics.average_win, metrics.payoff_ratio, metrics.kelly]) {
    expect(metric).toEqual({ reason: "no closed trade won" });
  }
});

Deno.test("trades that break even have neither wins nor losses", () => {
  const metrics = tradeMetrics(tallyOf([{ pnl: 0 }, { pnl: 0 }]));
  expect(metrics).toMatchObject({ win_rate: 0, expectancy: 0, profit_factor: { reason: "no closed trade lost" } });
});

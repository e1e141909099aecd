import { expect } from "@std/expect";
import { computeMetrics } from "../../../engine/metrics/compute.ts";
import { METRIC_DEFINITIONS, METRIC_NAMES, type MetricName } from "../../../engine/metrics/definitions.ts";
import type { MetricsInput } from "../../../engine/metrics/input.ts";
import { TOO_LARGE } from "../../../engine/metrics/reasons.ts";
import { DAY, runOf } from "./runs.ts";

/** Computes metrics and checks what holds for every run: names in order, finite numbers, a stated reason for each null. */
function computeSound(input: MetricsInput) {
  const { metrics, undefinedMetrics } = computeMetrics(input);
  expect(Object.keys(metrics)).toEqual([...METRIC_NAMES]);
  const nulls = METRIC_NAMES.filter((name) => metrics[name] === null);
  expect(Object.keys(undefinedMetrics)).toEqual(nulls);
  for (const name of nulls) {
    expect([...METRIC_DEFINITIONS[name].undefinedWhen, TOO_LARGE]).toContain(undefinedMetrics[name]);
  }
  for (const name of METRIC_NAMES) {
    const value = metrics[name];
    if (typeof value === "number") expect(Number.isFinite(value)).toBe(true);
  }
  expect(JSON.parse(JSON.stringify(metrics))).toEqual(metrics);
  return { metrics, undefinedMetrics };
}

const TRADE_METRICS: readonly MetricName[] = [
  ...([
    "win_rate",
    "profit_factor",
    "expectancy",
    "payoff_ratio",
    "average_trade",
    "best_trade",
    "worst_trade",
  ] as const),
  ...(["average_win", "average_loss", "average_trade_days", "max_trade_days", "sqn", "kelly"] as const),
];

Deno.test("computeMetrics() gives an ordinary run's account in full", () => {
  const { metrics, undefinedMetrics } = computeSound(runOf([100, 120, 90, 150, 160], {
    close: [10, 12, 9, 15, 16],
    trades: [
      { pnl: 70, return: 0.7, candles: [0, 2] },
      { pnl: -20, return: -0.2, candles: [1, 1] },
      { pnl: 10, exitDay: null, ambiguous: true, candles: [4, 4] },
    ],
    feesPaid: 3,
    cashInterest: 1,
    tradedValue: 310,
    rejectedOrders: 2,
  }));
  // Equity moves exactly as the instrument does.
  expect(undefinedMetrics).toEqual({ information_ratio: "every daily return is the benchmark's" });
  expect(metrics).toMatchObject({
    start: "2024-01-01T00:00:00.000Z",
    end: "2024-01-05T00:00:00.000Z",
    duration_days: 5,
    candles: 5,
    exposure: 0.8,
    initial_equity: 100,
    final_equity: 160,
    peak_equity: 160,
    total_return: 0.6000000000000001, // 160 / 100 - 1 in doubles
    buy_hold_return: 0.6000000000000001,
    max_drawdown: 0.25, // 120 to 90
    max_drawdown_days: 2, // close of day 2 to close of day 4
    trades: 2,
    open_trades: 1,
    fees_paid: 3,
    cash_interest: 1,
    turnover: 2.5, // 310 / mean(100, 120, 90, 150, 160) = 310 / 124
    rejected_orders: 2,
    ambiguous_trades: 1,
  });
  expect(metrics.recovery_factor).toBeCloseTo(2.4, 12); // 0.6 / 0.25
  expect(metrics.calmar).toBe(metrics.cagr! / 0.25);
});

Deno.test("peak_equity counts the marks alone, max_drawdown the initial balance too", () => {
  const { metrics } = computeSound(runOf([90, 95], { initialBalance: 100 }));
  expect(metrics.peak_equity).toBe(95);
  expect(metrics.max_drawdown).toBe(0.1);
});

Deno.test("a run without a trade has no trade metrics, with reasons", () => {
  const { metrics, undefinedMetrics } = computeSound(runOf([100, 100, 100]));
  for (const name of TRADE_METRICS) {
    expect(metrics[name]).toBeNull();
    expect(undefinedMetrics[name]).toMatch(/no closed trade|fewer than two closed trades/);
  }
  expect(metrics).toMatchObject({ trades: 0, open_trades: 0, max_consecutive_wins: 0, max_consecutive_losses: 0 });
  expect(metrics).toMatchObject({ exposure: 0, turnover: 0, fees_paid: 0 });
});

Deno.test("flat equity has no risk, so ratios to risk are undefined and not infinite", () => {
  const { metrics, undefinedMetrics } = computeSound(runOf([100, 100, 100, 100, 100], { close: [10, 11, 12, 11, 10] }));
  expect(metrics).toMatchObject({ total_return: 0, cagr: 0, annual_return: 0, annual_volatility: 0, max_drawdown: 0 });
  expect(metrics).toMatchObject({
    max_drawdown_days: 0,
    ulcer_index: 0,
    var_95: 0,
    cvar_95: 0,
    best_day: 0,
    beta: 0,
    alpha: 0,
  });
  expect(undefinedMetrics).toMatchObject({
    sharpe: "all daily returns are equal",
    sortino: "no daily return is below the risk-free rate",
    omega: "no daily return is below the risk-free rate",
    calmar: "equity never fell below its peak",
    recovery_factor: "equity never fell below its peak",
    average_drawdown: "equity never fell below its peak",
    skew: "all daily returns are equal",
    kurtosis: "all daily returns are equal",
    probabilistic_sharpe: "all daily returns are equal",
  });
});

Deno.test("one trade has a mean and no deviation", () => {
  const { metrics, undefinedMetrics } = computeSound(
    runOf([100, 110], { trades: [{ pnl: 10, return: 0.1, exitDay: 1 }] }),
  );
  expect(metrics).toMatchObject({ trades: 1, win_rate: 1, expectancy: 10, average_win: 10, average_trade: 0.1 });
  expect(undefinedMetrics).toMatchObject({
    sqn: "fewer than two closed trades",
    profit_factor: "no closed trade lost",
    payoff_ratio: "no closed trade lost",
    kelly: "no closed trade lost",
    average_loss: "no closed trade lost",
  });
});

Deno.test("one candle is one day with one return", () => {
  const { metrics, undefinedMetrics } = computeSound(runOf([100], { close: [50] }));
  expect(metrics).toMatchObject({ start: metrics.end, duration_days: 1, candles: 1, buy_hold_return: 0, worst_day: 0 });
  expect(undefinedMetrics).toMatchObject({
    annual_volatility: "fewer than two daily returns",
    sharpe: "fewer than two daily returns",
    alpha: "fewer than two days after the first",
    beta: "fewer than two days after the first",
    skew: "fewer than three daily returns",
  });
});

Deno.test("a minute that doubles the money has a growth rate beyond the range of numbers", () => {
  const { metrics, undefinedMetrics } = computeSound(runOf([200], { timeframeMs: 60_000 }));
  // 2 to the power 365.25 x 1440 is beyond 1.8e308; by days, 2^365 - 1 is not.
  expect(metrics.cagr).toBeNull();
  expect(undefinedMetrics["cagr"]).toBe("beyond the range of numbers");
  expect(undefinedMetrics["calmar"]).toBe("equity never fell below its peak");
  expect(metrics.annual_return).toBe(2 ** 365);
});

Deno.test("a total loss is -100 % and stays defined; the days after it have no return", () => {
  const { metrics } = computeSound(runOf([100, 50, 0, 0, 0], { close: [10, 5, 1, 2, 3] }));
  expect(metrics).toMatchObject({ final_equity: 0, total_return: -1, cagr: -1, annual_return: -1, max_drawdown: 1 });
  // Day 1 is 0, day 2 -0.5, day 3 -1: the mean is -0.5, the deviation 0.5.
  expect(metrics).toMatchObject({ worst_day: -1, best_day: 0, calmar: -1, recovery_factor: -1 });
  expect(metrics.sharpe).toBeCloseTo(-Math.sqrt(365), 10);
  expect(metrics.max_drawdown_days).toBe(4); // from the close of day 1 to the end
});

Deno.test("equity that is zero from the first candle has no turnover", () => {
  const { metrics, undefinedMetrics } = computeSound(runOf([0, 0], { close: [10, 5], tradedValue: 100 }));
  expect(metrics).toMatchObject({ total_return: -1, worst_day: -1, best_day: -1, max_drawdown: 1, ulcer_index: 1 });
  expect(undefinedMetrics["turnover"]).toBe("equity was zero throughout");
});

Deno.test("trades that are all open count as open trades and in nothing else", () => {
  const { metrics } = computeSound(runOf([100, 130], {
    trades: [{ pnl: 20, exitDay: null, candles: [1, 1] }, { pnl: 10, exitDay: null, candles: [1, 1] }],
  }));
  expect(metrics).toMatchObject({ trades: 0, open_trades: 2, final_equity: 130, exposure: 0.5 });
  for (const name of TRADE_METRICS) expect(metrics[name]).toBeNull();
});

Deno.test("a run without candles is refused", () => {
  expect(() => computeMetrics(runOf([]))).toThrow("Cannot compute metrics without a candle");
  const uneven = { ...runOf([1, 2]), close: new Float64Array(1) };
  expect(() => computeMetrics(uneven)).toThrow("Cannot compute metrics of 2 candles with 1 closes and 2 marks");
});

Deno.test("the same columns give the same bytes", () => {
  const equity = Float64Array.from({ length: 5000 }, (_, i) => 100 + Math.sin(i) * 10 + i / 100);
  const input = { ...runOf([...equity], { timeframeMs: DAY / 24 }), time: equity.map((_, i) => i * DAY / 24) };
  const copy = { ...input, time: input.time.slice(), close: input.close.slice(), equity: input.equity.slice() };
  expect(JSON.stringify(computeMetrics(input))).toBe(JSON.stringify(computeMetrics(copy)));
});

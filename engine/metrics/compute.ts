import { type AccountMetrics, accountMetrics } from "./account.ts";
import { type BenchmarkMetrics, benchmarkMetrics } from "./benchmark.ts";
import { type DailyColumns, sampleDaily } from "./daily.ts";
import { type Metrics, NUMERIC_METRIC_NAMES, type NumericMetricName } from "./definitions.ts";
import { drawdownMetrics, type MarkMetrics } from "./drawdown.ts";
import { type GrowthMetrics, growthMetrics } from "./growth.ts";
import type { MetricsInput } from "./input.ts";
import type { Measured } from "./measured.ts";
import { type RatioMetrics, ratioMetrics } from "./ratios.ts";
import { TOO_LARGE } from "./reasons.ts";
import { type TailMetrics, tailMetrics } from "./tail.ts";
import { type TradeMetrics, tradeMetrics } from "./trade_metrics.ts";

export interface ComputedMetrics {
  readonly metrics: Metrics;
  /** The reason for each null among the metrics. */
  readonly undefinedMetrics: Readonly<Record<string, string>>;
  /** Fractions per trading day, oldest first (daily.ts). */
  readonly dailyReturns: Float64Array;
}

/**
 * Computes every metric of one run (definitions.ts).
 *
 * Time is linear in candles, memory in days and trades. Sums have one fixed order, so the same columns give the same bytes.
 * A metric without a value, or beyond the largest number, is null with a reason: never NaN, never infinity.
 *
 * @throws {RangeError} When there is no candle, or the columns differ in length.
 */
export function computeMetrics(input: MetricsInput): ComputedMetrics {
  const { time } = input;
  if (time.length === 0) throw new RangeError("Cannot compute metrics without a candle");
  if (input.equity.length !== time.length || input.close.length !== time.length) {
    throw new RangeError(
      `Cannot compute metrics of ${time.length} candles with ${input.close.length} closes and ${input.equity.length} marks`,
    );
  }
  const daily = sampleDaily(input);
  const parts = measure(input, daily);
  const metrics = settleAll(isoTime(time[0]!), isoTime(time[time.length - 1]!), parts);
  return { metrics, undefinedMetrics: reasonsOf(metrics, parts), dailyReturns: daily.returns };
}

/** The metrics by what they are measured on. */
interface Parts {
  readonly account: AccountMetrics;
  readonly drawdown: MarkMetrics;
  readonly growth: GrowthMetrics;
  readonly ratios: RatioMetrics;
  readonly tail: TailMetrics;
  readonly benchmark: BenchmarkMetrics;
  readonly trades: TradeMetrics;
}

function measure(input: MetricsInput, daily: DailyColumns): Parts {
  const drawdown = drawdownMetrics(input);
  return {
    account: accountMetrics(input, drawdown),
    drawdown,
    growth: growthMetrics(input, daily, drawdown),
    ratios: ratioMetrics(input, daily),
    tail: tailMetrics(daily.returns),
    benchmark: benchmarkMetrics(input, daily),
    trades: tradeMetrics(input.trades),
  };
}

/** All metrics, in the order of a result. One by one, because spreading the parts takes longer than measuring them. */
function settleAll(start: string, end: string, parts: Parts): Metrics {
  const { account, drawdown, growth, ratios, tail, benchmark, trades } = parts;
  return {
    start,
    end,
    duration_days: settle(growth.duration_days),
    candles: settle(account.candles),
    exposure: settle(account.exposure),
    initial_equity: settle(account.initial_equity),
    final_equity: settle(account.final_equity),
    peak_equity: settle(drawdown.peak_equity),
    total_return: settle(growth.total_return),
    cagr: settle(growth.cagr),
    annual_return: settle(growth.annual_return),
    buy_hold_return: settle(growth.buy_hold_return),
    annual_volatility: settle(ratios.annual_volatility),
    sharpe: settle(ratios.sharpe),
    sharpe_error: settle(ratios.sharpe_error),
    sharpe_low: settle(ratios.sharpe_low),
    sharpe_high: settle(ratios.sharpe_high),
    sortino: settle(ratios.sortino),
    calmar: settle(growth.calmar),
    omega: settle(ratios.omega),
    max_drawdown: settle(drawdown.max_drawdown),
    max_drawdown_days: settle(drawdown.max_drawdown_days),
    average_drawdown: settle(drawdown.average_drawdown),
    average_drawdown_days: settle(drawdown.average_drawdown_days),
    ulcer_index: settle(drawdown.ulcer_index),
    recovery_factor: settle(growth.recovery_factor),
    var_95: settle(tail.var_95),
    cvar_95: settle(tail.cvar_95),
    skew: settle(ratios.skew),
    kurtosis: settle(ratios.kurtosis),
    best_day: settle(tail.best_day),
    worst_day: settle(tail.worst_day),
    tail_ratio: settle(tail.tail_ratio),
    alpha: settle(benchmark.alpha),
    beta: settle(benchmark.beta),
    tracking_error: settle(benchmark.tracking_error),
    information_ratio: settle(benchmark.information_ratio),
    treynor: settle(benchmark.treynor),
    trades: settle(trades.trades),
    open_trades: settle(trades.open_trades),
    win_rate: settle(trades.win_rate),
    profit_factor: settle(trades.profit_factor),
    expectancy: settle(trades.expectancy),
    payoff_ratio: settle(trades.payoff_ratio),
    average_trade: settle(trades.average_trade),
    best_trade: settle(trades.best_trade),
    worst_trade: settle(trades.worst_trade),
    average_win: settle(trades.average_win),
    average_loss: settle(trades.average_loss),
    average_win_return: settle(trades.average_win_return),
    average_loss_return: settle(trades.average_loss_return),
    average_trade_days: settle(trades.average_trade_days),
    max_trade_days: settle(trades.max_trade_days),
    max_consecutive_wins: settle(trades.max_consecutive_wins),
    max_consecutive_losses: settle(trades.max_consecutive_losses),
    sqn: settle(trades.sqn),
    kelly: settle(trades.kelly),
    fees_paid: settle(account.fees_paid),
    cash_interest: settle(account.cash_interest),
    turnover: settle(account.turnover),
    rejected_orders: settle(account.rejected_orders),
    ambiguous_trades: settle(trades.ambiguous_trades),
    probabilistic_sharpe: settle(ratios.probabilistic_sharpe),
  };
}

/** Keeps infinities and NaN out of a result, and turns -0 into 0. */
function settle(measured: Measured): number | null {
  return typeof measured === "number" && Number.isFinite(measured) ? measured + 0 : null;
}

/** The reason for each null, in the order of a result. */
function reasonsOf(metrics: Metrics, parts: Parts): Record<string, string> {
  const reasons: Record<string, string> = {};
  const undefinedNames = NUMERIC_METRIC_NAMES.filter((name) => metrics[name] === null);
  if (undefinedNames.length === 0) return reasons;
  const { account, drawdown, growth, ratios, tail, benchmark, trades } = parts;
  const measured: Readonly<Record<NumericMetricName, Measured>> = {
    ...account,
    ...drawdown,
    ...growth,
    ...ratios,
    ...tail,
    ...benchmark,
    ...trades,
  };
  for (const name of undefinedNames) {
    const value = measured[name];
    reasons[name] = typeof value === "number" ? TOO_LARGE : value.reason;
  }
  return reasons;
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

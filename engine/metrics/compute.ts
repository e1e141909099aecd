import { accountMetrics } from "./account.ts";
import { benchmarkMetrics } from "./benchmark.ts";
import { type DailyColumns, sampleDaily } from "./daily.ts";
import { METRIC_NAMES, type Metrics, NUMERIC_METRIC_NAMES, type NumericMetricName } from "./definitions.ts";
import { drawdownMetrics } from "./drawdown.ts";
import { annualReturn, buyHoldReturn, cagr, durationDays, totalReturn } from "./growth.ts";
import type { MetricsInput } from "./input.ts";
import { type Measured, ratio } from "./measured.ts";
import { ratioMetrics } from "./ratios.ts";
import { NO_DRAWDOWN, TOO_LARGE } from "./reasons.ts";
import { tailMetrics } from "./tail.ts";
import { tradeMetrics } from "./trade_metrics.ts";

export interface ComputedMetrics {
  readonly metrics: Metrics;
  /** The reason for each null among the metrics. */
  readonly undefinedMetrics: Readonly<Record<string, string>>;
  /** Fractions per trading day, oldest first (daily.ts). */
  readonly dailyReturns: Float64Array;
}

type Values = { -readonly [name in keyof Metrics]?: Metrics[name] };

// A copy of a complete record, in the order of a result, is quicker than one that grows by name.
const IN_ORDER: Values = Object.fromEntries(METRIC_NAMES.map((name) => [name, undefined]));

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
  const measured = measure(input, daily);
  const undefinedMetrics: Record<string, string> = {};
  const metrics: Values = { ...IN_ORDER };
  for (const name of NUMERIC_METRIC_NAMES) {
    const value = settle(measured[name]);
    if (typeof value === "number") metrics[name] = value;
    else {
      metrics[name] = null;
      undefinedMetrics[name] = value.reason;
    }
  }
  metrics.start = isoTime(time[0]!);
  metrics.end = isoTime(time[time.length - 1]!);
  assertComplete(metrics);
  return { metrics, undefinedMetrics, dailyReturns: daily.returns };
}

function measure(input: MetricsInput, daily: DailyColumns): Record<NumericMetricName, Measured> {
  const drawdown = drawdownMetrics(input);
  const growth = cagr(input);
  const total = totalReturn(input);
  return {
    ...accountMetrics(input),
    ...drawdown,
    ...ratioMetrics(input, daily),
    ...tailMetrics(daily.returns),
    ...benchmarkMetrics(input, daily),
    ...tradeMetrics(input.trades),
    duration_days: durationDays(input),
    total_return: total,
    cagr: growth,
    annual_return: annualReturn(input, daily),
    buy_hold_return: buyHoldReturn(input),
    calmar: typeof growth === "number" ? ratio(growth, drawdown.max_drawdown, NO_DRAWDOWN) : growth,
    recovery_factor: ratio(total, drawdown.max_drawdown, NO_DRAWDOWN),
  };
}

/** Keeps infinities and NaN out of a result, and turns -0 into 0. */
function settle(measured: Measured): Measured {
  if (typeof measured !== "number") return measured;
  return Number.isFinite(measured) ? measured + 0 : { reason: TOO_LARGE };
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The compiler cannot see that the record is complete. A gap is a bug of ours. */
function assertComplete(metrics: Values): asserts metrics is Metrics {
  for (const name of METRIC_NAMES) {
    if (metrics[name] === undefined) throw new TypeError(`Cannot return metrics without ${name}`);
  }
}

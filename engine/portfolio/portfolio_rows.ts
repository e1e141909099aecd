/** The rows of a run over many markets, which depend on its candles alone. */
import { findDays } from "../metrics/daily.ts";
import type { BenchmarkColumns, RangeDays } from "../metrics/input.ts";
import type { PortfolioRequest } from "./portfolio.ts";
import { findTimeline, firstFrom, type Timeline } from "./timeline.ts";

/** The closes and days that the account is measured beside. */
export interface Beside {
  readonly close: Float64Array;
  readonly days: RangeDays;
}

/** The rows of markets, and what their account is measured beside: runs over equal markets share them. */
export interface PortfolioRows extends Beside {
  readonly timeline: Timeline;
}

/** Finds the rows of markets. @throws {RangeError} Where there is no candle in the range. */
export function findRows(
  request: Pick<PortfolioRequest, "markets" | "timeframeMs" | "assetClass" | "tradingDaysOf" | "benchmark">,
): PortfolioRows {
  const timeline = findTimeline(request.markets, request.timeframeMs);
  if (timeline.instant.length === 0) throw new RangeError("Cannot run a portfolio without a candle in its range");
  const close = benchmarkCloses(request, timeline);
  return { timeline, close, days: daysOf(request, timeline, close) };
}

function daysOf(
  { assetClass = null, tradingDaysOf = null }: Pick<PortfolioRequest, "assetClass" | "tradingDaysOf">,
  { time }: Timeline,
  close: Float64Array,
): RangeDays {
  return findDays({ time, close, assetClass, tradingDays: tradingDaysOf === null ? null : tradingDaysOf(time) });
}

/** The benchmark's newest close at each row: what equity is compared with. */
function benchmarkCloses(
  { benchmark = null, markets }: Pick<PortfolioRequest, "benchmark" | "markets">,
  { time, closes }: Timeline,
): Float64Array {
  if (benchmark !== null) return closesAt(benchmark, time);
  const { candles, firstIndex } = markets[0]!;
  const last = candles.close.length - 1;
  return time.map((_, row) => candles.close[Math.min(last, Math.max(firstIndex, closes[0]!.newestIn(row, last)))] ?? 1);
}

function closesAt({ time, close }: BenchmarkColumns, rows: Float64Array): Float64Array {
  return rows.map((at) => {
    const after = firstFrom(time, at);
    return close[time[after] === at ? after : Math.max(0, after - 1)] ?? 1;
  });
}

import { DAY_MS } from "../time/durations.ts";
import { type DailyColumns, findDays, type RangeInput } from "./daily.ts";
import type { BenchmarkColumns, MetricsInput } from "./input.ts";
import { type Measured, ratio, RETURN_NOISE } from "./measured.ts";
import { Sum } from "./moments.ts";
import { NO_BETA, NO_MOVEMENT, NO_TRACKING, TWO_DAYS, TWO_SHARED_DAYS } from "./reasons.ts";

export interface BenchmarkMetrics {
  readonly alpha: Measured;
  readonly beta: Measured;
  readonly tracking_error: Measured;
  readonly information_ratio: Measured;
  readonly treynor: Measured;
}

/** Returns of the same days. */
interface Paired {
  readonly own: Float64Array;
  readonly market: Float64Array;
}

/** A beta of this size is rounding. */
const BETA_NOISE = 1e-12;

/**
 * Compares daily returns with those of the benchmark: the instrument itself, or another one. The first day is left out,
 * because the instrument has no close before it.
 *
 * @see M. C. Jensen (1968), "The Performance of Mutual Funds in the Period 1945-1964", Journal of Finance 23(2), for alpha.
 * @see J. L. Treynor (1965), "How to Rate Management of Investment Funds", Harvard Business Review 43(1).
 * @see T. H. Goodwin (1998), "The Information Ratio", Financial Analysts Journal 54(4).
 */
export function benchmarkMetrics(input: MetricsInput, daily: DailyColumns): BenchmarkMetrics {
  const { benchmark = null } = input;
  const { own, market } = benchmark === null ? pairWithInstrument(daily) : pairWith(benchmark, daily);
  if (market.length < 2) {
    const few = { reason: daily.returns.length < 3 ? TWO_DAYS : TWO_SHARED_DAYS };
    return { alpha: few, beta: few, tracking_error: few, information_ratio: few, treynor: few };
  }
  const riskFree = input.riskFreeRate / input.periodsPerYear;
  const yearRoot = Math.sqrt(input.periodsPerYear);
  const { ownMean, marketMean, differenceMean, beta, deviation } = compare({ own, market });
  const excess = (ownMean - riskFree) * input.periodsPerYear;
  const isKnown = typeof beta === "number";
  return {
    alpha: isKnown ? excess - beta * (marketMean - riskFree) * input.periodsPerYear : beta,
    beta,
    tracking_error: deviation * yearRoot,
    information_ratio: ratio(differenceMean * yearRoot, deviation, NO_TRACKING, RETURN_NOISE),
    treynor: isKnown ? ratio(excess, beta, NO_BETA, BETA_NOISE) : beta,
  };
}

function pairWithInstrument({ returns, closeReturns }: DailyColumns): Paired {
  return { own: returns.subarray(1), market: closeReturns };
}

/** Pairs each day with the benchmark's: days before its second close and after its last one are left out. */
function pairWith(benchmark: BenchmarkColumns, { returns, dates }: DailyColumns): Paired {
  const own = new Float64Array(returns.length);
  const market = new Float64Array(returns.length);
  const held = holdBenchmark(benchmark, dates);
  let count = 0;
  for (let day = 1; day < returns.length; day++) {
    if (Number.isNaN(held[day]!)) continue;
    own[count] = returns[day]!;
    market[count] = held[day]!;
    count++;
  }
  return { own: own.subarray(0, count), market: market.subarray(0, count) };
}

/**
 * The benchmark's return on each day, up to its last candle that begins in the day or earlier: where it does not trade, 0. NaN before its
 * second close and after its last one.
 */
function holdBenchmark({ time, close }: BenchmarkColumns, dates: Float64Array): Float64Array {
  const returns = new Float64Array(dates.length).fill(NaN);
  let held = -1;
  for (let day = 0; day < dates.length; day++) {
    const before = held;
    const isOver = time.length === 0 || (day > 0 && time[time.length - 1]! < dates[day - 1]! + DAY_MS);
    while (held + 1 < time.length && time[held + 1]! < dates[day]! + DAY_MS) held++;
    if (before >= 0 && !isOver) returns[day] = close[held]! / close[before]! - 1;
  }
  return returns;
}

/**
 * Returns of holding the benchmark on each day of a range: the instrument itself from its first open, or another one, which has 0 on days
 * for which it has no two closes.
 *
 * @param open Of the range's candles.
 */
export function holdingReturns(
  { open, benchmark = null, ...range }: RangeInput & Pick<MetricsInput, "benchmark"> & { readonly open: Float64Array },
): Float64Array {
  const { dates, ends, closeReturns } = findDays(range);
  if (benchmark !== null) return holdBenchmark(benchmark, dates).map((value) => Number.isNaN(value) ? 0 : value);
  const returns = new Float64Array(dates.length);
  if (returns.length > 0) returns[0] = range.close[ends[0]! - 1]! / open[0]! - 1;
  returns.set(closeReturns, 1);
  return returns;
}

/** Means, beta (covariance / variance of the benchmark), and the standard deviation (ddof 1) of the differences. */
function compare({ own, market }: Paired) {
  const count = market.length;
  const [owns, markets, differences] = [new Sum(), new Sum(), new Sum()];
  for (let i = 0; i < count; i++) {
    owns.add(own[i]!);
    markets.add(market[i]!);
    differences.add(own[i]! - market[i]!);
  }
  const [ownMean, marketMean, differenceMean] = [owns.total / count, markets.total / count, differences.total / count];
  const [products, squares, differenceSquares] = [new Sum(), new Sum(), new Sum()];
  for (let i = 0; i < count; i++) {
    const distance = market[i]! - marketMean;
    products.add((own[i]! - ownMean) * distance);
    squares.add(distance * distance);
    const difference = own[i]! - market[i]! - differenceMean;
    differenceSquares.add(difference * difference);
  }
  // Squares of rounding errors of returns are no movement.
  const beta = ratio(products.total, squares.total, NO_MOVEMENT, count * RETURN_NOISE ** 2);
  return { ownMean, marketMean, differenceMean, beta, deviation: Math.sqrt(differenceSquares.total / (count - 1)) };
}

import { DAY_MS } from "../durations.ts";
import type { DailyColumns } from "./daily.ts";
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

/**
 * Pairs each day with the benchmark's last candle that begins in it or earlier: where the benchmark does not trade, its
 * return is 0. Days before its second close and after its last one are left out.
 */
function pairWith({ time, close }: BenchmarkColumns, { returns, dates }: DailyColumns): Paired {
  const own = new Float64Array(returns.length);
  const market = new Float64Array(returns.length);
  let count = 0;
  let held = -1;
  for (let day = 0; day < returns.length; day++) {
    const before = held;
    const isOver = time.length === 0 || (day > 0 && time[time.length - 1]! < dates[day - 1]! + DAY_MS);
    while (held + 1 < time.length && time[held + 1]! < dates[day]! + DAY_MS) held++;
    if (day === 0 || before < 0 || isOver) continue;
    own[count] = returns[day]!;
    market[count] = close[held]! / close[before]! - 1;
    count++;
  }
  return { own: own.subarray(0, count), market: market.subarray(0, count) };
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

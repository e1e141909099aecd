/** Figures of parts of a run's days: those that are left without some, and those of a regime. */
import { ratioMetrics } from "../../engine/metrics/ratios.ts";
import { quantile } from "../numbers/quantiles.ts";
import type { RegimeRow, StressFigures, StressRow } from "./stress_table.ts";

/** The days of a completed run. Columns are as long as each other. */
interface RunDays {
  /** 00:00 UTC of each day, in milliseconds since 1970. */
  readonly time: Float64Array;
  /** Fractions. */
  readonly returns: Float64Array;
  /** The benchmark's, or those of the instrument itself; null where they are not known. */
  readonly benchmark: Float64Array | null;
  readonly periodsPerYear: number;
  readonly riskFreeRate: number;
}

/** A closed trade, or one that was open at the end. */
interface RunTrade {
  /** In milliseconds since 1970. */
  readonly entryTime: number;
  /** Null while open. */
  readonly exitTime: number | null;
  readonly pnl: number;
}

const BEST = 5;
/** Days over which volatility is measured. */
const VOLATILITY_DAYS = 20;
const [LOW, HIGH] = [1 / 3, 2 / 3];

/** The run without its best trades, without its best days, and without each of its years. */
export function leaveOut(days: RunDays, trades: readonly RunTrade[], initialBalance: number): StressRow[] {
  const { returns } = days;
  const order = [...returns.keys()].sort((a, b) => returns[b]! - returns[a]!);
  const bestDays = new Set(order.slice(0, BEST));
  const years = yearsOf(days);
  const row = (group: StressRow["group"], name: string, figures: StressFigures): StressRow => ({
    group,
    name,
    figures,
    error: null,
  });
  return [
    ...(trades.length > BEST
      ? [row("trades", `Without the best ${BEST} trades`, withoutBest(trades, initialBalance))]
      : []),
    ...(returns.length > BEST
      ? [row("days", `Without the best ${BEST} days`, measureDays(days, (i) => !bestDays.has(i), null))]
      : []),
    ...(years.length < 2 ? [] : years).map((year) =>
      row("years", `Without ${year}`, measureDays(days, (i) => yearAt(days, i) !== year, trades.filter(isNotOf(year))))
    ),
  ];
}

const isNotOf = (year: number) => ({ entryTime }: RunTrade) => new Date(entryTime).getUTCFullYear() !== year;

/** All other trades' money is as it was: later ones are not larger or smaller. */
function withoutBest(trades: readonly RunTrade[], initialBalance: number): StressFigures {
  const others = trades.toSorted((one, two) => two.pnl - one.pnl).slice(BEST);
  const total = others.reduce((sum, { pnl }) => sum + pnl, 0);
  return { total_return: total / initialBalance, sharpe: null, max_drawdown: null, trades: countClosed(others) };
}

/** Counts trades as the metric `trades` does. */
function countClosed(trades: readonly RunTrade[]): number {
  return trades.filter(({ exitTime }) => exitTime !== null).length;
}

/** The run by calendar year, by the benchmark's direction, and by its volatility. */
export function measureRegimes(days: RunDays, trades: readonly RunTrade[]): RegimeRow[] {
  const { benchmark } = days;
  const dayOf = placeTrades(days, trades);
  const regime = (group: RegimeRow["group"], name: string, isIn: (i: number) => boolean): RegimeRow[] => {
    const count = days.returns.reduce((sum, _, i) => isIn(i) ? sum + 1 : sum, 0);
    const own = trades.filter((_, n) => dayOf[n]! >= 0 && isIn(dayOf[n]!));
    return count === 0 ? [] : [{ group, name, days: count, figures: measureDays(days, isIn, own) }];
  };
  const years = yearsOf(days).flatMap((year) => regime("years", String(year), (i) => yearAt(days, i) === year));
  if (benchmark === null) return years;
  const volatility = rollingDeviation(benchmark);
  const known = [...volatility.filter((value) => !Number.isNaN(value))].sort((a, b) => a - b);
  const [low, high] = known.length === 0
    ? [NaN, NaN]
    : [quantile(Float64Array.from(known), LOW), quantile(Float64Array.from(known), HIGH)];
  return [
    ...years,
    ...regime("benchmark", "Days on which the benchmark rises", (i) => benchmark[i]! > 0),
    ...regime("benchmark", "Days on which it falls or stays", (i) => benchmark[i]! <= 0),
    ...regime("volatility", "Low volatility of the benchmark", (i) => volatility[i]! <= low!),
    ...regime("volatility", "Middle volatility", (i) => volatility[i]! > low! && volatility[i]! <= high!),
    ...regime("volatility", "High volatility", (i) => volatility[i]! > high!),
  ];
}

/** The figures of some days, as if they were all. */
function measureDays(
  { returns, periodsPerYear, riskFreeRate }: RunDays,
  isIn: (i: number) => boolean,
  trades: readonly RunTrade[] | null,
): StressFigures {
  const kept = returns.filter((_, i) => isIn(i));
  let [money, peak, drawdown] = [1, 1, 0];
  for (const each of kept) {
    money *= 1 + each;
    peak = Math.max(peak, money);
    drawdown = Math.max(drawdown, 1 - money / peak);
  }
  const { sharpe } = ratioMetrics({ periodsPerYear, riskFreeRate }, { returns: kept });
  return {
    total_return: money - 1,
    sharpe: typeof sharpe === "number" ? sharpe : null,
    max_drawdown: drawdown,
    trades: trades && countClosed(trades),
  };
}

/** The standard deviation of the days before each, so that no day decides its own regime; NaN where there are too few. */
function rollingDeviation(values: Float64Array): Float64Array {
  return values.map((_, i) => {
    if (i < VOLATILITY_DAYS) return NaN;
    const window = values.subarray(i - VOLATILITY_DAYS, i);
    const mean = window.reduce((sum, value) => sum + value, 0) / VOLATILITY_DAYS;
    return Math.sqrt(window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (VOLATILITY_DAYS - 1));
  });
}

/** The day of each trade's entry; -1 before the first. */
function placeTrades({ time }: RunDays, trades: readonly RunTrade[]): Int32Array {
  return Int32Array.from(trades, ({ entryTime }) => {
    let [low, high] = [0, time.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (time[middle]! <= entryTime) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  });
}

const yearAt = ({ time }: RunDays, i: number) => new Date(time[i]!).getUTCFullYear();

function yearsOf(days: RunDays): number[] {
  return [...new Set(Array.from(days.time, (_, i) => yearAt(days, i)))];
}

import { type MetricDefinition, ofCandles, ofDays, ofMarks, ofOrders } from "./define.ts";
import * as reasons from "./reasons.ts";
import { TRADE_DEFINITIONS } from "./trade_definitions.ts";

export { type MetricDefinition, SAMPLES } from "./define.ts";

const WITHOUT_BENCHMARK = [reasons.TWO_DAYS, reasons.TWO_SHARED_DAYS];

/** Every metric of a result, in the order in which it is shown. docs/metrics.md is generated from this table. */
export const METRIC_DEFINITIONS = {
  start: ofCandles("ISO 8601 UTC", "Start of the run.", "open time of the first candle"),
  end: ofCandles("ISO 8601 UTC", "End of the run.", "open time of the last candle"),
  duration_days: ofCandles(
    "days",
    "Length of the run.",
    "time from the open of the first candle to the close of the last",
  ),
  candles: ofCandles("count", "Size of the run.", "number of candles"),
  exposure: ofCandles(
    "fraction",
    "Share of the time with a position.",
    "candles with a position at any moment, entry and exit candles included / candles",
  ),
  initial_equity: ofMarks("money", "The account at the start.", "the initial balance"),
  final_equity: ofMarks(
    "money",
    "The account at the end.",
    "the last mark; open positions are valued at the last close",
  ),
  peak_equity: ofMarks("money", "The account at its best.", "the highest mark"),
  total_return: ofMarks("fraction", "Growth over the whole run.", "final_equity / initial_equity - 1"),
  cagr: ofMarks(
    "fraction per year",
    "Growth per calendar year.",
    "(final_equity / initial_equity)^(365.25 / duration_days) - 1",
    reasons.NEGATIVE_EQUITY,
  ),
  annual_return: ofDays(
    "fraction per year",
    "Growth per trading year.",
    "(final_equity / initial_equity)^(periodsPerYear / days) - 1",
    reasons.NEGATIVE_EQUITY,
  ),
  buy_hold_return: ofCandles(
    "fraction",
    "Return of holding the instrument instead, without costs.",
    "last close / first close - 1",
  ),
  annual_volatility: ofDays(
    "fraction per year",
    "How much returns vary.",
    "standard deviation (ddof 1) x sqrt(periodsPerYear)",
    reasons.TWO_RETURNS,
  ),
  sharpe: ofDays(
    "ratio",
    "Excess return per unit of risk.",
    "(mean - f) / standard deviation (ddof 1) x sqrt(periodsPerYear), f = riskFreeRate / periodsPerYear",
    reasons.TWO_RETURNS,
    reasons.NO_DEVIATION,
  ),
  sortino: ofDays(
    "ratio",
    "Excess return per unit of downside risk.",
    "(mean - f) / d x sqrt(periodsPerYear), f = riskFreeRate / periodsPerYear, d = root of the mean over all days of min(0, return - f)^2",
    reasons.TWO_RETURNS,
    reasons.NO_SHORTFALL,
  ),
  calmar: ofMarks(
    "ratio",
    "Growth per unit of the worst fall.",
    "cagr / max_drawdown",
    reasons.NO_DRAWDOWN,
    reasons.NEGATIVE_EQUITY,
  ),
  omega: ofDays(
    "ratio",
    "Gains against shortfalls.",
    "sum of (return - f) over the days above f / sum of (f - return) over the days below f, f = riskFreeRate / periodsPerYear",
    reasons.NO_SHORTFALL,
  ),
  max_drawdown: ofMarks(
    "fraction, positive",
    "The worst fall of equity from a peak.",
    "largest (peak - mark) / peak, peak = highest mark so far; the initial balance is the first mark",
  ),
  max_drawdown_days: ofMarks(
    "days",
    "The longest wait for a new peak.",
    "longest time from the last mark at a peak to the first mark back at it, or to the end of the run",
  ),
  average_drawdown: ofMarks(
    "fraction, positive",
    "The typical fall of equity from a peak.",
    "mean over all drawdowns of the deepest fall of each",
    reasons.NO_DRAWDOWN,
  ),
  average_drawdown_days: ofMarks(
    "days",
    "The typical wait for a new peak.",
    "mean over all drawdowns of their duration",
    reasons.NO_DRAWDOWN,
  ),
  ulcer_index: ofMarks(
    "fraction",
    "Depth and length of all drawdowns together.",
    "root of the mean of ((peak - mark) / peak)^2, peak = highest mark so far",
  ),
  recovery_factor: ofMarks(
    "ratio",
    "Return per unit of the worst fall.",
    "total_return / max_drawdown",
    reasons.NO_DRAWDOWN,
  ),
  var_95: ofDays(
    "fraction per day, a loss is positive",
    "Value at risk: the loss that one day in twenty exceeds.",
    "minus the 5% quantile, interpolated (type 7 of Hyndman and Fan)",
  ),
  cvar_95: ofDays(
    "fraction per day, a loss is positive",
    "Expected shortfall: the mean loss on such a day.",
    "minus the mean of the returns at or below the 5% quantile",
  ),
  skew: ofDays(
    "none",
    "Asymmetry: below 0, large losses are more frequent than large gains.",
    "sample skewness G1: n / ((n-1)(n-2)) x sum of ((return - mean) / standard deviation)^3",
    reasons.NO_DEVIATION,
    reasons.THREE_RETURNS,
  ),
  kurtosis: ofDays(
    "none",
    "Fat tails: above 0, extreme days are more frequent than in a normal distribution.",
    "sample excess kurtosis G2: n(n+1) / ((n-1)(n-2)(n-3)) x sum of ((return - mean) / standard deviation)^4 - 3(n-1)^2 / ((n-2)(n-3))",
    reasons.NO_DEVIATION,
    reasons.FOUR_RETURNS,
  ),
  best_day: ofDays("fraction per day", "The best day.", "largest return"),
  worst_day: ofDays("fraction per day", "The worst day.", "smallest return"),
  tail_ratio: ofDays(
    "ratio",
    "Size of the largest gains against that of the largest losses.",
    "absolute 95% quantile / absolute 5% quantile, interpolated (type 7 of Hyndman and Fan)",
    reasons.NO_TAIL,
  ),
  alpha: ofDays(
    "fraction per year",
    "Return beyond that of the benchmark's own risk.",
    "Jensen's: (mean - f - beta x (mean of b - f)) x periodsPerYear, f = riskFreeRate / periodsPerYear, b = the benchmark's returns",
    ...WITHOUT_BENCHMARK,
    reasons.NO_MOVEMENT,
  ),
  beta: ofDays(
    "ratio",
    "How far equity moves with the benchmark.",
    "covariance with the benchmark's returns / their variance",
    ...WITHOUT_BENCHMARK,
    reasons.NO_MOVEMENT,
  ),
  tracking_error: ofDays(
    "fraction per year",
    "How much returns vary beside the benchmark's.",
    "standard deviation (ddof 1) of d x sqrt(periodsPerYear), d = return - the benchmark's return of the day",
    ...WITHOUT_BENCHMARK,
  ),
  information_ratio: ofDays(
    "ratio",
    "Return beyond the benchmark's per unit of the risk beside it.",
    "mean of d / standard deviation (ddof 1) of d x sqrt(periodsPerYear), d = return - the benchmark's return of the day",
    ...WITHOUT_BENCHMARK,
    reasons.NO_TRACKING,
  ),
  treynor: ofDays(
    "fraction per year",
    "Excess return per unit of the benchmark's risk.",
    "(mean - f) x periodsPerYear / beta, f = riskFreeRate / periodsPerYear, over the benchmark's days",
    ...WITHOUT_BENCHMARK,
    reasons.NO_MOVEMENT,
    reasons.NO_BETA,
  ),
  ...TRADE_DEFINITIONS,
  fees_paid: ofOrders("money", "Commission paid.", "sum of the fees of all fills, those of open trades included"),
  cash_interest: ofOrders(
    "money",
    "Interest that cash earned.",
    "sum of the interest by cashRate; it belongs to no trade",
  ),
  turnover: ofOrders(
    "ratio",
    "Traded value against the account.",
    "sum of price x quantity over all fills, those of open trades included / mean mark",
    reasons.NO_EQUITY,
  ),
  rejected_orders: ofOrders("count", "Orders that the simulator refused.", "number of rejected orders"),
  ambiguous_trades: ofOrders(
    "count",
    "Trades whose result depends on the unknown path inside a candle.",
    "trades, open ones included, with a candle that reached their target and also their stop or a margin call, and whose open did not decide",
  ),
  probabilistic_sharpe: ofDays(
    "probability",
    "Probability that the true Sharpe ratio is above 0.",
    "N(s x sqrt(n-1) / sqrt(1 - skew x s + (kurtosis + 2) / 4 x s^2)), s = Sharpe ratio of a day, N = normal distribution function",
    reasons.NO_DEVIATION,
    reasons.FOUR_RETURNS,
    reasons.NO_VARIANCE,
  ),
} satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof METRIC_DEFINITIONS;

/** The metrics that are times and not numbers. */
type TimeName = "start" | "end";

export type NumericMetricName = Exclude<MetricName, TimeName>;

/** One result's metrics: times as ISO 8601 UTC with milliseconds, all others a number or null. */
export type Metrics =
  & { readonly [name in TimeName]: string }
  & { readonly [name in NumericMetricName]: number | null };

/** Narrows a string to the name of a metric. */
export function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(METRIC_DEFINITIONS, name);
}

/** The names of all metrics, in the order in which they are shown. */
export const METRIC_NAMES: readonly MetricName[] = Object.keys(METRIC_DEFINITIONS).filter(isMetricName);

/** The names of those that are numbers, in the same order. */
export const NUMERIC_METRIC_NAMES: readonly NumericMetricName[] = METRIC_NAMES.filter((name) =>
  name !== "start" && name !== "end"
);

import { type MetricDefinition, ofCandles, ofDays, ofMarks, ofOrders } from "./define.ts";
import * as reasons from "./reasons.ts";
import { TRADE_DEFINITIONS } from "./trade_definitions.ts";

export { SAMPLES } from "./define.ts";

const WITHOUT_BENCHMARK = [reasons.TWO_DAYS, reasons.TWO_SHARED_DAYS];

/** Every metric of a result, in the order in which it is shown. docs/metrics.md is generated from this table. */
export const METRIC_DEFINITIONS = {
  start: ofCandles({ label: "Start", unit: "ISO 8601 UTC" }, "Start of the run.", "open time of the first candle"),
  end: ofCandles({ label: "End", unit: "ISO 8601 UTC" }, "End of the run.", "open time of the last candle"),
  duration_days: ofCandles(
    { label: "Duration days", unit: "days" },
    "Length of the run.",
    "time from the open of the first candle to the close of the last",
  ),
  candles: ofCandles({ label: "Candles", unit: "count" }, "Size of the run.", "number of candles"),
  exposure: ofCandles(
    { label: "Exposure", unit: "fraction" },
    "Share of the time with a position.",
    "candles with a position at any moment, entry and exit candles included / candles",
  ),
  initial_equity: ofMarks(
    { label: "Initial equity", unit: "money" },
    "The account at the start.",
    "the initial balance",
  ),
  final_equity: ofMarks(
    { label: "Final equity", unit: "money", better: "more" },
    "The account at the end.",
    "the last mark; open positions are valued at the last close",
  ),
  peak_equity: ofMarks(
    { label: "Peak equity", unit: "money", better: "more" },
    "The account at its best.",
    "the highest mark",
  ),
  total_return: ofMarks(
    { label: "Net return", unit: "fraction", better: "more", isSigned: true },
    "Growth over the whole run.",
    "final_equity / initial_equity - 1",
  ),
  cagr: ofMarks(
    { label: "CAGR", unit: "fraction per year", better: "more", isSigned: true },
    "Growth per calendar year.",
    "(final_equity / initial_equity)^(365.25 / duration_days) - 1",
    reasons.NEGATIVE_EQUITY,
  ),
  annual_return: ofDays(
    { label: "Annual return", unit: "fraction per year", better: "more", isSigned: true },
    "Growth per trading year.",
    "(final_equity / initial_equity)^(periodsPerYear / days) - 1",
    reasons.NEGATIVE_EQUITY,
  ),
  buy_hold_return: ofCandles(
    { label: "Buy & hold", unit: "fraction", isSigned: true },
    "Return of holding the instrument instead, without costs.",
    "last close / first close - 1",
  ),
  annual_volatility: ofDays(
    { label: "Annual volatility", unit: "fraction per year", better: "less" },
    "How much returns vary.",
    "standard deviation (ddof 1) x sqrt(periodsPerYear)",
    reasons.TWO_RETURNS,
  ),
  sharpe: ofDays(
    { label: "Sharpe", unit: "ratio", better: "more", isSigned: true },
    "Excess return per unit of risk.",
    "(mean - f) / standard deviation (ddof 1) x sqrt(periodsPerYear), f = riskFreeRate / periodsPerYear",
    reasons.TWO_RETURNS,
    reasons.NO_DEVIATION,
  ),
  sharpe_error: ofDays(
    { label: "Sharpe error", unit: "ratio", better: "less" },
    "How far the Sharpe ratio may be off by chance: its standard error, which knows that days depend on each other.",
    "sqrt(V / n x periodsPerYear), V = c(0) + 2 x sum over k of 1 to m of (1 - k / (m + 1)) x c(k), c(k) = sum of d(i) x d(i - k) / n, d = z - s / 2 x (z^2 - 1), z = (return - mean) / standard deviation, s = Sharpe ratio of a day, m = floor(4 x (n / 100)^(2/9))",
    reasons.NO_DEVIATION,
    reasons.FOUR_RETURNS,
    reasons.NO_VARIANCE,
  ),
  sharpe_low: ofDays(
    { label: "Low end of Sharpe", unit: "ratio", better: "more", isSigned: true },
    "The low end of the Sharpe ratio's 95% interval.",
    "sharpe - 1.96 x sharpe_error",
    reasons.NO_DEVIATION,
    reasons.FOUR_RETURNS,
    reasons.NO_VARIANCE,
  ),
  sharpe_high: ofDays(
    { label: "High end of Sharpe", unit: "ratio", better: "more", isSigned: true },
    "The high end of that interval.",
    "sharpe + 1.96 x sharpe_error",
    reasons.NO_DEVIATION,
    reasons.FOUR_RETURNS,
    reasons.NO_VARIANCE,
  ),
  sortino: ofDays(
    { label: "Sortino", unit: "ratio", better: "more", isSigned: true },
    "Excess return per unit of downside risk.",
    "(mean - f) / d x sqrt(periodsPerYear), f = riskFreeRate / periodsPerYear, d = root of the mean over all days of min(0, return - f)^2",
    reasons.TWO_RETURNS,
    reasons.NO_SHORTFALL,
  ),
  calmar: ofMarks(
    { label: "Calmar", unit: "ratio", better: "more", isSigned: true },
    "Growth per unit of the worst fall.",
    "cagr / max_drawdown",
    reasons.NO_DRAWDOWN,
    reasons.NEGATIVE_EQUITY,
  ),
  omega: ofDays(
    { label: "Omega", unit: "ratio", better: "more" },
    "Gains against shortfalls.",
    "sum of (return - f) over the days above f / sum of (f - return) over the days below f, f = riskFreeRate / periodsPerYear",
    reasons.NO_SHORTFALL,
  ),
  max_drawdown: ofMarks(
    { label: "Max drawdown", unit: "fraction, positive", better: "less" },
    "The worst fall of equity from a peak.",
    "largest (peak - mark) / peak, peak = highest mark so far; the initial balance is the first mark",
  ),
  max_drawdown_days: ofMarks(
    { label: "Max drawdown days", unit: "days", better: "less" },
    "The longest wait for a new peak.",
    "longest time from the last mark at a peak to the first mark back at it, or to the end of the run",
  ),
  average_drawdown: ofMarks(
    { label: "Average drawdown", unit: "fraction, positive", better: "less" },
    "The typical fall of equity from a peak.",
    "mean over all drawdowns of the deepest fall of each",
    reasons.NO_DRAWDOWN,
  ),
  average_drawdown_days: ofMarks(
    { label: "Average drawdown days", unit: "days", better: "less" },
    "The typical wait for a new peak.",
    "mean over all drawdowns of their duration",
    reasons.NO_DRAWDOWN,
  ),
  ulcer_index: ofMarks(
    { label: "Ulcer index", unit: "fraction", better: "less" },
    "Depth and length of all drawdowns together.",
    "root of the mean of ((peak - mark) / peak)^2, peak = highest mark so far",
  ),
  recovery_factor: ofMarks(
    { label: "Recovery factor", unit: "ratio", better: "more" },
    "Return per unit of the worst fall.",
    "total_return / max_drawdown",
    reasons.NO_DRAWDOWN,
  ),
  var_95: ofDays(
    { label: "VaR 95%", unit: "fraction per day, a loss is positive", better: "less" },
    "Value at risk: the loss that one day in twenty exceeds.",
    "minus the 5% quantile, interpolated (type 7 of Hyndman and Fan)",
  ),
  cvar_95: ofDays(
    { label: "CVaR 95%", unit: "fraction per day, a loss is positive", better: "less" },
    "Expected shortfall: the mean loss on such a day.",
    "minus the mean of the returns at or below the 5% quantile",
  ),
  skew: ofDays(
    { label: "Skew", unit: "none", better: "more" },
    "Asymmetry: below 0, large losses are more frequent than large gains.",
    "sample skewness G1: n / ((n-1)(n-2)) x sum of ((return - mean) / standard deviation)^3",
    reasons.NO_DEVIATION,
    reasons.THREE_RETURNS,
  ),
  kurtosis: ofDays(
    { label: "Kurtosis", unit: "none", better: "less" },
    "Fat tails: above 0, extreme days are more frequent than in a normal distribution.",
    "sample excess kurtosis G2: n(n+1) / ((n-1)(n-2)(n-3)) x sum of ((return - mean) / standard deviation)^4 - 3(n-1)^2 / ((n-2)(n-3))",
    reasons.NO_DEVIATION,
    reasons.FOUR_RETURNS,
  ),
  best_day: ofDays(
    { label: "Best day", unit: "fraction per day", better: "more", isSigned: true },
    "The best day.",
    "largest return",
  ),
  worst_day: ofDays(
    { label: "Worst day", unit: "fraction per day", better: "more", isSigned: true },
    "The worst day.",
    "smallest return",
  ),
  tail_ratio: ofDays(
    { label: "Tail ratio", unit: "ratio", better: "more" },
    "Size of the largest gains against that of the largest losses.",
    "absolute 95% quantile / absolute 5% quantile, interpolated (type 7 of Hyndman and Fan)",
    reasons.NO_TAIL,
  ),
  alpha: ofDays(
    { label: "Alpha", unit: "fraction per year", better: "more", isSigned: true },
    "Return beyond that of the benchmark's own risk.",
    "Jensen's: (mean - f - beta x (mean of b - f)) x periodsPerYear, f = riskFreeRate / periodsPerYear, b = the benchmark's returns",
    ...WITHOUT_BENCHMARK,
    reasons.NO_MOVEMENT,
  ),
  beta: ofDays(
    { label: "Beta", unit: "ratio" },
    "How far equity moves with the benchmark.",
    "covariance with the benchmark's returns / their variance",
    ...WITHOUT_BENCHMARK,
    reasons.NO_MOVEMENT,
  ),
  tracking_error: ofDays(
    { label: "Tracking error", unit: "fraction per year", better: "less" },
    "How much returns vary beside the benchmark's.",
    "standard deviation (ddof 1) of d x sqrt(periodsPerYear), d = return - the benchmark's return of the day",
    ...WITHOUT_BENCHMARK,
  ),
  information_ratio: ofDays(
    { label: "Information ratio", unit: "ratio", better: "more" },
    "Return beyond the benchmark's per unit of the risk beside it.",
    "mean of d / standard deviation (ddof 1) of d x sqrt(periodsPerYear), d = return - the benchmark's return of the day",
    ...WITHOUT_BENCHMARK,
    reasons.NO_TRACKING,
  ),
  treynor: ofDays(
    { label: "Treynor", unit: "fraction per year", better: "more" },
    "Excess return per unit of the benchmark's risk.",
    "(mean - f) x periodsPerYear / beta, f = riskFreeRate / periodsPerYear, over the benchmark's days",
    ...WITHOUT_BENCHMARK,
    reasons.NO_MOVEMENT,
    reasons.NO_BETA,
  ),
  ...TRADE_DEFINITIONS,
  fees_paid: ofOrders(
    { label: "Fees paid", unit: "money", better: "less" },
    "Commission paid.",
    "sum of the fees of all fills, those of open trades included",
  ),
  cash_interest: ofOrders(
    { label: "Cash interest", unit: "money", better: "more" },
    "Interest that cash earned.",
    "sum of the interest by cashRate; it belongs to no trade",
  ),
  turnover: ofOrders(
    { label: "Turnover", unit: "ratio" },
    "Traded value against the account.",
    "sum of price x quantity over all fills, those of open trades included / mean mark",
    reasons.NO_EQUITY,
  ),
  rejected_orders: ofOrders(
    { label: "Rejected orders", unit: "count", better: "less" },
    "Orders that the simulator refused.",
    "number of rejected orders",
  ),
  ambiguous_trades: ofOrders(
    { label: "Ambiguous trades", unit: "count", better: "less" },
    "Trades whose result depends on the unknown path inside a candle.",
    "trades, open ones included, with a candle that reached their target and also their stop or a margin call, and whose open did not decide",
  ),
  probabilistic_sharpe: ofDays(
    { label: "Probabilistic sharpe", unit: "probability", better: "more" },
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

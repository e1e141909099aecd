/** What one metric means: the formula in words, what it is counted in, and what it is measured on. */
export interface MetricDefinition {
  readonly definition: string;
  readonly unit: string;
  readonly sample: string;
}

const define = (sample: string, unit: string, definition: string): MetricDefinition => ({ definition, unit, sample });

const CANDLES = "candles of the range";
const MARKS = "equity at each candle's close";
const DAYS = "daily returns (equity at the last candle of each trading day, the first against the initial balance)";
const CLOSED = "closed trades, in order of entry";
const FILLS = "every fill, open trades' too";

/** Every metric of a result, in the order in which it is shown. The one home of what each means. */
export const METRIC_DEFINITIONS = {
  start: define(CANDLES, "ISO 8601 UTC", "open of the first candle"),
  end: define(CANDLES, "ISO 8601 UTC", "open of the last candle"),
  duration_days: define(CANDLES, "days", "from the open of the first candle to the close of the last"),
  candles: define(CANDLES, "count", "number of candles"),
  exposure: define(CANDLES, "fraction", "candles with a position at any moment, entry and exit included / candles"),
  initial_equity: define("the run", "money", "the initial balance"),
  final_equity: define(MARKS, "money", "the last mark; open positions are valued at the last close"),
  peak_equity: define(MARKS, "money", "the highest mark"),
  total_return: define(MARKS, "fraction", "final_equity / initial_equity - 1"),
  cagr: define(MARKS, "fraction per year", "(final_equity / initial_equity)^(365.25 / duration_days) - 1"),
  annual_return: define(DAYS, "fraction per year", "geometric: product of (1 + return)^(periodsPerYear / days) - 1"),
  buy_hold_return: define(CANDLES, "fraction", "last close / first close - 1, without costs"),
  annual_volatility: define(DAYS, "fraction per year", "standard deviation (ddof 1) x sqrt(periodsPerYear)"),
  sharpe: define(
    DAYS,
    "ratio",
    "(mean - riskFreeRate / periodsPerYear) / standard deviation (ddof 1) x sqrt(periodsPerYear)",
  ),
  sortino: define(
    DAYS,
    "ratio",
    "(mean - f) / d x sqrt(periodsPerYear), f = riskFreeRate / periodsPerYear, d = root of the mean over all days of min(0, return - f)^2",
  ),
  calmar: define(MARKS, "ratio", "cagr / max_drawdown"),
  omega: define(DAYS, "ratio", "sum of what lies above riskFreeRate / periodsPerYear / sum of what lies below it"),
  max_drawdown: define(
    MARKS,
    "fraction, positive",
    "largest fall below the highest mark so far / that mark; the initial balance is the first mark",
  ),
  max_drawdown_days: define(
    MARKS,
    "days",
    "longest time from the last mark at a peak to the first mark back at it, or to the end of the run",
  ),
  average_drawdown: define(MARKS, "fraction, positive", "mean over all drawdowns of the deepest fall of each"),
  average_drawdown_days: define(MARKS, "days", "mean over all drawdowns of their duration"),
  ulcer_index: define(MARKS, "fraction", "root of the mean of (fall below the highest mark so far / that mark)^2"),
  recovery_factor: define(MARKS, "ratio", "total_return / max_drawdown"),
  var_95: define(
    DAYS,
    "fraction per day, a loss is positive",
    "- the 5% quantile, interpolated (type 7 of Hyndman and Fan)",
  ),
  cvar_95: define(
    DAYS,
    "fraction per day, a loss is positive",
    "- the mean of the returns at or below the 5% quantile",
  ),
  skew: define(DAYS, "none", "sample skewness G1: n / ((n-1)(n-2)) x sum of ((return - mean) / standard deviation)^3"),
  kurtosis: define(
    DAYS,
    "none",
    "sample excess kurtosis G2 (0 for a normal distribution): n(n+1) / ((n-1)(n-2)(n-3)) x sum of ((return - mean) / standard deviation)^4 - 3(n-1)^2 / ((n-2)(n-3))",
  ),
  best_day: define(DAYS, "fraction per day", "largest"),
  worst_day: define(DAYS, "fraction per day", "smallest"),
  alpha: define(
    `${DAYS}, without the first day`,
    "fraction per year",
    "Jensen's: (mean - f - beta x (mean of the instrument's returns - f)) x periodsPerYear, f = riskFreeRate / periodsPerYear",
  ),
  beta: define(
    `${DAYS}, without the first day`,
    "ratio",
    "covariance with the instrument's daily returns (close to close) / their variance",
  ),
  trades: define(CLOSED, "count", "number of closed trades; a partial exit is a trade of its own"),
  open_trades: define("trades open after the last candle", "count", "number of open trades"),
  win_rate: define(CLOSED, "fraction", "trades with pnl > 0 / trades"),
  profit_factor: define(CLOSED, "ratio", "sum of positive pnl / |sum of negative pnl|"),
  expectancy: define(CLOSED, "money per trade", "mean pnl"),
  payoff_ratio: define(CLOSED, "ratio", "average_win / |average_loss|"),
  average_trade: define(
    CLOSED,
    "fraction of entry value",
    "mean return; a trade's return is pnl / (entry price x quantity)",
  ),
  best_trade: define(CLOSED, "fraction of entry value", "largest return"),
  worst_trade: define(CLOSED, "fraction of entry value", "smallest return"),
  average_win: define(CLOSED, "money", "mean pnl of the trades with pnl > 0"),
  average_loss: define(CLOSED, "money, negative", "mean pnl of the trades with pnl < 0"),
  average_trade_days: define(
    CLOSED,
    "days",
    "mean time from the open of the entry candle to the open of the exit candle",
  ),
  max_trade_days: define(
    CLOSED,
    "days",
    "longest time from the open of the entry candle to the open of the exit candle",
  ),
  max_consecutive_wins: define(CLOSED, "count", "longest series of trades with pnl > 0"),
  max_consecutive_losses: define(CLOSED, "count", "longest series of trades with pnl < 0"),
  sqn: define(CLOSED, "none", "sqrt(trades) x mean pnl / standard deviation of pnl (ddof 1)"),
  kelly: define(CLOSED, "fraction", "win_rate - (1 - win_rate) / payoff_ratio"),
  fees_paid: define(FILLS, "money", "sum of fees"),
  turnover: define(FILLS, "ratio", "sum of price x quantity / mean of equity at each candle's close"),
  rejected_orders: define("every order", "count", "number of orders that were rejected"),
  ambiguous_trades: define(
    "all trades, open ones too",
    "count",
    "trades whose target lay inside one candle with their stop or a margin call, and the open did not decide between them",
  ),
  probabilistic_sharpe: define(
    DAYS,
    "probability",
    "that the true Sharpe ratio is above 0: N(s x sqrt(n-1) / sqrt(1 - skew x s + (kurtosis + 2) / 4 x s^2)), s the Sharpe ratio of a day, N the normal distribution",
  ),
} as const satisfies Record<string, MetricDefinition>;

export type MetricName = keyof typeof METRIC_DEFINITIONS;

/** The metrics that are moments, not numbers. */
type MomentName = "start" | "end";

export type NumericMetricName = Exclude<MetricName, MomentName>;

/** One result's metrics: moments as ISO 8601 UTC with milliseconds, everything else a number or null. */
export type Metrics =
  & { readonly [name in MomentName]: string }
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

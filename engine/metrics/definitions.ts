import * as reasons from "./reasons.ts";

/** One metric in words. */
export interface MetricDefinition {
  /** The question that it answers. */
  readonly meaning: string;
  readonly formula: string;
  readonly unit: string;
  readonly sample: string;
  /** Why it may be null; any metric may also be beyond the range of numbers. */
  readonly undefinedWhen: readonly string[];
}

type Define = (unit: string, meaning: string, formula: string, ...undefinedWhen: string[]) => MetricDefinition;

function from(sample: string): Define {
  return (unit, meaning, formula, ...undefinedWhen) => ({ meaning, formula, unit, sample, undefinedWhen });
}

/** The samples that metrics are measured on, in the order of docs/metrics.md. */
export const SAMPLES = {
  candles: "candles of the range",
  marks: "equity at each candle's close (marks)",
  days: "daily returns",
  closed: "closed trades",
  orders: "orders, fills and all trades",
} as const;

const ofCandles = from(SAMPLES.candles);
const ofMarks = from(SAMPLES.marks);
const ofDays = from(SAMPLES.days);
const ofClosed = from(SAMPLES.closed);
const ofOrders = from(SAMPLES.orders);

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
  alpha: ofDays(
    "fraction per year",
    "Return beyond that of the instrument's own risk.",
    "Jensen's: (mean - f - beta x (mean of the instrument's returns - f)) x periodsPerYear, f = riskFreeRate / periodsPerYear, without the first day",
    reasons.TWO_DAYS,
    reasons.NO_MOVEMENT,
  ),
  beta: ofDays(
    "ratio",
    "How far equity moves with the instrument.",
    "covariance with the instrument's daily returns (close to close) / their variance, without the first day",
    reasons.TWO_DAYS,
    reasons.NO_MOVEMENT,
  ),
  trades: ofClosed("count", "Number of closed trades.", "a partial exit is a trade of its own"),
  open_trades: ofOrders("count", "Trades that are open at the end.", "number of trades open after the last candle"),
  win_rate: ofClosed("fraction", "Share of trades that won.", "trades with pnl > 0 / trades", reasons.NO_TRADE),
  profit_factor: ofClosed(
    "ratio",
    "Money won per money lost.",
    "sum of positive pnl / absolute sum of negative pnl",
    reasons.NO_TRADE,
    reasons.NO_LOSS,
  ),
  expectancy: ofClosed("money per trade", "Profit of the average trade.", "mean pnl", reasons.NO_TRADE),
  payoff_ratio: ofClosed(
    "ratio",
    "Size of a win against a loss.",
    "average_win / absolute average_loss",
    reasons.NO_TRADE,
    reasons.NO_WIN,
    reasons.NO_LOSS,
  ),
  average_trade: ofClosed(
    "fraction of entry value",
    "Return of the average trade.",
    "mean return; a trade's return is pnl / (entry price x quantity)",
    reasons.NO_TRADE,
  ),
  best_trade: ofClosed("fraction of entry value", "Return of the best trade.", "largest return", reasons.NO_TRADE),
  worst_trade: ofClosed("fraction of entry value", "Return of the worst trade.", "smallest return", reasons.NO_TRADE),
  average_win: ofClosed("money", "Profit of the average win.", "mean pnl of the trades with pnl > 0", reasons.NO_WIN),
  average_loss: ofClosed(
    "money, negative",
    "Loss of the average loss.",
    "mean pnl of the trades with pnl < 0",
    reasons.NO_LOSS,
  ),
  average_trade_days: ofClosed(
    "days",
    "How long the average trade is open.",
    "mean time from the open of the entry candle to the open of the exit candle",
    reasons.NO_TRADE,
  ),
  max_trade_days: ofClosed(
    "days",
    "How long the longest trade is open.",
    "longest time from the open of the entry candle to the open of the exit candle",
    reasons.NO_TRADE,
  ),
  max_consecutive_wins: ofClosed(
    "count",
    "The longest winning streak.",
    "longest series of trades with pnl > 0, in order of entry",
  ),
  max_consecutive_losses: ofClosed(
    "count",
    "The longest losing streak.",
    "longest series of trades with pnl < 0, in order of entry",
  ),
  sqn: ofClosed(
    "none",
    "System quality number: how reliable the profit per trade is.",
    "sqrt(trades) x mean pnl / standard deviation of pnl (ddof 1)",
    reasons.TWO_TRADES,
    reasons.SAME_PNL,
  ),
  kelly: ofClosed(
    "fraction",
    "The fraction of capital that would grow fastest if trades repeat.",
    "win_rate - (1 - win_rate) / payoff_ratio",
    reasons.NO_TRADE,
    reasons.NO_WIN,
    reasons.NO_LOSS,
  ),
  fees_paid: ofOrders("money", "Commission paid.", "sum of the fees of all fills, those of open trades included"),
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

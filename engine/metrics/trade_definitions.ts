import { type MetricDefinition, ofClosed, ofOrders } from "./define.ts";
import * as reasons from "./reasons.ts";

/** The metrics of trades, in the order in which they are shown. */
export const TRADE_DEFINITIONS = {
  trades: ofClosed(
    { label: "Trades", unit: "count" },
    "Number of closed trades.",
    "a partial exit is a trade of its own",
  ),
  open_trades: ofOrders(
    { label: "Open trades", unit: "count" },
    "Trades that are open at the end.",
    "number of trades open after the last candle",
  ),
  win_rate: ofClosed(
    { label: "Win rate", unit: "fraction", better: "more" },
    "Share of trades that won.",
    "trades with pnl > 0 / trades",
    reasons.NO_TRADE,
  ),
  profit_factor: ofClosed(
    { label: "Profit factor", unit: "ratio", better: "more" },
    "Money won per money lost.",
    "sum of positive pnl / absolute sum of negative pnl",
    reasons.NO_TRADE,
    reasons.NO_LOSS,
  ),
  expectancy: ofClosed(
    { label: "Expectancy", unit: "money per trade", better: "more", isSigned: true },
    "Profit of the average trade.",
    "mean pnl",
    reasons.NO_TRADE,
  ),
  payoff_ratio: ofClosed(
    { label: "Payoff ratio", unit: "ratio", better: "more" },
    "Size of a win against a loss.",
    "average_win / absolute average_loss",
    reasons.NO_TRADE,
    reasons.NO_WIN,
    reasons.NO_LOSS,
  ),
  average_trade: ofClosed(
    { label: "Average trade", unit: "fraction of entry value", better: "more", isSigned: true },
    "Return of the average trade.",
    "mean return; a trade's return is pnl / (entry price x quantity)",
    reasons.NO_TRADE,
  ),
  best_trade: ofClosed(
    { label: "Best trade", unit: "fraction of entry value", better: "more", isSigned: true },
    "Return of the best trade.",
    "largest return",
    reasons.NO_TRADE,
  ),
  worst_trade: ofClosed(
    { label: "Worst trade", unit: "fraction of entry value", better: "more", isSigned: true },
    "Return of the worst trade.",
    "smallest return",
    reasons.NO_TRADE,
  ),
  average_win: ofClosed(
    { label: "Average win", unit: "money", better: "more", isSigned: true },
    "Profit of the average win.",
    "mean pnl of the trades with pnl > 0",
    reasons.NO_WIN,
  ),
  average_loss: ofClosed(
    { label: "Average loss", unit: "money, negative", better: "more", isSigned: true },
    "Loss of the average loss.",
    "mean pnl of the trades with pnl < 0",
    reasons.NO_LOSS,
  ),
  average_win_return: ofClosed(
    { label: "Average win return", unit: "fraction of entry value", better: "more", isSigned: true },
    "Return of the average win.",
    "mean return of the trades with pnl > 0",
    reasons.NO_WIN,
  ),
  average_loss_return: ofClosed(
    { label: "Average loss return", unit: "fraction of entry value, negative", better: "more", isSigned: true },
    "Return of the average loss.",
    "mean return of the trades with pnl < 0",
    reasons.NO_LOSS,
  ),
  average_trade_days: ofClosed(
    { label: "Average trade days", unit: "days" },
    "How long the average trade is open.",
    "mean time from the open of the entry candle to the open of the exit candle",
    reasons.NO_TRADE,
  ),
  max_trade_days: ofClosed(
    { label: "Max trade days", unit: "days" },
    "How long the longest trade is open.",
    "longest time from the open of the entry candle to the open of the exit candle",
    reasons.NO_TRADE,
  ),
  max_consecutive_wins: ofClosed(
    { label: "Max consecutive wins", unit: "count", better: "more" },
    "The longest winning streak.",
    "longest series of trades with pnl > 0, in order of entry",
  ),
  max_consecutive_losses: ofClosed(
    { label: "Max consecutive losses", unit: "count", better: "less" },
    "The longest losing streak.",
    "longest series of trades with pnl < 0, in order of entry",
  ),
  sqn: ofClosed(
    { label: "SQN", unit: "none", better: "more" },
    "System quality number: how reliable the profit per trade is.",
    "sqrt(trades) x mean pnl / standard deviation of pnl (ddof 1)",
    reasons.TWO_TRADES,
    reasons.SAME_PNL,
  ),
  kelly: ofClosed(
    { label: "Kelly", unit: "fraction", better: "more" },
    "The fraction of capital that would grow fastest if trades repeat.",
    "win_rate - (1 - win_rate) / payoff_ratio",
    reasons.NO_TRADE,
    reasons.NO_WIN,
    reasons.NO_LOSS,
  ),
} satisfies Record<string, MetricDefinition>;

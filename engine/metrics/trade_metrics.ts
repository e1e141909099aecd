import { type Measured, ratio } from "./measured.ts";
import { mean, standardDeviation, sum } from "./moments.ts";
import { NO_LOSS, NO_TRADE, NO_WIN, SAME_PNL, TWO_TRADES } from "./reasons.ts";
import type { TradeTally } from "./trade_tally.ts";

export interface TradeMetrics {
  readonly trades: number;
  readonly open_trades: number;
  readonly win_rate: Measured;
  readonly profit_factor: Measured;
  readonly expectancy: Measured;
  readonly payoff_ratio: Measured;
  readonly average_trade: Measured;
  readonly best_trade: Measured;
  readonly worst_trade: Measured;
  readonly average_win: Measured;
  readonly average_loss: Measured;
  readonly average_win_return: Measured;
  readonly average_loss_return: Measured;
  readonly average_trade_days: Measured;
  readonly max_trade_days: Measured;
  readonly max_consecutive_wins: number;
  readonly max_consecutive_losses: number;
  readonly sqn: Measured;
  readonly kelly: Measured;
  readonly ambiguous_trades: number;
}

const WITHOUT_TRADES = { reason: NO_TRADE };

/**
 * Measures the closed trades. A win has a pnl above zero, a loss one below; a trade at exactly zero is neither, and ends
 * a series of either. Series follow the trades' own order, that of their entries.
 *
 * @see V. K. Tharp (2008), "Definitive Guide to Position Sizing", for the system quality number.
 * @see J. L. Kelly (1956), "A New Interpretation of Information Rate", Bell System Technical Journal 35(4).
 */
export function tradeMetrics(tally: TradeTally): TradeMetrics {
  const { closed: count, wins, losses, pnl } = tally;
  const [won, lost] = [tally.won.total, tally.lost.total];
  const winRate = ratio(wins, count, NO_TRADE);
  const averageWin = ratio(won, wins, NO_WIN);
  const averageLoss = ratio(lost, losses, NO_LOSS);
  const payoff = payoffRatio(averageWin, averageLoss);
  const ifAny = (value: Measured): Measured => count === 0 ? WITHOUT_TRADES : value;
  return {
    trades: count,
    open_trades: tally.counted - count,
    win_rate: winRate,
    profit_factor: ifAny(ratio(won, -lost, NO_LOSS)),
    expectancy: ratio(sum(pnl), count, NO_TRADE),
    payoff_ratio: ifAny(payoff),
    average_trade: ratio(tally.returns.total, count, NO_TRADE),
    best_trade: ifAny(tally.bestReturn),
    worst_trade: ifAny(tally.worstReturn),
    average_win: averageWin,
    average_loss: averageLoss,
    average_win_return: ratio(tally.winReturns.total, wins, NO_WIN),
    average_loss_return: ratio(tally.lossReturns.total, losses, NO_LOSS),
    average_trade_days: ratio(tally.days.total, count, NO_TRADE),
    max_trade_days: ifAny(tally.daysMax),
    max_consecutive_wins: tally.maxConsecutiveWins,
    max_consecutive_losses: tally.maxConsecutiveLosses,
    sqn: systemQuality(pnl),
    kelly: ifAny(kelly(winRate, payoff)),
    ambiguous_trades: tally.ambiguous,
  };
}

function payoffRatio(averageWin: Measured, averageLoss: Measured): Measured {
  if (typeof averageWin !== "number") return averageWin;
  if (typeof averageLoss !== "number") return averageLoss;
  return averageWin / -averageLoss;
}

function kelly(winRate: Measured, payoff: Measured): Measured {
  if (typeof winRate !== "number") return winRate;
  if (typeof payoff !== "number") return payoff;
  return winRate - (1 - winRate) / payoff;
}

function systemQuality(pnl: Float64Array): Measured {
  if (pnl.length < 2) return { reason: TWO_TRADES };
  const average = mean(pnl);
  // Trades that differ only by rounding are equal.
  const noise = Math.abs(average) * 1e-12;
  return ratio(Math.sqrt(pnl.length) * average, standardDeviation(pnl), SAME_PNL, noise);
}

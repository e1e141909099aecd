import { DAY_MS } from "../durations.ts";
import { STILL_OPEN, type TradeColumns } from "../trade_columns.ts";
import { type Measured, ratio } from "./measured.ts";
import { mean, standardDeviation, sum } from "./moments.ts";
import { NO_LOSS, NO_TRADE, NO_WIN, SAME_PNL, TWO_TRADES } from "./reasons.ts";

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
export function tradeMetrics(columns: TradeColumns): TradeMetrics {
  const closed = closedTrades(columns);
  const { pnl, wins, losses } = closed;
  const count = pnl.length;
  const won = sum(wins);
  const lost = sum(losses);
  const winRate = ratio(wins.length, count, NO_TRADE);
  const averageWin = ratio(won, wins.length, NO_WIN);
  const averageLoss = ratio(lost, losses.length, NO_LOSS);
  const payoff = payoffRatio(averageWin, averageLoss);
  const days = ratio(sum(closed.days), count, NO_TRADE);
  return {
    trades: count,
    open_trades: columns.count - count,
    win_rate: winRate,
    profit_factor: count === 0 ? WITHOUT_TRADES : ratio(won, -lost, NO_LOSS),
    expectancy: ratio(sum(pnl), count, NO_TRADE),
    payoff_ratio: count === 0 ? WITHOUT_TRADES : payoff,
    average_trade: ratio(sum(closed.returns), count, NO_TRADE),
    best_trade: largest(closed.returns),
    worst_trade: smallest(closed.returns),
    average_win: averageWin,
    average_loss: averageLoss,
    average_win_return: ratio(sum(closed.winReturns), wins.length, NO_WIN),
    average_loss_return: ratio(sum(closed.lossReturns), losses.length, NO_LOSS),
    average_trade_days: days,
    max_trade_days: largest(closed.days),
    max_consecutive_wins: longestSeries(pnl, 1),
    max_consecutive_losses: longestSeries(pnl, -1),
    sqn: systemQuality(pnl),
    kelly: count === 0 ? WITHOUT_TRADES : kelly(winRate, payoff),
    ambiguous_trades: columns.ambiguous.subarray(0, columns.count).reduce((flags, flag) => flags + flag, 0),
  };
}

function closedTrades(columns: TradeColumns) {
  const pnl = new Float64Array(columns.count);
  const returns = new Float64Array(columns.count);
  const days = new Float64Array(columns.count);
  let count = 0;
  for (let i = 0; i < columns.count; i++) {
    if (columns.exitReason[i] === STILL_OPEN) continue;
    pnl[count] = columns.pnl[i]!;
    returns[count] = columns.return[i]!;
    days[count] = (columns.exitTime[i]! - columns.entryTime[i]!) / DAY_MS;
    count++;
  }
  const closed = pnl.subarray(0, count);
  const ofClosed = returns.subarray(0, count);
  return {
    pnl: closed,
    wins: selectBySign(closed, closed, 1),
    losses: selectBySign(closed, closed, -1),
    returns: ofClosed,
    winReturns: selectBySign(ofClosed, closed, 1),
    lossReturns: selectBySign(ofClosed, closed, -1),
    days: days.subarray(0, count),
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

// These are loops: filter and reduce would allocate an object for every number.

/** The values of the trades whose pnl is above zero (sign 1) or below it (-1), in their order. */
function selectBySign(values: Float64Array, pnl: Float64Array, sign: 1 | -1): Float64Array {
  const selected = new Float64Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (pnl[i]! * sign > 0) selected[count++] = values[i]!;
  }
  return selected.subarray(0, count);
}

function largest(values: Float64Array): Measured {
  let best = -Infinity;
  for (let i = 0; i < values.length; i++) best = Math.max(best, values[i]!);
  return values.length === 0 ? WITHOUT_TRADES : best;
}

function smallest(values: Float64Array): Measured {
  let worst = Infinity;
  for (let i = 0; i < values.length; i++) worst = Math.min(worst, values[i]!);
  return values.length === 0 ? WITHOUT_TRADES : worst;
}

function longestSeries(pnl: Float64Array, sign: 1 | -1): number {
  let longest = 0;
  let series = 0;
  for (let i = 0; i < pnl.length; i++) {
    series = pnl[i]! * sign > 0 ? series + 1 : 0;
    if (series > longest) longest = series;
  }
  return longest;
}

/** The metrics of optimize_floor.ts: those of optimize_numpy.py in plain loops, with sums that are not compensated. */
import type { Candles } from "../engine/candles.ts";
import { DAY_MS } from "../engine/durations.ts";
import type { RangeDays } from "../engine/metrics/input.ts";
import { tailMetrics } from "../engine/metrics/tail.ts";

/** Money. */
export const BALANCE = 1_000_000;
const DAYS_A_YEAR = 365;
const CALENDAR_DAYS_A_YEAR = 365.25;

/** Columns that each trial writes again. */
export interface Columns {
  /** Money at each candle's close. */
  readonly equity: Float64Array;
  /** Fractions a day. */
  readonly returns: Float64Array;
  /** Of each closed trade: money, a fraction, candles. */
  readonly pnl: Float64Array;
  readonly fractions: Float64Array;
  readonly lengths: Float64Array;
}

/** The totals of a trial. */
export interface Traded {
  readonly trades: number;
  /** Value of all fills, and their fee as a share of it. */
  readonly turned: number;
  readonly fee: number;
  /** Candle. */
  readonly firstFill: number;
}

/** Measures a trial; its returns are written on the way. */
export function measure(candles: Candles, traded: Traded, { ends, closeReturns }: RangeDays, columns: Columns) {
  const { returns, equity } = columns;
  for (let day = 0, before = BALANCE; day < returns.length; day++) {
    const end = equity[ends[day]! - 1]!;
    returns[day] = end / before - 1;
    before = end;
  }
  return {
    account: measureAccount(equity, traded, candles),
    days: measureReturns(returns, equity[equity.length - 1]!),
    tail: tailMetrics(returns),
    benchmark: compareReturns(returns, closeReturns),
    trades: measureTrades(columns, traded.trades, candleDaysOf(candles)),
  };
}

function candleDaysOf({ time }: Candles): number {
  return (time[1]! - time[0]!) / DAY_MS;
}

function measureAccount(equity: Float64Array, { turned, firstFill, fee }: Traded, candles: Candles) {
  const { close } = candles;
  const count = equity.length;
  const candleDays = candleDaysOf(candles);
  let [total, squares, peak, peakIndex] = [0, 0, BALANCE, -1];
  let [falls, depthMax, depthSum, lengthMax, lengthSum] = [0, 0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    let mark = equity[i]!;
    let lowest = peak;
    while (mark < peak) {
      total += mark;
      const fall = (peak - mark) / peak;
      squares += fall * fall;
      if (mark < lowest) lowest = mark;
      if (++i === count) break;
      mark = equity[i]!;
    }
    if (lowest < peak) {
      const depth = (peak - lowest) / peak;
      const length = Math.min(i, count - 1) - peakIndex;
      falls++;
      depthSum += depth;
      lengthSum += length;
      if (depth > depthMax) depthMax = depth;
      if (length > lengthMax) lengthMax = length;
    }
    if (i === count) break;
    total += mark;
    peak = mark;
    peakIndex = i;
  }
  const growth = equity[count - 1]! / BALANCE;
  const cagr = growth ** (CALENDAR_DAYS_A_YEAR / (count * candleDays)) - 1;
  return {
    final_equity: equity[count - 1]!,
    peak_equity: peak,
    total_return: growth - 1,
    cagr,
    max_drawdown: depthMax,
    average_drawdown: depthSum / falls,
    max_drawdown_days: lengthMax * candleDays,
    average_drawdown_days: lengthSum / falls * candleDays,
    ulcer_index: Math.sqrt(squares / count),
    calmar: cagr / depthMax,
    recovery_factor: (growth - 1) / depthMax,
    turnover: turned / (total / count),
    fees_paid: turned * fee,
    exposure: (count - firstFill) / count,
    buy_hold_return: close[count - 1]! / close[0]! - 1,
  };
}

function measureReturns(returns: Float64Array, final: number) {
  const count = returns.length;
  const root = Math.sqrt(DAYS_A_YEAR);
  let [sum, gains, losses, lossSquares] = [0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    const value = returns[i]!;
    const loss = Math.min(value, 0);
    sum += value;
    gains += Math.max(value, 0);
    losses -= loss;
    lossSquares += loss * loss;
  }
  const mean = sum / count;
  let [second, third, fourth] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const distance = returns[i]! - mean;
    const square = distance * distance;
    second += square;
    third += square * distance;
    fourth += square * square;
  }
  const deviation = Math.sqrt(second / (count - 1));
  const beyond = (count - 2) * (count - 3);
  return {
    annual_return: (final / BALANCE) ** (DAYS_A_YEAR / count) - 1,
    annual_volatility: deviation * root,
    sharpe: mean / deviation * root,
    sortino: mean / Math.sqrt(lossSquares / count) * root,
    omega: gains / losses,
    skew: count / ((count - 1) * (count - 2)) * third / deviation ** 3,
    kurtosis: count * (count + 1) / ((count - 1) * beyond) * fourth / deviation ** 4 - 3 * (count - 1) ** 2 / beyond,
  };
}

/** @param market Those of the instrument, from the second day. */
function compareReturns(returns: Float64Array, market: Float64Array) {
  const count = market.length;
  let [own, other] = [0, 0];
  for (let i = 0; i < count; i++) {
    own += returns[i + 1]!;
    other += market[i]!;
  }
  own /= count;
  other /= count;
  let [products, squares, beyond] = [0, 0, 0];
  for (let i = 0; i < count; i++) {
    const [a, b] = [returns[i + 1]! - own, market[i]! - other];
    products += a * b;
    squares += b * b;
    beyond += (a - b) ** 2;
  }
  const beta = products / squares;
  const tracking = Math.sqrt(beyond / (count - 1));
  return {
    beta,
    alpha: (own - beta * other) * DAYS_A_YEAR,
    tracking_error: tracking * Math.sqrt(DAYS_A_YEAR),
    information_ratio: (own - other) / tracking * Math.sqrt(DAYS_A_YEAR),
    treynor: own * DAYS_A_YEAR / beta,
  };
}

function measureTrades({ pnl, fractions, lengths }: Columns, count: number, candleDays: number) {
  let [sum, squares, won, lost, wins, losses] = [0, 0, 0, 0, 0, 0];
  let [returned, winReturns, lossReturns, best, worst] = [0, 0, 0, -Infinity, Infinity];
  let [candles, candlesMax, series, winsMax, lossesMax] = [0, 0, 0, 0, 0];
  for (let i = 0; i < count; i++) {
    const [money, fraction] = [pnl[i]!, fractions[i]!];
    sum += money;
    squares += money * money;
    returned += fraction;
    best = Math.max(best, fraction);
    worst = Math.min(worst, fraction);
    candles += lengths[i]!;
    candlesMax = Math.max(candlesMax, lengths[i]!);
    if (money > 0) {
      wins++;
      won += money;
      winReturns += fraction;
      series = Math.max(series, 0) + 1;
      winsMax = Math.max(winsMax, series);
    } else {
      losses++;
      lost -= money;
      lossReturns += fraction;
      series = Math.min(series, 0) - 1;
      lossesMax = Math.max(lossesMax, -series);
    }
  }
  const [rate, win, loss, mean] = [wins / count, won / wins, lost / losses, sum / count];
  return {
    trades: count,
    win_rate: rate,
    profit_factor: won / lost,
    expectancy: mean,
    payoff_ratio: win / loss,
    average_trade: returned / count,
    best_trade: best,
    worst_trade: worst,
    average_win: win,
    average_loss: -loss,
    average_win_return: winReturns / wins,
    average_loss_return: lossReturns / losses,
    average_trade_days: candles / count * candleDays,
    max_trade_days: candlesMax * candleDays,
    max_consecutive_wins: winsMax,
    max_consecutive_losses: lossesMax,
    sqn: Math.sqrt(count) * mean / Math.sqrt((squares - count * mean * mean) / (count - 1)),
    kelly: rate - (1 - rate) * loss / win,
  };
}

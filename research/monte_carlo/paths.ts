import { RETURN_NOISE } from "../../engine/metrics/measured.ts";

/** Figures of one path of an account, or of the real run. */
export interface PathFigures {
  /** Money. */
  readonly final_equity: number;
  /** The largest fall from a peak, the initial balance included, as a fraction of the peak. */
  readonly max_drawdown: number;
  /** Per year; null where no two returns differ. */
  readonly sharpe: number | null;
  /** The longest series of returns below 0. */
  readonly losing_streak: number;
}

/** One path, or the real run. */
export interface MeasuredPath {
  readonly figures: PathFigures;
  /** The equity at the positions of a curve, see curve.ts. */
  readonly curve: Float64Array;
}

export const FIGURE_NAMES = ["final_equity", "max_drawdown", "sharpe", "losing_streak"] as const;
export type FigureName = (typeof FIGURE_NAMES)[number];

/** How returns become an account. */
export interface Account {
  /** Money. */
  readonly initialBalance: number;
  /** How many returns make a year. */
  readonly periodsPerYear: number;
  /** A fraction per year. */
  readonly riskFreeRate: number;
}

/**
 * Compounds returns to a path of equity. Where equity reaches zero, it stays there, and the returns end for the Sharpe ratio.
 *
 * @param returns Fractions, oldest first.
 * @param equity Receives the account after each return; as long as the returns.
 */
export function walkReturns(returns: Float64Array, account: Account, equity: Float64Array): PathFigures {
  let money = account.initialBalance;
  let peak = money;
  let drawdown = 0;
  let streak = 0;
  let longest = 0;
  let alive = 0;
  for (let i = 0; i < returns.length; i++) {
    const value = returns[i]!;
    if (money > 0) {
      money = Math.max(0, money * (1 + value));
      alive = i + 1;
      streak = value < 0 ? streak + 1 : 0;
      if (streak > longest) longest = streak;
      if (money > peak) peak = money;
      drawdown = Math.max(drawdown, 1 - money / peak);
    }
    equity[i] = money;
  }
  return {
    final_equity: money,
    max_drawdown: drawdown,
    sharpe: sharpeOf(returns, alive, account),
    losing_streak: longest,
  };
}

/** Mean over standard deviation (ddof 1) of the first returns, per year; sums go left to right. */
function sharpeOf(returns: Float64Array, count: number, { periodsPerYear, riskFreeRate }: Account): number | null {
  if (count < 2) return null;
  let sum = 0;
  for (let i = 0; i < count; i++) sum += returns[i]!;
  const mean = sum / count;
  let squares = 0;
  for (let i = 0; i < count; i++) squares += (returns[i]! - mean) ** 2;
  const deviation = Math.sqrt(squares / (count - 1));
  if (!(deviation > RETURN_NOISE)) return null;
  return (mean - riskFreeRate / periodsPerYear) / deviation * Math.sqrt(periodsPerYear);
}

import type { Backtest } from "../../api.ts";
import { formatCount, formatPercent, formatRatio } from "../../parts/format.ts";
import { Tip } from "../../parts/tip.tsx";

const MEANING =
  "The deflated Sharpe ratio. Runs and trials that resemble each other day by day count as fewer tries than they are; " +
  "without skill, their Sharpe ratios vary by chance alone.";

/** How many tries of its owner a run is one of, and how probable it is that its Sharpe ratio is more than the luck of that number of tries. */
export function RunTries({ backtest: { strategy, symbol, exchange, trials }, sharpe }: {
  readonly backtest: Backtest;
  readonly sharpe: number | null;
}) {
  // The room of the sentence, until it is known.
  if (trials === undefined || trials === null) return <p className="min-h-5" />;
  const { backtests, optimization_trials: others, deflated_sharpe: deflated, undefined_figures: reasons } = trials;
  const all = backtests + others;
  const subject = `${strategy} on ${symbol}, ${exchange}`;
  if (all <= 1) {
    return (
      <p className="min-h-5 text-sm wrap-anywhere text-muted">
        Your first try of {subject}: its Sharpe ratio is not chosen from others.
      </p>
    );
  }
  return (
    <p className="min-h-5 text-sm wrap-anywhere text-muted">
      One of your {formatCount(all)} tries of {subject} ({count(backtests, "run")}
      {others > 0 && `, ${count(others, "trial")} of optimizations`}).{" "}
      {deflated === null ? `Luck cannot be told apart here: ${reasons["deflated_sharpe"]}.` : (
        <>
          The <Tip text={MEANING}>probability</Tip>
          {` that its Sharpe ratio of ${formatRatio(sharpe)} is more than the luck of the best of so many is `}
          <span className="font-medium text-text">{formatPercent(deflated)}</span>.
        </>
      )}
    </p>
  );
}

function count(number: number, noun: string): string {
  return `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`;
}

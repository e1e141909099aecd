import type { Backtest } from "../../api.ts";
import { Tip } from "../../parts/tip.tsx";

const MEANING =
  "The deflated Sharpe ratio. Runs and trials that resemble each other day by day count as fewer tries than they are; " +
  "without skill, their Sharpe ratios vary by chance alone.";

/** The tries of its owner that a run is one of, and how much of its Sharpe ratio is more than their luck. */
export function RunTries({ backtest: { trials } }: { readonly backtest: Backtest }) {
  // The room of the sentence, until it is known.
  if (trials === undefined || trials === null) return <p className="min-h-5" />;
  return (
    <p className="min-h-5 text-sm wrap-anywhere text-muted">
      {trials.conclusion} <Tip text={MEANING}>How tries count</Tip>
    </p>
  );
}

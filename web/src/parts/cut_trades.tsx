import type { BacktestResult } from "../api.ts";
import { formatCount } from "./format.ts";
import { numberOf } from "./metric_value.ts";

/** `120 closed, 1 still open`; only the closed ones count in the metrics. Empty where all are closed. */
export function describeOpenTrades({ metrics }: BacktestResult): string {
  const open = numberOf(metrics, "open_trades") ?? 0;
  return open === 0 ? "" : `${formatCount(numberOf(metrics, "trades"))} closed, ${formatCount(open)} still open`;
}

/** Says that a page has only the first of a run's trades, where it has. @param shown How many. */
export function CutTrades({ result: { metrics }, shown }: {
  readonly result: BacktestResult;
  readonly shown: number;
}) {
  const total = (numberOf(metrics, "trades") ?? 0) + (numberOf(metrics, "open_trades") ?? 0);
  if (shown === 0 || shown >= total) return null;
  return (
    <p className="mb-2 border-l-4 border-warn bg-sunken px-3 py-1.5 text-sm">
      This part has the first {formatCount(shown)} of {formatCount(total)} trades. The metrics count all of them.
    </p>
  );
}

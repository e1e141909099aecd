import type { ReactNode } from "react";
import type { Backtest } from "../api.ts";

type Facts = Pick<
  Backtest,
  "name" | "strategy" | "symbol" | "exchange" | "start_date" | "end_date" | "parameters"
>;

/** The market, the timeframe and the range of a run or an optimization in a line, and the strategy of one that has a name. */
export function RunFacts({ facts, children }: { readonly facts: Facts; readonly children: ReactNode }) {
  const { name, strategy, symbol, exchange, start_date, end_date, parameters } = facts;
  return (
    <p className="mt-0.5 flex flex-wrap gap-x-3 text-sm text-muted max-sm:text-xs">
      {name !== null && <span className="wrap-anywhere text-text">{strategy}</span>}
      <span className="break-all">
        <span className="font-medium text-text">{symbol}</span> {exchange}
      </span>
      <span>{String(parameters["timeframe"])}</span>
      <span className="whitespace-nowrap">{start_date} to {end_date}</span>
      <span>{children}</span>
    </p>
  );
}

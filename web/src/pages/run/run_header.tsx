import type { ReactNode } from "react";
import type { Backtest } from "../../api.ts";
import { formatMoney } from "../../parts/format.ts";

/**
 * The market, the range and the parameters of a run.
 *
 * @param heading Its name and its status. @param labels The owner's words about it. @param actions What can be done with it.
 */
export function RunHeader({ backtest, heading, labels, actions }: {
  readonly backtest: Backtest;
  readonly heading: ReactNode;
  readonly labels?: ReactNode;
  readonly actions?: ReactNode;
}) {
  const { name, strategy, symbol, exchange, start_date, end_date, parameters, initial_balance } = backtest;
  return (
    <header className="flex flex-wrap items-start gap-x-6 gap-y-2">
      <div className="min-w-0 grow basis-80">
        {heading}
        <p className="mt-0.5 flex flex-wrap gap-x-3 text-sm text-muted">
          {name !== null && <span className="wrap-anywhere text-text">{strategy}</span>}
          <span className="break-all">
            <span className="font-medium text-text">{symbol}</span> {exchange}
          </span>
          <span>{String(parameters["timeframe"])}</span>
          <span className="whitespace-nowrap">{start_date} to {end_date}</span>
          <span>{formatMoney(initial_balance)}</span>
        </p>
        <Parameters parameters={parameters} />
        {labels}
      </div>
      {actions}
    </header>
  );
}

/** The strategy's own parameters in one line. */
function Parameters({ parameters }: { readonly parameters: Backtest["parameters"] }) {
  const own = Object.entries(parameters).filter(([key]) => !SERVICE_KEYS.has(key));
  if (own.length === 0) return null;
  return (
    <p className="line-clamp-2 text-sm wrap-anywhere text-muted">
      {own.map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ")}
    </p>
  );
}

const SERVICE_KEYS: ReadonlySet<string> = new Set(["timeframe", "session", "execution", "runtime"]);

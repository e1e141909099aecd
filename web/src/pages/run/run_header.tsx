import type { Backtest } from "../../api.ts";
import { formatMoney } from "../../parts/format.ts";
import { StatusBadge } from "../../parts/status_badge.tsx";
import { RunActions } from "./run_actions.tsx";

/** The strategy, the market and the range of a run, its status, and what can be done with it. */
export function RunHeader({ backtest }: { readonly backtest: Backtest }) {
  const { strategy, symbol, exchange, start_date, end_date, parameters, initial_balance } = backtest;
  return (
    <header className="flex flex-wrap items-start gap-x-6 gap-y-2">
      <div className="min-w-0 grow basis-80">
        <h1 className="flex min-w-0 flex-wrap items-baseline gap-x-3 text-xl font-semibold">
          <span className="min-w-0 break-words">{strategy}</span>
          <StatusBadge {...backtest} />
        </h1>
        <p className="mt-0.5 flex flex-wrap gap-x-2 text-sm text-muted">
          <span className="font-medium break-all text-text">{symbol}</span>
          <span className="break-all">{exchange}</span>
          <span>· {String(parameters["timeframe"])}</span>
          <span className="whitespace-nowrap">· {start_date} to {end_date}</span>
          <span>· {formatMoney(initial_balance)}</span>
          <Parameters parameters={parameters} />
        </p>
      </div>
      <RunActions backtest={backtest} />
    </header>
  );
}

/** The strategy's own parameters in one line. */
function Parameters({ parameters }: { readonly parameters: Backtest["parameters"] }) {
  const own = Object.entries(parameters).filter(([key]) => !SERVICE_KEYS.has(key));
  if (own.length === 0) return null;
  return (
    <span className="line-clamp-2 break-all">
      · {own.map(([key, value]) => `${key} ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ")}
    </span>
  );
}

const SERVICE_KEYS: ReadonlySet<string> = new Set(["timeframe", "session", "execution", "runtime"]);

import type { ReactNode } from "react";
import type { Backtest } from "../../api.ts";
import { formatCount, formatMoney } from "../../parts/format.ts";
import { RunFacts } from "../../parts/run_facts.tsx";

/** The first screen of a phone is for the name, the figures and the charts. Pages are columns, whose parts have an order. */
const BELOW_CHARTS = "max-sm:order-3";

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
  return (
    <header className="flex flex-wrap items-start gap-x-6 gap-y-2 max-sm:contents">
      <div className="min-w-0 grow basis-80 max-sm:contents">
        {heading}
        <div className="max-sm:-mt-3">
          <RunFacts facts={backtest}>{formatMoney(backtest.initial_balance)}</RunFacts>
        </div>
        <div className={BELOW_CHARTS}>
          <Parameters parameters={backtest.parameters} />
          {labels}
        </div>
      </div>
      <div className={BELOW_CHARTS}>{actions}</div>
    </header>
  );
}

/** The strategy's own parameters in one line. */
function Parameters({ parameters }: { readonly parameters: Backtest["parameters"] }) {
  const own = Object.entries(parameters).filter(([key, value]) => !SERVICE_KEYS.has(key) && !isEmpty(value));
  if (own.length === 0) return null;
  return (
    <p className="line-clamp-2 text-sm wrap-anywhere text-muted">
      {own.map(([key, value]) => describe(key, value)).join(", ")}
    </p>
  );
}

function describe(key: string, value: unknown): string {
  // A thousand instruments stand in the run's own table.
  if (key === "instruments" && Array.isArray(value)) return `${formatCount(value.length)} instruments`;
  return `${key} ${showValue(value)}`;
}

/** A value in words: an object as its keys and theirs. */
function showValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(showValue).join(" ");
  if (typeof value !== "object" || value === null) return String(value);
  return `(${Object.entries(value).map(([key, each]) => `${key} ${showValue(each)}`).join(", ")})`;
}

function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

const SERVICE_KEYS: ReadonlySet<string> = new Set(["timeframe", "session", "execution", "runtime"]);

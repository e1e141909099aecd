import type { BacktestResult, Metric } from "../../api.ts";
import { formatMoney, formatPercent, toneClass } from "../../parts/format.ts";
import { describeOpenTrades } from "../../parts/cut_trades.tsx";
import { MetricName } from "./metric_name.tsx";
import { findMetric, formatMetric, formatMetricValue, numberOf, type ShownMetric } from "../../parts/metric_value.ts";

// In the order in which a trader asks: what did it earn, against doing nothing, at which risk, how steadily, with how many trades.
const SHOWN = [
  "total_return",
  "buy_hold_return",
  "max_drawdown",
  "sharpe",
  "cagr",
  "trades",
  "win_rate",
  "profit_factor",
] as const;

/** The figures that a result is judged by first. */
export function SummaryStrip({ result, definitions, isNarrow = false, before }: {
  readonly result: BacktestResult;
  readonly definitions: readonly Metric[];
  /** True for half of a page. */
  readonly isNarrow?: boolean;
  /** A result to compare with. */
  readonly before?: BacktestResult | undefined;
}) {
  const { metrics, undefined_metrics: reasons } = result;
  const shown = (name: string) => formatMetric(findMetric(definitions, name), metrics);
  const note = (name: string) => {
    if (before !== undefined) return describeChange(findMetric(definitions, name), before.metrics, metrics);
    if (name === "total_return") {
      const [first, last] = [numberOf(metrics, "initial_equity"), numberOf(metrics, "final_equity")];
      return first === null || last === null ? "" : `${formatMoney(last - first, true)} on ${formatMoney(first)}`;
    }
    if (name === "max_drawdown") return `longest ${shown("max_drawdown_days")}`;
    if (name === "trades") {
      return describeOpenTrades(result) || `${formatPercent(numberOf(metrics, "exposure"))} of the time`;
    }
    if (name === "win_rate") return `payoff ${shown("payoff_ratio")}`;
    // Results from before the interval have none.
    if (name === "sharpe" && metrics.sharpe_low !== undefined && metrics.sharpe_low !== null) {
      return `95%: ${shown("sharpe_low")} to ${shown("sharpe_high")}`;
    }
    if (name === "sharpe") return `Sortino ${shown("sortino")}`;
    return "";
  };
  return (
    <dl
      aria-label="Main figures"
      className={`grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-4 ${
        isNarrow
          ? ""
          : "max-sm:auto-cols-[9.5rem] max-sm:grid-flow-col max-sm:grid-cols-none! max-sm:overflow-x-auto xl:grid-cols-8"
      }`}
    >
      {SHOWN.map((name) => {
        const metric = definitions.find((each) => each.name === name);
        const tone = metric?.isSigned ? toneClass(numberOf(metrics, name)) : "";
        return (
          <div key={name} className={`min-w-0 bg-surface px-3 py-2.5 ${isNarrow ? "" : "max-sm:py-1"}`}>
            <dt className="min-h-4 truncate text-xs text-muted">
              {metric && <MetricName metric={metric} reason={reasons[name]} />}
            </dt>
            <dd className={`truncate text-lg font-semibold ${tone}`}>
              {shown(name)}
            </dd>
            <dd className="min-h-4 truncate text-2xs text-muted">{note(name)}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** `+1.20 points, was 3.40%`: the difference, and the value before. */
function describeChange(
  metric: ShownMetric,
  before: BacktestResult["metrics"],
  now: BacktestResult["metrics"],
): string {
  const [one, two] = [numberOf(before, metric.name), numberOf(now, metric.name)];
  const was = `was ${formatMetric(metric, before)}`;
  if (one === null || two === null || formatMetric(metric, now) === formatMetric(metric, before)) return was;
  // Percentages differ by points: "%" would be a share of the value before.
  const difference = formatMetricValue({ ...metric, isSigned: false }, two - one).replace("%", " points");
  return `${two > one ? "+" : ""}${difference}, ${was}`;
}

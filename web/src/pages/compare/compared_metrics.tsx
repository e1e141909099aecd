import { useState } from "react";
import type { Comparison, Metric } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { Interval } from "../../parts/interval.tsx";
import { ROW_CLASS, Table, type TableColumn } from "../../parts/table.tsx";
import { MetricName } from "../run/metric_name.tsx";
import { formatMetricValue, useMetrics } from "../../parts/metric_value.ts";

// In the order of a run's page.
const MAIN = [
  ...["total_return", "cagr", "buy_hold_return", "max_drawdown", "sharpe", "sortino", "calmar"],
  ...["trades", "win_rate", "profit_factor", "payoff_ratio", "expectancy", "exposure", "fees_paid"],
];
const SHOWN = ["main", "all"] as const;

/** The metrics of each run, the best of each marked, and the differences to the first run. */
export function ComparedMetrics({ data: { metrics, backtests } }: { readonly data: Comparison }) {
  const definitions = useMetrics();
  const [shown, setShown] = useState<(typeof SHOWN)[number]>("main");
  const columns: readonly TableColumn[] = [
    { label: "Metric", isText: true, width: "14rem" },
    ...backtests.map((_, i) => ({ label: `Run ${i + 1}` })),
  ];
  const rows = definitions.flatMap((metric) => {
    const found = metrics.find(({ name }) => name === metric.name);
    return found === undefined ? [] : [{ metric, values: found.values }];
  });
  const valuesOf = (name: string) => metrics.find((each) => each.name === name)?.values ?? [];
  const order = ({ metric }: { readonly metric: Metric }) => MAIN.indexOf(metric.name);
  const chosen = shown === "all" ? rows : rows.filter((row) => order(row) >= 0).sort((a, b) => order(a) - order(b));
  return (
    <section>
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1">
        <h2 className="text-lg font-semibold">Metrics</h2>
        <p className="mr-auto text-sm text-muted">★ is the best of a row; below a value, its difference to run 1.</p>
        <Choice label="Show" values={SHOWN} value={shown} onChange={setShown} />
      </div>
      <Table
        label="Metrics"
        columns={columns}
        minWidth={`${14 + 9 * backtests.length}rem`}
        isLoading={definitions.length === 0}
      >
        {chosen.map((row) => (
          <MetricRow
            key={row.metric.name}
            {...row}
            interval={row.metric.name === "sharpe"
              ? { low: valuesOf("sharpe_low"), high: valuesOf("sharpe_high") }
              : null}
          />
        ))}
      </Table>
    </section>
  );
}

type Values = readonly (number | null)[];

function MetricRow({ metric, values, interval }: {
  readonly metric: Metric;
  readonly values: Values;
  /** The ends of each value's 95 % interval; null where it has none. */
  readonly interval: { readonly low: Values; readonly high: Values } | null;
}) {
  const best = findBest(metric, values);
  const isBest = (value: number | null) => best !== null && value === best;
  const [first = null] = values;
  return (
    <tr className={ROW_CLASS}>
      <td className="truncate px-3 py-1 text-left">
        <MetricName metric={metric} />
      </td>
      {values.map((value, i) => (
        <td key={i} className={`px-3 py-1 ${isBest(value) ? "font-semibold" : ""}`}>
          {isBest(value) && <span aria-label="best" role="img" className="mr-1">★</span>}
          {formatMetricValue(metric, value)}
          {interval !== null && <Interval low={interval.low[i]} high={interval.high[i]} />}
          {i > 0 && (
            <span className="block text-2xs font-normal text-muted">
              {value === null || first === null
                ? "–"
                : value === first
                ? "="
                : `${value > first ? "+" : "−"}${formatMetricValue(metric, Math.abs(value - first)).replace("+", "")}`}
            </span>
          )}
        </td>
      ))}
    </tr>
  );
}

/** The best value; null where the metric has no better end or all are equal. */
function findBest({ better }: Metric, values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  if (new Set(known).size < 2) return null;
  return better === "more" ? Math.max(...known) : better === "less" ? Math.min(...known) : null;
}

import type { BacktestResult, Metric } from "../../api.ts";
import { toneClass } from "../../parts/format.ts";
import { MetricName } from "./metric_name.tsx";
import { formatMetric, numberOf } from "../../parts/metric_value.ts";

/** Every metric with its definition on hover, by the sample that it is measured on. */
export function Metrics({ result: { metrics, undefined_metrics: reasons }, definitions }: {
  readonly result: BacktestResult;
  readonly definitions: readonly Metric[];
}) {
  const groups = Map.groupBy(definitions, ({ sample }) => sample);
  return (
    <div className="gap-6 sm:columns-2 xl:columns-3">
      {[...groups].map(([sample, group]) => (
        <section key={sample} className="mb-5 break-inside-avoid">
          <h2 className="border-b border-line pb-1 text-xs font-medium text-muted">Measured on {sample}</h2>
          <dl>
            {group.map((metric) => (
              <div key={metric.name} className="flex justify-between gap-4 border-b border-line/60 py-1">
                <dt>
                  <MetricName metric={metric} reason={reasons[metric.name]} />
                </dt>
                <dd className={metric.isSigned ? toneClass(numberOf(metrics, metric.name)) : ""}>
                  {formatMetric(metric, metrics)}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}

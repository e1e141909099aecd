import type { Metric } from "../api.ts";
import { nameOf } from "../pages/run/metric_name.tsx";

/** The meaning and the formula of each metric, for those who read on paper. */
export function Definitions({ metrics }: { readonly metrics: readonly Metric[] }) {
  return (
    <dl className="gap-8 text-xs sm:columns-2">
      {metrics.map(({ name, meaning, formula, unit }) => (
        <div key={name} className="mb-2 break-inside-avoid">
          <dt className="font-medium">{nameOf(name)}</dt>
          <dd>{meaning}</dd>
          <dd className="break-words text-muted">{formula} ({unit})</dd>
        </div>
      ))}
    </dl>
  );
}
